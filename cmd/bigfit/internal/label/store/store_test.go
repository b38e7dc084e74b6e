package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bigfit/bigfit/internal/testmode"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		child(path)
		return
	}
	os.Exit(m.Run())
}

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// row is an event.
func row(id int, label string) Event {
	return Event{ID: strconv.Itoa(id), Label: label, Annotator: "ann", Time: noon, Seconds: 1.25, Shown: "one:text"}
}

// open opens a store.
func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// content reads a file.
func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// labels lists ids and labels of a store.
func labels(s *Store) string {
	var out []string
	events, _ := s.Events()
	for _, e := range events {
		out = append(out, e.ID+"="+e.Label)
	}
	return strings.Join(out, " ")
}

// The file has one row a label, in the order in which they came, and reads back as it was.
func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.csv")
	s := open(t, path)
	odd := Event{ID: `a,"b`, Label: "<b>x</b>, =1+1", Annotator: "Zoë", Time: noon, Shown: "grid+answer:text file"}
	for _, events := range [][]Event{{row(1, "x")}, {row(2, "y"), odd}, {row(1, "")}} {
		if err := s.Append(events...); err != nil {
			t.Fatal(err)
		}
	}
	want := "id,label,annotator,time,seconds,shown\n1,x,ann,2026-11-25T12:00:00Z,1.2,one:text\n" +
		"2,y,ann,2026-11-25T12:00:00Z,1.2,one:text\n" +
		"\"a,\"\"b\",\"<b>x</b>, =1+1\",Zoë,2026-11-25T12:00:00Z,0.0,grid+answer:text file\n" +
		"1,,ann,2026-11-25T12:00:00Z,1.2,one:text\n"
	if got := content(t, path); got != want {
		t.Errorf("the file is\n%s", got)
	}
	events, _ := open(t, path).Events()
	if len(events) != 4 || events[2] != odd {
		t.Errorf("read back: %+v", events)
	}
}

// What cannot be a row is refused, and nothing of it is written.
func TestRefusedRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.csv")
	s := open(t, path)
	for name, e := range map[string]Event{
		"control": row(1, "a\nb"), "long": row(1, strings.Repeat("x", MostLetters+1)), "space": row(1, " x"),
		"bytes": row(1, "\xff"), "no id": {Label: "x"}, "id of two lines": {ID: "a\nb", Label: "x"},
		"annotator": {ID: "1", Label: "x", Annotator: "a\tb"},
	} {
		if err := s.Append(row(0, "good"), e); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	if got := content(t, path); strings.Count(got, "\n") != 1 {
		t.Errorf("the file is\n%s", got)
	}
}

// Files of other programs are not touched.
func TestForeign(t *testing.T) {
	for name, text := range map[string]string{"labels": "id,label\n1,x\n", "one line": "hello", "quote": "\"abc\n",
		"row": "id,label,annotator,time,seconds,shown\n1,x\n"} {
		path := filepath.Join(t.TempDir(), "labels.csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", name, err)
		}
		if got := content(t, path); got != text {
			t.Errorf("%s: the file is now %q", name, got)
		}
	}
}

// A file that ends anywhere in its last row loses that row and no other; one that lacks the line break only keeps it.
func TestTornRow(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.csv")
	s := open(t, whole)
	for i, label := range []string{"x", "y, and \"z\"", "last"} {
		if err := s.Append(row(i, label)); err != nil {
			t.Fatal(err)
		}
	}
	text := content(t, whole)
	head := strings.Index(text, "\n") + 1
	stride := 3
	if testmode.Campaigns() {
		stride = 1
	}
	given := []string{"x", "y, and \"z\"", "last"}
	for cut := 0; cut <= len(text); cut += stride {
		path := filepath.Join(dir, "torn.csv")
		if err := os.WriteFile(path, []byte(text[:cut]), 0o644); err != nil {
			t.Fatal(err)
		}
		s := open(t, path)
		events, _ := s.Events()
		rows := max(0, strings.Count(text[:cut], "\n")-1)
		if len(events) < rows || len(events) > rows+1 {
			t.Fatalf("cut at %d: %d rows of %d", cut, len(events), rows)
		}
		if len(events) > rows && (events[rows].ID != strconv.Itoa(rows) || events[rows].Label != given[rows]) {
			t.Fatalf("cut at %d: the torn row is %+v", cut, events[rows])
		}
		if err := s.Append(row(9, "more")); err != nil {
			t.Fatal(err)
		}
		after := content(t, path)
		if keep := text[:max(head, strings.LastIndex(text[:cut], "\n")+1)]; !strings.HasPrefix(after, keep) {
			t.Fatalf("cut at %d: rows changed:\n%s", cut, after)
		}
		if events, _ := open(t, path).Events(); events[len(events)-1].Label != "more" {
			t.Fatalf("cut at %d: what came later is not read:\n%s", cut, after)
		}
	}
}

// Two processes, or two stores, on one file see each other's rows and lose none.
func TestTwoStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.csv")
	const each = 60
	var both sync.WaitGroup
	stores := []*Store{open(t, path), open(t, path)}
	for k, s := range stores {
		both.Go(func() {
			for i := range each {
				e := row(i, "x")
				e.Annotator = "writer " + strconv.Itoa(k)
				if err := s.Append(e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	for _, s := range stores {
		if _, err := s.Refresh(); err != nil {
			t.Error(err)
		}
		events, _ := s.Events()
		seen := map[string]int{}
		for _, e := range events {
			if e.ID != strconv.Itoa(seen[e.Annotator]) {
				t.Errorf("%s: row %d has the id %s", e.Annotator, seen[e.Annotator], e.ID)
			}
			seen[e.Annotator]++
		}
		if len(events) != 2*each {
			t.Errorf("%d rows", len(events))
		}
	}
	if changed, err := stores[0].Refresh(); changed || err != nil {
		t.Errorf("refreshed without a change: %v, %v", changed, err)
	}
}

// What a person edits while the command runs counts, and a file that is taken away is written again.
func TestEdited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.csv")
	s := open(t, path)
	if err := s.Append(row(1, "wrong"), row(2, "b")); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(content(t, path), "wrong", "right", 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(row(3, "c")); err != nil {
		t.Fatal(err)
	}
	if got := labels(s); got != "1=right 2=b 3=c" {
		t.Errorf("after an edit: %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(row(4, "d")); err != nil {
		t.Fatal(err)
	}
	if got := labels(open(t, path)); got != "1=right 2=b 3=c 4=d" {
		t.Errorf("after the file was deleted: %s", got)
	}
}

// If a row cannot be written, in whole or in part, or cannot be synced, the error says so, the file is as it was and
// the next row is written as if nothing had been.
func TestFailingDisk(t *testing.T) {
	full := syscall.ENOSPC
	for name, breakIt := range map[string]func(s *Store){
		"no byte": func(s *Store) { s.write = func(*os.File, []byte) (int, error) { return 0, full } },
		"some bytes": func(s *Store) {
			s.write = func(f *os.File, b []byte) (int, error) {
				n, _ := f.Write(b[:len(b)/2])
				return n, full
			}
		},
		"short without an error": func(s *Store) { s.write = func(f *os.File, b []byte) (int, error) { return f.Write(b[:3]) } },
		"no sync":                func(s *Store) { s.sync = func(*os.File) error { return full } },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "labels.csv")
			s := open(t, path)
			if err := s.Append(row(1, "a")); err != nil {
				t.Fatal(err)
			}
			before := content(t, path)
			breakIt(s)
			err := s.Append(row(2, "b"))
			if err == nil || !strings.Contains(err.Error(), "not saved") {
				t.Fatalf("error %v", err)
			}
			if got := content(t, path); got != before {
				t.Errorf("the file is\n%s", got)
			}
			if got := labels(s); got != "1=a" {
				t.Errorf("remembered: %s", got)
			}
			s.write = (*os.File).Write
			s.sync = (*os.File).Sync
			if err := s.Append(row(3, "c")); err != nil {
				t.Fatal(err)
			}
			if got := labels(open(t, path)); got != "1=a 3=c" {
				t.Errorf("read back: %s", got)
			}
		})
	}
}

// A real disk that is full is an error, and with room again the next label is saved.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, 16<<10)
	path := filepath.Join(dir, "labels.csv")
	s := open(t, path)
	saved := 0
	var fault error
	for fault == nil && saved < 1000 {
		if fault = s.Append(row(saved, strings.Repeat("x", 150))); fault == nil {
			saved++
		}
	}
	if !errors.Is(fault, syscall.ENOSPC) || saved == 0 {
		t.Fatalf("%d rows, then %v", saved, fault)
	}
	events, _ := open(t, path).Events()
	if len(events) != saved {
		t.Errorf("%d rows in the file, %d were confirmed", len(events), saved)
	}
}

// Another process that keeps the lock is named, and ends nothing for ever.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.csv")
	s := open(t, path)
	other := open(t, path)
	if err := other.lock.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(row(1, "a")); err == nil || !strings.Contains(err.Error(), "lock") {
		t.Errorf("error %v", err)
	}
	if err := other.lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(row(1, "a")); err != nil {
		t.Error(err)
	}
}

// childVariable makes this test a process that appends rows and confirms each on its standard output, until it is
// killed: at step STEP of the writing of row ROW, half way through the bytes for a write.
const childVariable = "KILL_STORE"

func child(text string) {
	words := strings.SplitN(text, " ", 3)
	at, _ := strconv.Atoi(words[1])
	step := 0
	die := func() {
		if step++; step == at {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	}
	s, err := Open(words[2])
	if err != nil {
		fmt.Println("fault", err)
		os.Exit(1)
	}
	// How many bytes of a row reach the file before the kill differs from step to step.
	share := rand.New(rand.NewPCG(uint64(at), 1)).Float64()
	s.write = func(f *os.File, b []byte) (int, error) {
		die()
		part := int(share * float64(len(b)))
		n, err := f.Write(b[:part])
		if err != nil {
			return n, err
		}
		die()
		m, err := f.Write(b[part:])
		die()
		return n + m, err
	}
	s.sync = func(f *os.File) error {
		die()
		err := f.Sync()
		die()
		return err
	}
	for i := 0; ; i++ {
		e := row(i, "label "+strconv.Itoa(i))
		e.Annotator = words[0]
		if err := s.Append(e); err != nil {
			fmt.Println("fault", err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

// Of a process that is killed at any step of writing all labels are there that it confirmed, and no row is damaged;
// the next process goes on in the same file.
func TestKilled(t *testing.T) {
	testmode.Skip(t, testmode.Race, "the program that is killed is the same")
	kills := testmode.Count(20, 200)
	path := filepath.Join(t.TempDir(), "labels.csv")
	confirmed := map[string]string{} // annotator and id → label
	for k := range kills {
		writer := "writer-" + strconv.Itoa(k)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"="+fmt.Sprintf("%s %d %s", writer, 1+k, path))
		out, err := cmd.Output()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("kill %d: %v\n%s", k, err, out)
		}
		for line := range strings.Lines(string(out)) {
			id := strings.TrimSpace(line)
			confirmed[writer+" "+id] = "label " + id
		}

		s := open(t, path)
		events, _ := s.Events()
		found := map[string]string{}
		for _, e := range events {
			found[e.Annotator+" "+e.ID] = e.Label
			if e.Label != "label "+e.ID {
				t.Fatalf("kill %d: the row %+v", k, e)
			}
		}
		for key, label := range confirmed {
			if found[key] != label {
				t.Fatalf("kill %d: the confirmed label of %s is %q", k, key, found[key])
			}
		}
	}
	if len(confirmed) < kills {
		t.Errorf("only %d labels were confirmed", len(confirmed))
	}
}
