package parquet

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/table"
)

// ordered is a group with its fields in the given order; the library's has them sorted.
type ordered struct {
	parquet.Group
	names []string
}

func (o ordered) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range o.Group.Fields() {
		byName[f.Name()] = f
	}
	out := make([]parquet.Field, len(o.names))
	for i, n := range o.names {
		out[i] = byName[n]
	}
	return out
}

// node describes a column; repeated says that its values repeat, so that a dictionary is
// worth it.
func node(r *table.Result, repeated bool) parquet.Node {
	var n parquet.Node
	switch r.Values.(type) {
	case []int64, []int32:
		n = parquet.Int(64)
	case []float64:
		n = parquet.Leaf(parquet.DoubleType)
	case []float32:
		n = parquet.Leaf(parquet.FloatType)
	case []bool:
		n = parquet.Leaf(parquet.BooleanType)
	default:
		if n = parquet.String(); repeated {
			n = parquet.Encoded(n, &parquet.RLEDictionary)
		}
	}

	if r.Width > 0 {
		return parquet.List(n)
	}
	return n
}

// value is value k of r, which is column c, the first or a later one of its row.
func value(r *table.Result, k, c int, first bool) parquet.Value {
	var v parquet.Value
	switch x := r.Values.(type) {
	case []int64:
		v = parquet.Int64Value(x[k])
	case []int32:
		v = parquet.Int64Value(int64(x[k]))
	case []float64:
		v = parquet.DoubleValue(x[k])
	case []float32:
		v = parquet.FloatValue(x[k])
	case []string:
		v = parquet.ByteArrayValue([]byte(x[k]))
	case []bool:
		v = parquet.BooleanValue(x[k])
	}

	rep, def := 0, 0
	if r.Width > 0 {
		def = 1
		if !first {
			rep = 1
		}
	}

	return v.Level(rep, def, c)
}

// write writes the rows in groups of at most 64 MiB and 2²⁰ rows: readers take a group at a time.
func write(out io.Writer, o *table.Output, rows int) error {
	columns := make([]table.Result, 0, len(o.Columns)+1)
	switch key := o.Key(); key {
	case "id":
		columns = append(columns, table.Result{Name: key, Values: o.IDs})
	case "row":
		numbers := make([]int64, rows)
		for i := range numbers {
			numbers[i] = int64(i)
		}
		columns = append(columns, table.Result{Name: key, Values: numbers})
	}

	// The library sorts the fields of a group, so that ordered keeps their order.
	columns = append(columns, o.Columns...)
	root := ordered{Group: parquet.Group{}}
	width := 0
	for i := range columns {
		if root.Group[columns[i].Name] != nil {
			return fmt.Errorf("two columns have the name %q", columns[i].Name)
		}
		root.Group[columns[i].Name] = node(&columns[i], i > 0)
		root.names = append(root.names, columns[i].Name)
		width += max(columns[i].Width, 1)
	}

	group := min(max(64<<20/(8*width), 1), 1<<20)
	options := []parquet.WriterOption{
		parquet.NewSchema("bigfit", root), parquet.Compression(&parquet.Snappy), parquet.CreatedBy("bigfit",
			archive.Program(), ""),
		parquet.MaxRowsPerRowGroup(int64(group)),
	}
	if o.Manifest != "" {
		options = append(options, parquet.KeyValueMetadata("bigfit", o.Manifest))
	}
	w := parquet.NewWriter(out, options...)

	// Values of the library take 24 bytes.
	batch := make([]parquet.Row, min(max(1<<20/(24*width), 1), 1024))
	for i := 0; i < rows; i += len(batch) {
		n := min(len(batch), rows-i)
		for b := range n {
			row := batch[b][:0]
			for c := range columns {
				each := max(columns[c].Width, 1)
				for j := range each {
					row = append(row, value(&columns[c], (i+b)*each+j, c, j == 0))
				}
			}
			batch[b] = row
		}
		if _, err := w.WriteRows(batch[:n]); err != nil {
			return err
		}
	}

	return w.Close()
}
