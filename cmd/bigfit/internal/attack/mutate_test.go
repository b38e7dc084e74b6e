package attack

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/models/modeltest"
)

// Mutated files of every kind are refused with a sentence, or read; what a command
// writes of them is read again.
func TestMutations(t *testing.T) {
	testmode.Campaign(t)
	dir := t.TempDir()
	files := append(makeArtifacts(t, dir), inputs(t, dir)...)
	files = append(files, folders(t, dir)...)
	first, count := seeds(150)
	for seed := first; seed < first+count; seed++ {
		rng := rand.New(rand.NewPCG(uint64(seed), 0x6d7574)) // "mut"
		a := files[rng.IntN(len(files))]
		bad := "bad" + extension(a.file)
		must(t, os.RemoveAll(filepath.Join(dir, bad)))
		what, err := mutateAny(t, rng, filepath.Join(dir, a.file), filepath.Join(dir, bad))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		line := a.lines[rng.IntN(len(a.lines))]
		os.Remove(filepath.Join(dir, "out.npz"))
		o := runIn(t, dir, strings.ReplaceAll(line, "FILE", bad))
		fault := o.fault()
		if o.peak > 400<<20 {
			fault = fmt.Sprintf("it takes %d MiB", o.peak>>20)
		}
		if _, err := os.Stat(filepath.Join(dir, "out.npz")); err == nil {
			switch again := runIn(t, dir, "info out.npz"); {
			case o.code == 2:
				fault = "it refuses and writes out.npz"
			case again.code != 0:
				fault = "what it wrote is not read again: " + again.stderr
			}
		}
		if fault != "" {
			t.Errorf("BIGFIT_SOAK_FIRST=%d, %s %s: bigfit %s: %s\n%s", seed, a.file, what, line, fault, o.stderr)
		}
	}
}

// inputs are files of users, and lines that read them.
func inputs(t *testing.T, dir string) []artifact {
	t.Helper()
	points := []string{"graph FILE -k 5 -o out.npz", "fit -X FILE -y y.npy --model knn -o out.npz", "predict model-knn.npz -X FILE -o out.npy", "info FILE"}
	labels := []string{"fit -X X.npy -y FILE --model knn -o out.npz", "eval -y FILE --predictions p.npy", "fit -X X.npy -y FILE --model lapsvm --gamma-a 1e-3 --gamma-i 1e-2 -o out.npz"}
	var csv, svm, y strings.Builder
	a, err := npy.ReadFile(filepath.Join(dir, "X.npy"), 0)
	if err != nil {
		t.Fatal(err)
	}
	x := a.Data.([]float64)
	csv.WriteString("a,b,c\n")
	for i := range artifactPoints {
		row := x[i*artifactDims:]
		fmt.Fprintf(&csv, "%.6g,%.6g,%.6g\n", row[0], row[1], row[2])
		fmt.Fprintf(&svm, "%d 1:%.6g 2:%.6g 3:%.6g\n", i%2, row[0], row[1], row[2])
		fmt.Fprintf(&y, "%d\n", i%3-1)
	}
	for name, text := range map[string]string{"X.csv": csv.String(), "X.svm": svm.String(), "y.txt": y.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	lists := archive.Array{Name: "indices", Shape: []int{4, 2}, Data: []int32{1, 2, 0, 2, 3, 0, 2, 1}}
	distances := archive.Array{Name: "distances", Shape: []int{4, 2}, Data: []float64{1, 2, 1, 2, 1, 2, 1, 2}}
	if err := npy.WriteArchive(filepath.Join(dir, "lists.npz"), []archive.Array{lists, distances}); err != nil {
		t.Fatal(err)
	}
	// The same points in other forms: bytes as IDX, and compressed.
	idx := []byte{0, 0, 8, 2, 0, 0, 0, artifactPoints, 0, 0, 0, artifactDims}
	for _, v := range x {
		idx = append(idx, byte(20*v+100))
	}
	must(t, os.WriteFile(filepath.Join(dir, "X.idx"), idx, 0o666))
	raw, err := os.ReadFile(filepath.Join(dir, "X.npy"))
	must(t, err)
	for name, text := range map[string]string{"X.npy.zst": string(raw), "X.idx.gz": string(idx), "X.csv.gz": csv.String()} {
		packedInput{name: name, block: text, times: 1}.write(t, dir)
	}
	// Calibrated models, of one learner and of several.
	succeedIn(t, dir, "fit X.npy y.npy --model lgc --calibrate 3 -o model-calibrated.npz")
	succeedIn(t, dir, "fit X.npy y.npy -o model-auto.npz")
	answers := []string{"predict FILE X.npy -o out.csv --proba q.npy", "update FILE -X X.npy -o out.npz", "info FILE", "suspects FILE -o out.csv", "next FILE -n 3 -o out.csv"}
	return []artifact{
		{"model-calibrated.npz", answers, false}, {"model-auto.npz", answers, false},
		{"X.idx", points, false}, {"X.npy.zst", points, false}, {"X.idx.gz", points, false}, {"X.csv.gz", points, false},
		{"X.npy", points, false}, {"X.csv", points, false}, {"X.svm", points, false}, {"y.npy", labels, false}, {"y.txt", labels, false},
		{"lists.npz", []string{"graph --lists FILE -o out.npz", "info FILE"}, false},
	}
}

// folders are what bigfit keeps in folders, and lines that read them: a graph, the work folder of a
// graph in parts with one part made, and checkpoints of runs that were killed.
func folders(t *testing.T, dir string) []artifact {
	t.Helper()
	succeedIn(t, dir, "graph X.npy -k 6 -o graph-folder/")
	succeedIn(t, dir, "graph X.npy --parts 2 --work parts --divide")
	succeedIn(t, dir, "graph --work parts --part 0")
	for _, line := range []string{"eigs graph.npz -n 8 --checkpoint ck-eigs -o e.npz", "fit X.npy y.npy --checkpoint ck-fit -o f.npz"} {
		cmd := faulty(t, "after 7", strings.Fields(line)...)
		cmd.Dir = dir
		if text, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("bigfit %s was not killed\n%s", line, text)
		}
	}
	return []artifact{
		{"graph-folder", []string{"info FILE", "eigs FILE -n 5 -o out.npz", "fit --graph FILE -y y.npy --model harmonic -o out.npz"}, false},
		{"parts", []string{"graph --work FILE --part 1", "graph --work FILE --merge -o out.npz", "graph X.npy --parts 2 --work FILE -o out.npz", "info FILE"}, false},
		{"ck-eigs", []string{"eigs graph.npz -n 8 --checkpoint FILE --resume -o out.npz", "info FILE"}, false},
		{"ck-fit", []string{"fit X.npy y.npy --checkpoint FILE --resume -o out.npz", "info FILE"}, false},
	}
}

// extension returns the end of a name that tells the format, with that of the compression.
func extension(name string) string {
	ext := filepath.Ext(name)
	if ext == ".gz" || ext == ".zst" {
		ext = filepath.Ext(strings.TrimSuffix(name, ext)) + ext
	}
	return ext
}

// mutateAny is [mutate] of a file, of the content of a compressed file, or of one file in a copy of a
// folder.
func mutateAny(t *testing.T, rng *rand.Rand, from, to string) (what string, err error) {
	t.Helper()
	info, err := os.Stat(from)
	must(t, err)
	if info.IsDir() {
		must(t, os.CopyFS(to, os.DirFS(from)))
		var names []string
		must(t, filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				if i, err := e.Info(); err == nil && i.Size() > 0 {
					names = append(names, path)
				}
			}
			return err
		}))
		victim := names[rng.IntN(len(names))]
		what, err = mutate(rng, victim, victim)
		return filepath.Base(victim) + " " + what, err
	}

	// Half of the damages of a compressed file are of its content, with the right sums around it.
	packing := filepath.Ext(from)
	if packing != ".gz" && packing != ".zst" || rng.IntN(2) == 0 {
		return mutate(rng, from, to)
	}
	raw := to + ".raw"
	must(t, os.WriteFile(raw, unpacked(t, from), 0o666))
	if what, err = mutate(rng, raw, raw); err != nil {
		return "", err
	}
	content, err := os.ReadFile(raw)
	must(t, err)
	if len(content) > 0 {
		packedInput{name: filepath.Base(to), block: string(content), times: 1}.write(t, filepath.Dir(to))
	} else {
		must(t, os.WriteFile(to, nil, 0o666))
	}
	return "unpacked, " + what, os.Remove(raw)
}

// unpacked returns the content of a compressed file.
func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	var r io.Reader
	if strings.HasSuffix(path, ".zst") {
		r, err = zstd.NewReader(f)
	} else {
		r, err = gzip.NewReader(f)
	}
	must(t, err)
	content, err := io.ReadAll(r)
	must(t, err)
	return content
}

// mutate writes a damaged copy of a file and says what it did.
func mutate(rng *rand.Rand, from, to string) (what string, err error) {
	content, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(from, ".npz") && rng.IntN(4) > 0 {
		return mutateArchive(rng, from, to)
	}
	switch rng.IntN(6) {
	case 0:
		content = content[:rng.IntN(len(content))]
		what = fmt.Sprintf("cut after byte %d", len(content))
	case 1:
		content = append(content, content[rng.IntN(len(content)):]...)
		what = "with a part twice"
	case 2:
		at := rng.IntN(min(len(content), 128)) // of a header
		content[at] ^= 1 << rng.IntN(8)
		what = fmt.Sprintf("with a bit of byte %d turned", at)
	case 3:
		numbers := []string{"1e308", "-1", "nan", "9223372036854775807", "99999999999999999999", "0", "inf", "1e-320", "x"}
		fields := bytes.FieldsFunc(content, func(r rune) bool { return !strings.ContainsRune("0123456789", r) })
		if len(fields) == 0 {
			return "as it is", os.WriteFile(to, content, 0o666)
		}
		field, number := fields[rng.IntN(len(fields))], numbers[rng.IntN(len(numbers))]
		content = bytes.Replace(content, field, []byte(number), 1+rng.IntN(3))
		what = fmt.Sprintf("with %q in place of %q", number, field)
	case 4:
		for range 1 + rng.IntN(20) {
			content[rng.IntN(len(content))] = byte(rng.IntN(256))
		}
		what = "with random bytes"
	default:
		at := rng.IntN(len(content))
		content = append(content[:at:at], content[min(len(content), at+1+rng.IntN(64)):]...)
		what = fmt.Sprintf("with bytes after %d left out", at)
	}
	return what, os.WriteFile(to, content, 0o666)
}

// mutateArchive damages one array of an archive whose sums and, for models, whose
// manifest are right again.
func mutateArchive(rng *rand.Rand, from, to string) (string, error) {
	a, err := npy.OpenArchive(from, 0)
	if err != nil {
		return "", err
	}
	defer a.Close()
	names := a.Names()
	victim := names[rng.IntN(len(names))]
	var entries []archive.Array
	what := ""
	for _, name := range names {
		x, err := a.Read(name)
		if err != nil {
			return "", err
		}
		e := archive.Array{Name: name, Shape: x.Shape, Data: x.Data}
		if text, ok := x.Data.([]string); ok {
			e.Shape, e.Data = nil, text[0]
		}
		if name == victim {
			if what = mutateEntry(rng, &e); e.Name == "" {
				continue
			}
		}
		entries = append(entries, e)
	}
	write := modeltest.Rewrite
	if rng.IntN(4) == 0 {
		write = npy.WriteArchive
	}
	return victim + " " + what, write(to, entries)
}

// mutateEntry changes an array in place; without a name it is to be left out.
func mutateEntry(rng *rand.Rand, e *archive.Array) string {
	v := reflect.ValueOf(e.Data)
	if v.Kind() != reflect.Slice || v.Len() == 0 {
		e.Shape, e.Data = nil, "\x00\x01{"
		return "as other text"
	}
	n := v.Len()
	switch kind := rng.IntN(7); kind {
	case 0:
		e.Name = ""
		return "left out"
	case 1:
		keep := rng.IntN(n)
		e.Shape, e.Data = nil, v.Slice(0, keep).Interface()
		return fmt.Sprintf("cut to %d elements", keep)
	case 2:
		e.Shape = []int{1, n}
		return "of another shape"
	case 3:
		e.Data = reflect.AppendSlice(v.Slice3(0, n, n), v).Interface()
		e.Shape = nil
		return "twice"
	}
	switch x := e.Data.(type) {
	case []float64:
		values := []float64{math.NaN(), math.Inf(1), 1e308, -1e308, -1, 0, 1e-320, 1e160, 1e-160}
		value := values[rng.IntN(len(values))]
		if rng.IntN(3) == 0 {
			for i := range x {
				x[i] = value
			}
			return fmt.Sprintf("all %v", value)
		}
		x[rng.IntN(n)] = value
		return fmt.Sprintf("with %v", value)
	case []int32:
		x[rng.IntN(n)] = []int32{-1, math.MaxInt32, math.MinInt32, 0, int32(n)}[rng.IntN(5)]
		return "with another number"
	case []int64:
		x[rng.IntN(n)] = []int64{-1, math.MaxInt64, math.MinInt64, 0, int64(n), 1 << 31, 1 << 40}[rng.IntN(7)]
		return "with another number"
	case []uint8:
		return mutateText(rng, e, x)
	}
	e.Data = []float64{1, 2, 3}
	e.Shape = nil
	return "of another type"
}

// mutateText changes a number or a byte of a JSON text.
func mutateText(rng *rand.Rand, e *archive.Array, x []uint8) string {
	e.Shape = nil
	fields := bytes.FieldsFunc(x, func(r rune) bool { return !strings.ContainsRune("0123456789.-e+", r) })
	if rng.IntN(3) == 0 || len(fields) == 0 {
		x[rng.IntN(len(x))] = byte(rng.IntN(128))
		return "with another byte"
	}
	numbers := []string{"-1", "0", "1e308", "1e-320", "2147483648", "9223372036854775808", "null", "\"a\"", "[]", "3.5", "1000000000"}
	field, number := fields[rng.IntN(len(fields))], numbers[rng.IntN(len(numbers))]
	e.Data = bytes.Replace(x, field, []byte(number), 1)
	return fmt.Sprintf("with %s in place of %s", number, field)
}
