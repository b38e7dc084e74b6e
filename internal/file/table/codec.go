package table

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Codec reads and writes the tables of a binary format. It is a package of its own, so that
// only programs that ask for the format link what it needs.
type Codec struct {
	// Open reads the table in f, which has size bytes and begins with a mark of the format.
	// Closing the engine closes f; where Open fails the caller does.
	Open func(path string, f *os.File, size int64, opt Options) (Engine, error)
	// Write writes the given number of rows of o.
	Write func(w io.Writer, o *Output, rows int) error
}

// binary is a binary format. Every program recognizes its files, so that a program without the
// codec can say so.
type binary struct {
	format    Format
	marks     []string // one of them begins every file
	extension string
	from      string // the package that registers the codec
	codec     *Codec
}

// binaries are the binary formats.
var binaries = []*binary{
	{format: Parquet, marks: []string{"PAR1", "PARE"}, extension: ".parquet",
		from: "github.com/bigfit/bigfit/data/parquet"},
}

// Register makes the tables of a binary format readable and writable. Packages of codecs
// call it when they are initialized.
func Register(f Format, c Codec) {
	b := binaryNamed(f)
	if b == nil {
		panic(fmt.Sprintf("table: %s is no binary format", f))
	}
	b.codec = &c
}

// binaryNamed returns a binary format by its name, nil if there is none.
func binaryNamed(f Format) *binary {
	for _, b := range binaries {
		if b.format == f {
			return b
		}
	}
	return nil
}

// binaryOf returns the binary format that a file of this name has, nil if it has none.
func binaryOf(path string) *binary {
	ext := strings.ToLower(filepath.Ext(path))
	for _, b := range binaries {
		if b.extension == ext {
			return b
		}
	}
	return nil
}

// markedBinary returns the binary format of a file that begins with head, nil if none has
// such a mark.
func markedBinary(head []byte) *binary {
	for _, b := range binaries {
		for _, mark := range b.marks {
			if strings.HasPrefix(string(head), mark) {
				return b
			}
		}
	}
	return nil
}

// check returns an error that names the file and the remedy if the program does not link the
// codec of the format.
func (b *binary) check(path string) error {
	if b.codec != nil {
		return nil
	}
	// The remedy is for programmers: the command bigfit imports all codecs.
	return fmt.Errorf("%s: this program neither reads nor writes %s; import _ %q in it", path,
		b.format, b.from)
}
