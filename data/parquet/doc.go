// Package parquet makes the readers and writers of this module know tables in parquet. A
// program asks for the format by importing the package for its effect:
//
//	import _ "github.com/bigfit/bigfit/data/parquet"
//
// From then on data.ReadPoints, data.ReadLabels, data.ReadValues, data.ReadIDs and the functions
// that call them read parquet files, and predictions are written as parquet where the name of a
// file ends in ".parquet". A program that does not import the package gets an error that names the
// file and this import, and links neither the parquet library nor the codecs that files may be
// compressed with: 98 packages, and 3.5 MB of a program that fits models. The command bigfit imports it.
//
// The library is github.com/parquet-go/parquet-go. Its packages decode and encode Thrift and the
// values of a page. Its root package is not used: files, pages and schemas are read here, with a bound
// on all that is claimed, and written here.
//
// Columns of integers, numbers, text and booleans are read, and lists of numbers of one
// length, which are vectors. Pages may be compressed with snappy, gzip, zstd, brotli or
// LZ4_RAW. Groups of columns, nested lists, dates, times, decimals and bytes that are no
// text are not read; a table that has such columns is read without them.
//
// No claim of a file is believed: the package compares sizes with the bytes that are there
// before it takes memory, and turns panics of the parquet library into errors that name the
// file. The limit of a reader's options bounds what a footer or a page may take; without it
// the bound is 1 GiB.
package parquet

import "github.com/bigfit/bigfit/internal/file/table"

func init() {
	table.Register(table.Parquet, table.Codec{Open: open, Write: write})
}
