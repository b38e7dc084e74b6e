// Package peers runs other programs beside ours, in one run on one machine, and writes their
// times, memory and results as JSON and Markdown.
//
// The peers are Python scripts in this folder. /usr/bin/python3 runs them with the Debian
// packages that each of them names. Every script prints one JSON object a line, with the
// members "peer" (a name), "seconds", often "peak_bytes", and others of its own.
package peers

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/engine"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/num/simd"
)

//go:embed *.py
var scripts embed.FS

// python is the interpreter that Debian's packages belong to.
const python = "/usr/bin/python3"

// Row is one measurement.
type Row struct {
	Work    string  `json:"work"`
	Program string  `json:"program"` // "bigfit" or the peer's name
	Seconds float64 `json:"seconds"`
	// Instructions names the SIMD path of bigfit, or for a peer the environment variables that
	// keep it to the same instructions.
	Instructions string `json:"instructions,omitempty"`
	// Ratio is the peer's time over ours for the same work, 0 if unknown.
	Ratio float64 `json:"ratio,omitempty"`
	// PeakBytes is the peak memory of the process, 0 if unknown.
	PeakBytes int64 `json:"peak_bytes,omitempty"`
	// More holds further measures, such as residuals or recall.
	More map[string]any `json:"more,omitempty"`
}

// Run runs one of the embedded scripts and returns the JSON objects it prints.
// Its stderr goes to log.
func Run(ctx context.Context, log io.Writer, script string, args ...string) ([]map[string]any, error) {
	return run(ctx, log, environment(), script, args)
}

func run(ctx context.Context, log io.Writer, environment []string, script string, args []string) ([]map[string]any,
	error) {
	text, err := scripts.ReadFile(script)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(python); err != nil {
		return nil, fmt.Errorf("peers: %w; install the Debian packages named in bench/peers/%s", err, script)
	}
	cmd := exec.CommandContext(ctx, python, append([]string{"-"}, args...)...)
	cmd.Stdin = bytes.NewReader(text)
	cmd.Env = environment
	cmd.Stderr = log
	return objects(cmd, script)
}

// PETSc is [Run] for a script that imports petsc4py, on so many MPI ranks.
func PETSc(ctx context.Context, log io.Writer, ranks int, script string, args ...string) ([]map[string]any, error) {
	if ranks == 1 {
		return run(ctx, log, slepcEnvironment(), script, args)
	}
	text, err := scripts.ReadFile(script)
	if err != nil {
		return nil, err
	}

	// Standard input reaches one rank only.
	dir, err := os.MkdirTemp("", "bigfit-petsc-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, script)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}

	cmd := exec.CommandContext(ctx, mpirun, append([]string{"--allow-run-as-root", "-n", strconv.Itoa(ranks), python,
		path}, args...)...)
	cmd.Env = slepcEnvironment()
	cmd.Stderr = log
	return objects(cmd, script)
}

// SLEPc runs the embedded eigs_slepc.py on two MPI ranks and returns the JSON objects it
// prints. Without MPI or slepc4py it returns none and writes the reason to log.
func SLEPc(ctx context.Context, log io.Writer, args ...string) ([]map[string]any, error) {
	const script = "eigs_slepc.py"
	// A missing SLEPc is no fault: few machines have it.
	probe := exec.CommandContext(ctx, python, "-c", "import slepc4py, petsc4py")
	probe.Env = slepcEnvironment()
	if err := errors.Join(probe.Run(), lookMPI()); err != nil {
		fmt.Fprintf(log, "no SLEPc: %v; install the Debian packages named in bench/peers/%s\n", err, script)
		return nil, nil
	}
	return PETSc(ctx, log, 2, script, args...)
}

// mpirun starts the ranks.
const mpirun = "mpirun"

// lookMPI returns an error unless mpirun is there.
func lookMPI() error {
	_, err := exec.LookPath(mpirun)
	return err
}

// withoutAVX512 keeps OpenBLAS, NumPy, Numba and FAISS to AVX2.
var withoutAVX512 = []string{
	"OPENBLAS_CORETYPE=Haswell",
	"NPY_DISABLE_CPU_FEATURES=AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
	"NUMBA_CPU_NAME=haswell", "NUMBA_CPU_FEATURES=+avx2,+fma",
	"FAISS_OPT_LEVEL=avx2",
}

// limits returns the variables that keep peers to AVX2 if BIGFIT_SIMD=avx2 keeps us to it.
// Otherwise peers choose for themselves, and use AVX-512 where the machine has it.
func limits() []string {
	if simd.Path() == "avx2" {
		return withoutAVX512
	}
	return nil
}

// environment returns the environment of a peer.
func environment() []string { return append(os.Environ(), limits()...) }

// slepcEnvironment returns an environment in which Python finds the modules of SLEPc and
// PETSc.
func slepcEnvironment() []string {
	if os.Getenv("PETSC_DIR") != "" || os.Getenv("SLEPC_DIR") != "" {
		return environment()
	}
	return append(environment(), engine.DebianBuild(false)...)
}

// Self runs this program again with the given arguments and returns the JSON objects it
// prints. In a process of its own a measurement has a peak of memory of its own.
func Self(ctx context.Context, log io.Writer, args ...string) ([]map[string]any, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stderr = log
	return objects(cmd, "this program")
}

// objects runs a command and decodes the JSON objects it prints. name stands in errors.
func objects(cmd *exec.Cmd, name string) ([]map[string]any, error) {
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("peers: %s %s: %w", name, strings.Join(cmd.Args[1:], " "), err)
	}
	// Objects may follow each other without a comma: a stream, not a list.
	var rows []map[string]any
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var row map[string]any
		if err := dec.Decode(&row); errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return nil, fmt.Errorf("peers: the output of %s: %w", name, err)
		}
		rows = append(rows, row)
	}
}

// PeakBytes returns the largest resident memory of this process since it began, or 0 if the
// system does not tell. It does not use getrusage, because a process inherits the peak there
// from the process that started it.
func PeakBytes() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	// VmHWM is the high-water mark of the resident set.
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		return 0
	}
	return kib * 1024
}

// NewRow returns the measurement in an object: "peer", "seconds" and "peak_bytes", if it is
// there, become fields, and all other members go to More.
func NewRow(work string, object map[string]any) Row {
	r := Row{Work: work, More: map[string]any{}}
	for key, v := range object {
		switch key {
		case "peer":
			r.Program, _ = v.(string)
		case "seconds":
			r.Seconds, _ = v.(float64)
		case "peak_bytes":
			f, _ := v.(float64)
			r.PeakBytes = int64(f)
		default:
			r.More[key] = v
		}
	}

	return r
}

// Add adds measurements of work to rows. If a program has a row for the work already, the
// faster one stays.
func Add(rows []Row, work string, objects ...map[string]any) []Row {
	for _, object := range objects {
		row := NewRow(work, object)
		same := func(r Row) bool { return r.Work == row.Work && r.Program == row.Program }
		if i := slices.IndexFunc(rows, same); i < 0 {
			rows = append(rows, row)
		} else if row.Seconds < rows[i].Seconds {
			rows[i] = row
		}
	}
	return rows
}

// Save fills in the instructions in use and the ratios to the row of "bigfit" for the same
// work. Then it writes dir/name.json, a list of rows, and dir/name.md, a table of all rows and one
// of each work beside its fastest peer, and returns the text of the latter. Notes are paragraphs of
// Markdown below the tables.
func Save(dir, name, title string, rows []Row, notes ...string) (string, error) {
	ours := map[string]float64{}
	for _, r := range rows {
		if r.Program == "bigfit" {
			ours[r.Work] = r.Seconds
		}
	}

	// A comparison is fair only at equal instructions, so the table names them.
	path := simd.Path()
	limited := strings.Join(limits(), ", ")
	instructions := "bigfit uses its " + path + " path"
	if limited != "" {
		instructions += "; peers are kept from AVX-512 by " + limited
	}
	notes = append([]string{instructions + "."}, notes...)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n| work | program | seconds | × ours | peak memory | "+
		"|\n|---|---|---|---|---|---|\n", title)

	for i := range rows {
		r := &rows[i]
		// Our own rows have no ratio.
		ratio := ""
		if r.Instructions = limited; r.Program == "bigfit" {
			r.Instructions = path
		} else if t := ours[r.Work]; t > 0 {
			r.Ratio = r.Seconds / t
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}

		more, err := json.Marshal(r.More)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | `%s` |\n", r.Work, r.Program, duration(r.Seconds), ratio,
			gibibytes(r.PeakBytes), more)
	}

	b.WriteString("\n" + compared(rows))
	for _, note := range notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}

	// Both files are written whole or not at all.
	err := atomicfile.Atomically(filepath.Join(dir, name+".json"), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	})
	if err != nil {
		return "", err
	}
	return b.String(), atomicfile.Atomically(filepath.Join(dir, name+".md"), func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// compared returns a table with a row for each work that bigfit did: its time, memory and recall, and those of
// the peer that was fastest. A peer that is not exact has a recall, and is compared by both.
func compared(rows []Row) string {
	var b strings.Builder
	b.WriteString("| work | seconds | peak memory | fastest peer | × as long | its peak memory |\n|---|---|---|---|---|---|\n")
	for _, ours := range rows {
		if ours.Program != "bigfit" {
			continue
		}
		var peer Row
		for _, r := range rows {
			if r.Work == ours.Work && r.Program != "bigfit" && r.Seconds > 0 && (peer.Seconds == 0 || r.Seconds < peer.Seconds) {
				peer = r
			}
		}
		ratio := ""
		if peer.Seconds > 0 {
			ratio = strconv.FormatFloat(peer.Seconds/ours.Seconds, 'g', 3, 64)
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s%s | %s | %s |\n", ours.Work, recall(ours), duration(ours.Seconds),
			gibibytes(ours.PeakBytes), peer.Program, recall(peer), ratio, gibibytes(peer.PeakBytes))
	}
	return b.String()
}

// recall names the recall of a search that is not exact; others have none, or one of 1.
func recall(r Row) string {
	if share, ok := r.More["recall"].(float64); ok && share < 0.99995 {
		return fmt.Sprintf(", recall %.3f", share)
	}
	return ""
}

// gibibytes formats bytes; 0 stands for what is not known.
func gibibytes(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return fmt.Sprintf("%.2f GiB", float64(bytes)/(1<<30))
}

// duration formats seconds to the hundredth, and less than a second with three digits.
func duration(seconds float64) string {
	if seconds < 1 {
		return strconv.FormatFloat(seconds, 'g', 3, 64)
	}
	return strconv.FormatFloat(seconds, 'f', 2, 64)
}
