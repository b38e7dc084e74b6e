package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bigfit/bigfit/param"
)

// event is a message of a worker: a line of JSON behind the word "bigfit:".
type event struct {
	Event string `json:"event"` // begun, progress, result, error or missing
	// For progress: how far it is.
	Iteration int `json:"iteration"`
	Converged int `json:"converged"`
	Wanted    int `json:"wanted"`
	// For error and missing: where, what and the end of the trace.
	Rank  int      `json:"rank"`
	Host  string   `json:"host"`
	Error string   `json:"error"`
	Trace []string `json:"trace"`
}

// eventMark begins an event in a line.
const eventMark = "bigfit: {"

// run is a worker that runs.
type run struct {
	kind   Kind
	task   *task
	on     func(event)
	mutex  sync.Mutex
	result json.RawMessage
	failed *event
	fail   func()   // ends the run soon
	words  []string // last lines of the launcher and of what the ranks write
}

// A RankError says which rank ended a run and why.
type RankError struct {
	Engine Kind
	Rank   int    // −1 where it is not known
	Host   string // "" where it is not known
	Why    string
	Last   string // last words of the rank
}

func (e *RankError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "engine %s: ", e.Engine)
	if e.Rank < 0 {
		b.WriteString("the run ended")
	} else {
		fmt.Fprintf(&b, "rank %d", e.Rank)
		if e.Host != "" {
			fmt.Fprintf(&b, " on %s", e.Host)
		}
		b.WriteString(" ended the run")
	}

	fmt.Fprintf(&b, ": %s", e.Why)
	if e.Last != "" {
		fmt.Fprintf(&b, "; its last words: %s", e.Last)
	}
	return b.String()
}

// A RunError says that a run could not be prepared, or that its result could not be read: the
// fault is of the machine or of the engine, and not of the input.
type RunError struct {
	Engine Kind
	Err    error
}

func (e *RunError) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e *RunError) Unwrap() error { return e.Err }

// Grace that a launcher has to end its ranks, and then itself.
const (
	graceAfterError = 5 * time.Second
	graceAfterStop  = 3 * time.Second
)

// StopTime is how long a run may take to end after its context: the launcher has its grace, and the
// folder of the task is removed after it.
const StopTime = graceAfterStop + time.Second

// worker is a program for ranks and its task.
type worker struct {
	kind     Kind
	python   *python
	task     *task
	settings any         // of the task, written as JSON
	on       func(event) // is told about progress
}

// launch runs a worker and returns its result.
func (s *Settings) launch(ctx context.Context, w *worker) (json.RawMessage, error) {
	k := w.kind
	p := w.python
	t := w.task
	text, err := json.Marshal(w.settings)
	if err == nil {
		err = os.WriteFile(t.path("job.json"), text, 0o644)
	}
	if err == nil {
		err = os.WriteFile(t.path("worker.py"), []byte(Worker(k)), 0o644)
	}
	if err != nil {
		return nil, &RunError{k, fmt.Errorf("engine: cannot write the task: %w", err)}
	}

	command := append(s.command(), p.path, "-u", t.path("worker.py"), t.folder)
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, &MissingError{k, "the launcher " + command[0], "the path",
			fmt.Sprintf("install it (mpirun is in Debian's openmpi-bin) or name another by %s",
				param.Name("launcher"))}
	}
	caller := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()

	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), p.env...)

	// Ranks take the place of threads.
	for _, v := range []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"} {
		if os.Getenv(v) == "" {
			cmd.Env = append(cmd.Env, v+"=1")
		}
	}

	// Open MPI asks root for both variables.
	if os.Geteuid() == 0 {
		cmd.Env = append(cmd.Env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}

	// Launchers end their ranks on SIGTERM. A rank that failed leaves the launcher a moment to say
	// more before the run is stopped.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = graceAfterStop
	r := &run{kind: k, task: t, on: w.on,
		fail: sync.OnceFunc(func() { time.AfterFunc(graceAfterError, stop) })}

	// Lines of both are read by one function at a time.
	cmd.Stdout = &lines{use: r.line}
	cmd.Stderr = &lines{use: r.line}
	isolate(cmd)

	// In Linux the launcher ends with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	raw, err := r.outcome(caller, cmd.Run())
	if err != nil && r.failed == nil && caller.Err() == nil {
		// No rank could tell why: perhaps Python or a module is missing.
		err = cmp.Or(p.check(caller, k), err)
	}
	return raw, err
}

// lines is a writer that calls use for every line that is written to it.
type lines struct {
	use  func(string)
	rest []byte
}

// mostLine bounds the bytes of a line that are kept.
const mostLine = 1 << 20

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		at := bytes.IndexByte(l.rest, '\n')
		if at < 0 {
			if len(l.rest) > mostLine {
				l.rest = l.rest[:0]
			}
			return len(b), nil
		}
		l.use(string(l.rest[:at]))
		l.rest = l.rest[at+1:]
	}
}

// mostWords bounds the lines that are kept for an error.
const mostWords = 60

// line takes a line that a rank or the launcher wrote: an event, or words that may explain an error
// later.
func (r *run) line(text string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	at := strings.Index(text, eventMark)
	if at < 0 {
		if strings.TrimSpace(text) != "" {
			r.words = append(r.words, text)
			r.words = r.words[max(0, len(r.words)-mostWords):]
		}
		return
	}

	// Launchers put words in front of the lines of ranks, so an event may begin anywhere.
	raw := text[at+len(eventMark)-1:]
	var e event
	if json.Unmarshal([]byte(raw), &e) != nil {
		return
	}

	switch e.Event {
	case "result":
		r.result = json.RawMessage(raw)
	case "error", "missing":
		if r.failed == nil {
			r.failed = &e
		}
		r.fail()
	default:
		if r.on != nil {
			r.on(e)
		}
	}
}

// outcome returns the result, or else the error that explains most: a cancellation, the message of
// a rank, the launcher's sentence about a rank that died, or its last words.
func (r *run) outcome(ctx context.Context, err error) (json.RawMessage, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case r.failed != nil && r.failed.Event == "missing":
		return nil, &MissingError{Engine: r.kind, What: "the Python module in “" + r.failed.Error + "”",
			Where: "the interpreter of rank " + strconv.Itoa(r.failed.Rank) + " on " + r.failed.Host}
	case r.failed != nil:
		return nil, &RankError{r.kind, r.failed.Rank, r.failed.Host, r.failed.Error,
			r.task.lastWords(r.failed.Rank)}
	case err == nil && r.result != nil:
		return r.result, nil
	}

	// No rank told anything: a rank may have been killed.
	dead := r.dead()
	if dead == nil {
		dead = r.logged()
	}
	if dead == nil {
		dead = &RankError{Engine: r.kind, Rank: -1, Why: "the launcher ended without a result"}
		if err != nil {
			dead.Why = "the launcher: " + err.Error()
		}
	}

	if dead.Last == "" {
		dead.Last = strings.Join(r.words[max(0, len(r.words)-5):], " / ")
	}
	if slices.ContainsFunc(r.words, noPMI.MatchString) {
		dead.Why += "; " + howPMI
	}
	return nil, dead
}

// noPMI matches the messages of Open MPI and Slurm where srun starts ranks that do not find each
// other.
var noPMI = regexp.MustCompile(`OMPI was not built with SLURM's PMI|can not load PMIx library|` +
	`Invalid MPI type 'pmix`)

// howPMI is the remedy.
var howPMI = fmt.Sprintf("Open MPI under srun needs Slurm's PMIx: %[1]s \"srun --mpi=pmix\", on Debian "+
	"with libpmix-dev on all nodes; or leave %[1]s out, within a job of salloc or sbatch",
	param.Name("launcher"))

// deaths match the messages of launchers about a rank that died: of Open MPI, MPICH and Slurm.
// Groups are named rank, host and why.
var deaths = []*regexp.Regexp{
	regexp.MustCompile(`process rank (?P<rank>[0-9]+) with PID [0-9]+ on node (?P<host>\S+) ` +
		`(?P<why>exited on signal [0-9]+ \([^)]*\))`),
	regexp.MustCompile(`RANK (?P<rank>[0-9]+) PID [0-9]+ RUNNING AT (?P<host>\S+)`),
	regexp.MustCompile(`Process name: \[\[[0-9]+,[0-9]+\],(?P<rank>[0-9]+)\]`),
	regexp.MustCompile(`srun: error: (?P<host>\S+): tasks? (?P<rank>[0-9]+)[-0-9,]*: (?P<why>.+)`),
}

// dead looks for a rank that died in the words of the launcher.
func (r *run) dead() *RankError {
	for _, text := range r.words {
		for _, re := range deaths {
			m := re.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			rank, _ := strconv.Atoi(m[re.SubexpIndex("rank")])
			e := &RankError{Engine: r.kind, Rank: rank, Why: "it ended with an error"}
			if at := re.SubexpIndex("host"); at >= 0 {
				e.Host = m[at]
			}
			if at := re.SubexpIndex("why"); at >= 0 {
				e.Why = m[at]
			}
			if strings.Contains(e.Why, "signal 9") || strings.Contains(e.Why, "Killed") {
				e.Why += ", killed by somebody or for want of memory: more ranks on more hosts take less each"
			}
			e.Last = r.task.lastWords(rank)
			return e
		}
	}

	return nil
}

// logged looks for an error in the logs of the ranks; nil if there is none. A launcher that ends
// its ranks may lose what the ranks wrote last, but the logs are files of the task.
func (r *run) logged() *RankError {
	const mark = " s: error: "
	for rank := range r.task.ranks() {
		words := r.task.lastWords(rank)
		if at := strings.Index(words, mark); at >= 0 {
			return &RankError{Engine: r.kind, Rank: rank, Why: words[at+len(mark):], Last: words}
		}
	}
	return nil
}

// ranks returns a number above that of every rank that left a log.
func (t *task) ranks() int {
	logs, _ := filepath.Glob(t.path("rank-*.log"))
	most := 0
	for _, path := range logs {
		rank, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "rank-"), ".log"))
		if err == nil {
			most = max(most, rank+1)
		}
	}
	return most
}

// lastWords returns the last line of the log of a rank, "" if it left none.
func (t *task) lastWords(rank int) string {
	text, err := os.ReadFile(t.path(fmt.Sprintf("rank-%d.log", rank)))
	if err != nil {
		return ""
	}
	return last(string(text))
}
