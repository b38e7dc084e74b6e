package shards

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Bounds of the files that are read as lists.
const (
	maxListed   = 1 << 20
	maxListLine = 4 << 10
)

// readList returns the files that the lines of a text file name. It returns nil for a file that is
// no list: the first line is a number, or not the name of a file. A later line that names no file
// is an error.
func readList(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, maxListLine), maxListLine)
	always := strings.EqualFold(filepath.Ext(path), ".list")
	var names []string
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		if len(names) == 0 && !always && isNumberText(line) {
			return nil, nil
		}
		// Names are seen from the folder of the list.
		name := line
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		file, _ := SplitKey(name)
		info, err := os.Stat(file)
		if err == nil && !info.IsDir() && len(names) < maxListed {
			names = append(names, name)
			continue
		}

		// A file .list is always a list; a file .txt is one if its first line names a file.
		if len(names) == 0 && !always {
			return nil, nil
		}
		why := "is no file"
		switch {
		case len(names) == maxListed:
			why = fmt.Sprintf("is one too many; a list names at most %d files", maxListed)
		case err == nil:
			why = "is a folder"
		}

		return nil, fmt.Errorf("%s: line %d: %s %s; a list of files has the name of one on each "+
			"line, as seen from the folder of the list", path, n, short(line), why)
	}

	if err := lines.Err(); err != nil && (always || len(names) > 0) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(names) == 0 && always {
		return nil, fmt.Errorf("%s: the list names no file", path)
	}
	return names, nil
}

func isNumberText(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// short is %q of at most 40 bytes of text.
func short(text string) string {
	if len(text) > 40 {
		return strconv.Quote(text[:40]) + "…"
	}
	return strconv.Quote(text)
}
