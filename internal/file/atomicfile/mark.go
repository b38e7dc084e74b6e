package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// A folder in which bigfit replaces or removes files carries a mark, the file [MarkFile]:
//
//	{"format": "bigfit folder", "holds": "a checkpoint"}
//
// The mark is the first file that is written there. A folder that holds anything else and no mark
// is the user's, and nothing is written into it.

// MarkFile is the name of the mark.
const MarkFile = "bigfit-folder.json"

const markFormat = "bigfit folder"

// mark is the content of MarkFile.
type mark struct {
	Format string `json:"format"`
	Holds  string `json:"holds"`
}

// ForeignError says that a folder is not one in which files may be replaced and removed.
type ForeignError struct{ text string }

func (e *ForeignError) Error() string { return e.text }

// Claim makes the folder dir, if it is not there, and marks it as one that holds what is named,
// such as "a checkpoint". Afterwards this program may replace and remove the files of the folder.
// A folder with this mark is taken as it is. Other files in a folder without the mark, and the mark
// of a folder that holds something else, are a [ForeignError]; then nothing was written.
//
// Several processes may claim a folder at the same time.
func Claim(dir, holds string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}

	// The mark is looked for after the other files were listed: another process that claims the
	// folder writes its mark before any of these files.
	found, err := readMark(dir)
	if err != nil {
		return err
	}
	if found != nil {
		if found.Holds != holds {
			return &ForeignError{fmt.Sprintf("%s holds %s, and a folder for %s is needed; name another one",
				dir, found.Holds, holds)}
		}
		return nil
	}
	for _, e := range entries {
		if temporaryName.MatchString(e.Name()) {
			continue
		}
		return &ForeignError{fmt.Sprintf("%s holds %s, and no file %s that marks it as a folder of bigfit, "+
			"which replaces and removes files there; name a new or an empty folder", dir,
			strconv.Quote(e.Name()), MarkFile)}
	}

	return writeMark(dir, holds)
}

// writeMark writes the mark of a folder.
func writeMark(dir, holds string) error {
	text, err := json.Marshal(mark{markFormat, holds})
	if err != nil {
		return err
	}
	return Atomically(filepath.Join(dir, MarkFile), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// Unclaim removes a folder that holds nothing but its mark.
func Unclaim(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		return
	}
	if _, ok := Marked(dir); ok {
		os.Remove(filepath.Join(dir, MarkFile))
		os.Remove(dir)
	}
}

// readMark returns the mark of a folder; nil if it has none.
func readMark(dir string) (*mark, error) {
	path := filepath.Join(dir, MarkFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()

	// A mark is short; a file of any other length is not read.
	text, err := io.ReadAll(io.LimitReader(f, 1<<12))
	if err != nil {
		return nil, err
	}
	var m mark
	if err := json.Unmarshal(text, &m); err != nil || m.Format != markFormat {
		return nil, &ForeignError{path + ": this file is not the mark of a folder of bigfit; name another folder"}
	}
	return &m, nil
}

// Marked reports whether a folder carries the mark of [Claim], and what it holds.
func Marked(dir string) (holds string, ok bool) {
	m, err := readMark(dir)
	if err != nil || m == nil {
		return "", false
	}
	return m.Holds, true
}
