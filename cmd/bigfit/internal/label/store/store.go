// Package store keeps the labels that people give, in a csv file that only grows.
//
// # The file
//
//	id,label,annotator,time,seconds,shown
//	t-17,refund,ann,2026-11-25T04:12:09Z,2.4,one:text
//	t-18,,ann,2026-11-25T04:12:13Z,3.1,skip:text
//	t-17,,ann,2026-11-25T04:12:15Z,0.0,undo
//
//	id         the id of the point, or its number where points have no ids
//	label      the class; empty: this annotator has no label for the point (any more)
//	annotator  who said so; may be empty
//	time       when, UTC, RFC 3339
//	seconds    how long the point was looked at
//	shown      the kind of the question and the columns that were seen: see [Event]
//
// The last row of an annotator and a point counts. Undoing appends a row: no byte of the file changes.
//
// # What is promised
//
// [Store.Append] returns after the rows are on the disk (fsync). Before it writes it takes a lock on
// .NAME.lock beside the file, reads the rows that other processes appended, and removes a torn last row, which
// a killed process left and never confirmed. If writing fails, the file is cut to the length it had, nothing
// is remembered, and the error says so.
package store

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"github.com/bigfit/bigfit/internal/file/fields"
)

// header holds the names of the columns.
var header = []string{"id", "label", "annotator", "time", "seconds", "shown"}

const (
	// lockWait is how long an append waits for other processes, whose appends take milliseconds.
	lockWait = 5 * time.Second
	lockStep = 5 * time.Millisecond

	// MostLetters bounds the names of classes and annotators.
	MostLetters = 200
)

// An Event is a row of the file.
type Event struct {
	ID        string
	Label     string // empty for none
	Annotator string
	Time      time.Time
	Seconds   float64
	// Shown is the kind of the question, "one", "grid", "again" (a second look), "twice" (a point of
	// another annotator), "skip", "unsure" or "undo"; then "+answer" if the answer of the model could be
	// seen; then a colon and the columns.
	Shown string
}

// Store is a file of labels. It is safe for concurrent use, also by several processes.
type Store struct {
	path string
	lock *flock.Flock

	mu     sync.Mutex
	events []Event
	// generation counts how often all rows were read anew.
	generation int

	size int64       // bytes of the file that events hold
	info fs.FileInfo // of the file as it was read or written
	torn int64       // bytes of torn rows that were removed

	// write and sync write to the file; tests let them fail.
	write func(*os.File, []byte) (int, error)
	sync  func(*os.File) error
}

// ForeignError says that a file is no file of labels of this package.
type ForeignError struct{ Path, Columns string }

// Error names the columns that were found, and the remedy.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s: its columns are %s and not %s: it is a table of another program. Give it with -y, to begin "+
		"with its labels, and name a new file for the labels to come", e.Path, e.Columns, strings.Join(header, ","))
}

// Open reads a file of labels, or begins one that is not there. A torn last row is removed.
func Open(path string) (*Store, error) {
	s := &Store{path: path, lock: flock.New(lockPath(path)), write: (*os.File).Write, sync: (*os.File).Sync}
	err := s.locked(s.refresh)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// lockPath is the file that processes lock. The labels themselves are not locked: on Windows nobody could
// read them then.
func lockPath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

// Path returns the name of the file.
func (s *Store) Path() string { return s.path }

// Torn returns the number of bytes of torn rows that were removed.
func (s *Store) Torn() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.torn
}

// Events returns all rows so far, in the order of the file; the caller must not change them. As long as the
// generation is the same, the rows of an earlier call are the first of them.
func (s *Store) Events() (events []Event, generation int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[:len(s.events):len(s.events)], s.generation
}

// Refresh reads what other processes appended, and reports whether there was anything.
func (s *Store) Refresh() (bool, error) {
	s.mu.Lock()
	info, err := os.Stat(s.path)
	same := err == nil && s.unchanged(info)
	before := s.generation
	s.mu.Unlock()
	if same {
		return false, nil
	}
	err = s.locked(s.refresh)
	_, now := s.Events()
	return now != before, err
}

// unchanged tells whether the file is as this process knows it.
func (s *Store) unchanged(info fs.FileInfo) bool {
	return s.info != nil && os.SameFile(info, s.info) && info.Size() == s.size && info.ModTime().Equal(s.info.ModTime())
}

// Append writes rows to the file and returns after they are on the disk. After an error none of them counts.
func (s *Store) Append(events ...Event) error {
	for _, e := range events {
		if err := errors.Join(CheckName("label", e.Label), CheckName("annotator", e.Annotator)); err != nil {
			return err
		}
		if e.ID == "" || strings.ContainsFunc(e.ID, unicode.IsControl) {
			return fmt.Errorf("the id %s is empty or holds a control character; rows of labels need another", strconv.Quote(e.ID))
		}
	}
	return s.locked(func() error {
		if err := s.refresh(); err != nil {
			return err
		}
		return s.append(events)
	})
}

// locked runs do while no other process has the lock.
func (s *Store) locked(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	ok, err := s.lock.TryLockContext(ctx, lockStep)
	if errors.Is(err, context.DeadlineExceeded) || err == nil && !ok {
		return fmt.Errorf("%s: another process has kept the lock %s for %v; end it, and try again", s.path,
			s.lock.Path(), lockWait)
	}
	if err != nil {
		return fmt.Errorf("%s: cannot lock it: %w", s.path, err)
	}
	defer s.lock.Unlock() //nolint:errcheck // the lock goes with the process at the latest
	return do()
}

// refresh makes events the rows of the file, and removes a torn last row. A file that is not there is begun.
func (s *Store) refresh() error {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: it is no file; labels are kept in one", s.path)
	}
	if s.unchanged(info) {
		return nil
	}
	if info.Size() == 0 {
		return s.begin(f)
	}

	// Another program changed the file. It appended rows, or a person edited it: all of it is read anew.
	content, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	whole, err := s.mend(f, content)
	if err != nil {
		return err
	}
	if len(whole) == 0 {
		return s.begin(f)
	}
	events, err := s.parse(whole)
	if err != nil {
		return err
	}
	s.events = events
	s.generation++
	s.size = int64(len(whole))
	s.info, err = f.Stat()
	return err
}

// mend returns the content up to the last whole row. What follows the last line break was never confirmed: it
// is completed if it is a whole row that lacks only its end, and removed else.
func (s *Store) mend(f *os.File, content []byte) ([]byte, error) {
	cut := bytes.LastIndexByte(content, '\n') + 1
	torn := content[cut:]
	if len(torn) == 0 {
		return content, nil
	}
	row, err := csv.NewReader(bytes.NewReader(torn)).Read()
	if err == nil && len(row) == len(header) && cut > 0 {
		if _, err = s.write(f, []byte("\n")); err == nil {
			err = s.sync(f)
		}
		content = append(content, '\n')
	} else if cut > 0 || strings.HasPrefix(strings.Join(header, ","), string(torn)) {
		err = errors.Join(f.Truncate(int64(cut)), s.sync(f))
		s.torn += int64(len(torn))
		content = content[:cut]
	} else {
		err = nil // one line of another program
	}
	if err != nil {
		return nil, fmt.Errorf("%s: its last row is torn and cannot be mended: %w", s.path, err)
	}
	return content, nil
}

// begin writes the header of an empty file, and the rows that are known: the file was deleted under us.
func (s *Store) begin(f *os.File) error {
	s.size = 0
	if err := s.put(f, []byte(strings.Join(header, ",")+"\n")); err != nil {
		return err
	}
	if known := s.events; len(known) > 0 {
		if err := s.put(f, rows(known)); err != nil {
			return err
		}
	}

	// The name of a new file must reach the disk as well.
	if dir, err := os.Open(filepath.Dir(s.path)); err == nil {
		_ = dir.Sync() // not every file system can
		dir.Close()
	}
	return nil
}

// parse reads whole rows behind the header.
func (s *Store) parse(content []byte) (events []Event, err error) {
	r := csv.NewReader(bytes.NewReader(content))
	r.FieldsPerRecord = -1
	row, err := r.Read()
	if err != nil {
		return nil, &ForeignError{s.path, "unreadable"}
	}
	row[0] = strings.TrimPrefix(row[0], "\ufeff")
	if strings.Join(row, ",") != strings.Join(header, ",") {
		return nil, &ForeignError{s.path, strings.Join(quoted(row), ",")}
	}

	for {
		row, err := r.Read()
		if err == io.EOF {
			return events, nil
		}
		var e Event
		if err == nil {
			e, err = event(row)
		}
		if err != nil {
			line, _ := r.FieldPos(0)
			var fault *csv.ParseError
			if errors.As(err, &fault) {
				line = fault.StartLine
				err = fault.Err
			}
			return nil, fmt.Errorf("%s: line %d: %w; mend the line or take it out", s.path, line, err)
		}
		events = append(events, e)
	}
}

// event makes an event of a row.
func event(row []string) (Event, error) {
	if len(row) != len(header) {
		return Event{}, fmt.Errorf("it has %d fields and not %d", len(row), len(header))
	}
	e := Event{ID: row[0], Label: row[1], Annotator: row[2], Shown: row[5]}
	if e.ID == "" {
		return Event{}, errors.New("it has no id")
	}
	// A spreadsheet may have rewritten times and numbers, which decide nothing.
	e.Time, _ = time.Parse(time.RFC3339, row[3])
	_, _ = fmt.Sscanf(row[4], "%g", &e.Seconds)
	return e, nil
}

// rows are the bytes of events.
func rows(events []Event) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, e := range events {
		// The error of a writer into memory is nil.
		_ = w.Write([]string{e.ID, e.Label, e.Annotator, e.Time.UTC().Format(time.RFC3339),
			fmt.Sprintf("%.1f", max(0, e.Seconds)), e.Shown})
	}
	w.Flush()
	return b.Bytes()
}

// append writes rows at the end of the file, which holds s.size bytes.
func (s *Store) append(events []Event) error {
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("the label was not saved: %w", err)
	}
	defer f.Close()
	if err := s.put(f, rows(events)); err != nil {
		return err
	}
	s.events = append(s.events, events...)
	return nil
}

// put writes bytes at the end of the file and syncs it. After an error the file is as it was.
func (s *Store) put(f *os.File, line []byte) error {
	n, err := s.write(f, line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = s.sync(f)
	}
	if err != nil {
		// Should this fail too, the next append finds a torn row and removes it, or whole rows and counts them.
		if fault := f.Truncate(s.size); fault == nil {
			_ = s.sync(f)
		}
		return fmt.Errorf("the label was not saved: %w", err)
	}
	s.size += int64(len(line))
	s.info, err = f.Stat()
	return err
}

// CheckName returns an error unless a text can be the name of a class or of an annotator, which may be empty.
func CheckName(what, name string) error {
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("%s %s: it is not UTF-8", what, fields.Quote([]byte(name)))
	case utf8.RuneCountInString(name) > MostLetters:
		return fmt.Errorf("%s %s…: it has more than %d letters", what, fields.Quote([]byte(string([]rune(name)[:20]))),
			MostLetters)
	case name != strings.TrimSpace(name):
		return fmt.Errorf("%s %s: it begins or ends with a space", what, fields.Quote([]byte(name)))
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%s %s: it holds a control character", what, fields.Quote([]byte(name)))
	}
	return nil
}

// quoted returns the first names of columns, fit for a terminal.
func quoted(row []string) []string {
	out := make([]string, 0, len(row))
	for _, name := range row[:min(8, len(row))] {
		out = append(out, fields.Quote([]byte(name)))
	}
	return out
}
