package work

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/knn/choice"
)

// status says how far a run in a folder is.
type status struct {
	Folder  string `json:"folder"`
	Holds   string `json:"holds"`
	Parts   int    `json:"parts,omitempty"`
	Made    int    `json:"made"`
	Missing string `json:"missing"` // ranges of numbers
	// Left is the time of the missing parts at the pace of those that are made; nil while that is not known.
	Left   *float64 `json:"seconds_left,omitempty"`
	Merged string   `json:"merge,omitempty"`
	Next   string   `json:"next,omitempty"` // command
	Stages []saved  `json:"stages,omitempty"`
	last   time.Time
}

// saved is a stage of a checkpoint.
type saved struct {
	File string    `json:"file"`
	What string    `json:"what"`
	Time time.Time `json:"time"`
}

// stages are the files of a checkpoint.
var stages = []struct{ file, what string }{
	{checkpoint.Choice, "the choice of a search"},
	{checkpoint.Search, "an unfinished search for neighbours"},
	{checkpoint.Neighbors, "the neighbours of all points"},
	{checkpoint.Graph, "the graph"},
	{checkpoint.Snapshot, "unfinished eigenpairs"},
	{checkpoint.Eigenpairs, "the eigenpairs"},
	{checkpoint.Fits, "fits of a cross-validation"},
}

// Status prints how far the run in a folder is.
func Status(a *shell.App, dir string) error {
	holds, ok := atomicfile.Marked(dir)
	if !ok {
		return fmt.Errorf("%s is not a folder that bigfit keeps a run in; give the one of --work or --checkpoint", dir)
	}
	s := &status{Folder: dir, Holds: holds}
	var err error
	switch holds {
	case "a graph in parts":
		err = s.graph(int64(a.Memory))
	case "a fit in parts":
		err = s.fit(int64(a.Memory))
	case "a checkpoint":
		err = s.checkpoint()
	default:
		err = fmt.Errorf("%s holds %s and no unfinished run; bigfit info %s says what is in it", dir, holds, quote(dir))
	}
	if err != nil {
		return err
	}
	return a.Print(s, s.String())
}

// partFile matches the stages of parts: of graphs, and of fits with what they hold.
var partFile = regexp.MustCompile(`^part-(\d{5})(-norm|-labels)?\.npz$`)

// parts looks at the files of the parts. A part of a fit is made if it has each kind of file that any part has.
func (s *status) parts() error {
	entries, err := os.ReadDir(s.Folder)
	if err != nil {
		return err
	}
	files := map[int]int{}
	kinds := map[string]bool{}
	var first time.Time
	for _, e := range entries {
		m := partFile.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // a job has just replaced it
		}
		if err != nil {
			return err
		}
		p, err := strconv.Atoi(m[1])
		if err != nil || p >= s.Parts {
			continue
		}
		files[p]++
		kinds[m[2]] = true
		if first.IsZero() || info.ModTime().Before(first) {
			first = info.ModTime()
		}
		if info.ModTime().After(s.last) {
			s.last = info.ModTime()
		}
	}

	var missing []int
	for p := range s.Parts {
		if files[p] < max(1, len(kinds)) {
			missing = append(missing, p)
		}
	}
	s.Made = s.Parts - len(missing)
	s.Missing = checkpoint.Ranges(missing)
	if s.Made > 1 && len(missing) > 0 {
		left := s.last.Sub(first).Seconds() / float64(s.Made-1) * float64(len(missing))
		s.Left = &left
	}
	return nil
}

// graph looks at a graph in parts.
func (s *status) graph(memory int64) error {
	path := filepath.Join(s.Folder, "division.npz")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		s.Merged = "the points are not divided yet"
		return nil
	}
	key, err := checkpoint.KeyOf(path, memory)
	if err != nil {
		return err
	}
	if s.Parts, err = strconv.Atoi(key["parts"]); err != nil {
		return fmt.Errorf("%s: the number of parts is %q", path, key["parts"])
	}
	if err := s.parts(); err != nil {
		return err
	}

	// Lists of a round are written part by part. The last step makes the graph.
	line := "bigfit graph --work " + quote(s.Folder)
	if s.Made < s.Parts {
		s.Next = line + " --part " + s.firstMissing()
		return nil
	}
	s.Next = line + " --merge -o graph.npz"
	s.Merged = "not begun"
	for round := 1; ; round++ {
		lists, err := filepath.Glob(filepath.Join(s.Folder, fmt.Sprintf("lists-%d-*.npz", round)))
		if err != nil || len(lists) == 0 {
			break
		}
		s.Merged = fmt.Sprintf("round %d across borders, %d of %d parts", round, len(lists), s.Parts)
	}
	if _, err := os.Stat(filepath.Join(s.Folder, "graph", "indptr.npy")); err == nil {
		s.Merged = "done"
		s.Next = ""
	}
	return nil
}

// fit looks at a fit in parts, whose command only the user knows.
func (s *status) fit(memory int64) error {
	files, err := filepath.Glob(filepath.Join(s.Folder, "part-*.npz"))
	if err != nil || len(files) == 0 {
		s.Merged = "no part is made yet"
		return err
	}
	key, err := checkpoint.KeyOf(files[0], memory)
	if err != nil {
		return err
	}
	if s.Parts, err = strconv.Atoi(key["count of parts"]); err != nil {
		return fmt.Errorf("%s: the number of parts is %q", files[0], key["count of parts"])
	}
	if err := s.parts(); err != nil {
		return err
	}
	s.Next = "the same bigfit fit with --merge"
	if s.Made < s.Parts {
		s.Next = "the same bigfit fit with --part " + s.firstMissing()
	}
	return nil
}

// firstMissing is the number of the first part that is missing.
func (s *status) firstMissing() string {
	return s.Missing[:len(s.Missing)-len(strings.TrimLeft(s.Missing, "0123456789"))]
}

// checkpoint looks at the stages of a run of one process.
func (s *status) checkpoint() error {
	for _, st := range stages {
		info, err := os.Stat(filepath.Join(s.Folder, st.file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s.Stages = append(s.Stages, saved{st.file, st.what, info.ModTime()})
	}
	s.Next = "the same command with --resume"
	if len(s.Stages) == 0 {
		s.Next = ""
	}
	return nil
}

// ago says how long ago something was written.
func ago(t time.Time) string {
	return choice.Duration(math.Round(time.Since(t).Seconds())) + " ago"
}

// String is the status in lines.
func (s *status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", s.Folder, s.Holds)
	if s.Parts > 0 {
		fmt.Fprintf(&b, "parts: %d of %d made", s.Made, s.Parts)
		if s.Made > 0 {
			fmt.Fprintf(&b, ", the last %s", ago(s.last))
		}
		if s.Missing != "" {
			fmt.Fprintf(&b, "; missing: %s", s.Missing)
		}
		if s.Left != nil {
			fmt.Fprintf(&b, ", about %s at the pace so far", choice.Duration(*s.Left))
		}
		b.WriteByte('\n')
	}
	if s.Merged != "" {
		fmt.Fprintf(&b, "merge: %s\n", s.Merged)
	}
	for _, st := range s.Stages {
		fmt.Fprintf(&b, "%s: %s, %s\n", st.File, st.What, ago(st.Time))
	}
	switch {
	case s.Next != "":
		fmt.Fprintf(&b, "next: %s\n", s.Next)
	case s.Parts == 0 && len(s.Stages) == 0 && s.Merged == "":
		b.WriteString("nothing is saved yet, or the run has ended\n")
	}
	return b.String()
}
