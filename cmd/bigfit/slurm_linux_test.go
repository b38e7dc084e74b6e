package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
)

// slurmConf is the configuration of a cluster of one node: authentication and cgroups are left
// out, and the node has 64 processors and 100 GB whatever the machine has.
const slurmConf = `ClusterName=bigfit
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=%[2]s
SlurmdUser=%[2]s
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1,sched_min_interval=0
ReturnToService=2
MailProg=/bin/true
StateSaveLocation=%[5]s/state
SlurmdSpoolDir=%[5]s/spool
TmpFS=%[5]s
SlurmctldPidFile=%[5]s/slurmctld.pid
SlurmdPidFile=%[5]s/slurmd.pid
SlurmctldLogFile=%[5]s/slurmctld.log
SlurmdLogFile=%[5]s/slurmd.log
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=64 RealMemory=100000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// startSlurm runs a Slurm of its own on this machine until the test ends. The test skips where
// Slurm is not installed, or does not start.
func startSlurm(t *testing.T) {
	t.Helper()
	for _, name := range []string{"sbatch", "srun", "slurmctld", "slurmd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed (Debian: slurm-wlm)", name)
		}
	}
	for _, v := range os.Environ() { // of a job that this test may run in
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "SLURM") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"state", "spool"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	host, err := os.Hostname()
	must(t, err)
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	must(t, err)
	conf := filepath.Join(dir, "slurm.conf")
	writeFile(t, conf, fmt.Appendf(nil, slurmConf, host, me.Username, freePort(t), freePort(t), dir))
	writeFile(t, filepath.Join(dir, "cgroup.conf"), []byte("CgroupAutomount=no\n"))
	t.Setenv("SLURM_CONF", conf)
	stops := []func(){daemon(t, "slurmctld", "-D"), daemon(t, "slurmd", "-D")}
	t.Cleanup(func() {
		_ = limited("scancel", "--user", me.Username).Run()
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if out, err := limited("squeue", "-h").Output(); err != nil || len(out) == 0 {
				break
			}
		}
		slices.Reverse(stops)
		for _, stop := range stops {
			stop()
		}
		survivors(t, "SLURM_CONF="+conf)
	})
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if out, _ := limited("sinfo", "-h", "-o", "%t").Output(); strings.TrimSpace(string(out)) == "idle" {
			return
		}
		if time.Now().After(end) {
			var logs []string
			for _, name := range []string{"slurmctld.log", "slurmd.log"} {
				text, _ := os.ReadFile(filepath.Join(dir, name))
				logs = append(logs, string(text[max(0, len(text)-2000):]))
			}
			t.Skipf("Slurm does not start here:\n%s", strings.Join(logs, "\n"))
		}
	}
}

// freePort returns a port that nobody listens to.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// limited is a command that is ended after a minute.
func limited(name string, args ...string) *exec.Cmd {
	return exec.Command("timeout", append([]string{"-k", "5", "60", name}, args...)...)
}

// daemon starts a process that ends with this one, and returns what ends it.
func daemon(t *testing.T, name string, args ...string) (stop func()) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan bool)
	go func() {
		runtime.LockOSThread() // the signal comes when the thread ends
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}()
	must(t, <-started)
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	}
}

// survivors kills processes with a variable in their environment, and fails for those that do not
// end by themselves within two seconds.
func survivors(t *testing.T, variable string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var found []int
		names, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(variable+"\x00")) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
				found = append(found, pid)
			}
		}
		if len(found) == 0 {
			return
		}
		if time.Now().After(end) {
			for _, pid := range found {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				t.Errorf("process %d goes on: %q", pid, line)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
	}
}

// shellLine runs a command line, which must end well, and returns its stdout.
func shellLine(t *testing.T, line string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := limited("sh", "-c", line)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", line, err, out, stderr.String())
	}
	return string(out)
}

// jobsEnd waits until no job is queued or runs.
func jobsEnd(t *testing.T) {
	t.Helper()
	var out []byte
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var err error
		out, err = limited("squeue", "-h", "-o", "%i %j %T %r").Output()
		must(t, err)
		if len(out) == 0 {
			return
		}
	}
	t.Fatalf("after a minute there are jobs:\n%s%s", out, jobOutputs(t))
}

// jobOutputs returns what jobs wrote.
func jobOutputs(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	names, err := filepath.Glob("slurm-*.out")
	must(t, err)
	for _, name := range names {
		fmt.Fprintf(&b, "%s:\n%s\n", name, readFile(t, name))
	}
	return b.String()
}

// intoSlurm goes to a folder of points, in one file and in three, with labels, and puts a bigfit
// in front of the path. Of the graph in the folder W part 2 is killed the first time, while it
// writes.
func intoSlurm(t *testing.T) {
	t.Helper()
	intoParted(t)
	x := synthetic.Manifold(partedPoints, 16, 4, 0.01, 1).Data
	y := make([]int64, partedPoints)
	for i := range y {
		if y[i] = -1; i%40 == 0 {
			y[i] = int64(i / 40 % 2)
		}
	}
	must(t, npy.WriteFile("y.npy", nil, y))
	for k := range 3 {
		rows := partedPoints / 3
		must(t, npy.WriteFile(fmt.Sprintf("x%d.npy", k), []int{rows, 16}, x[k*rows*16:(k+1)*rows*16]))
	}
	self, err := os.Executable()
	must(t, err)
	must(t, os.Mkdir("bin", 0o777))
	writeFile(t, "bin/bigfit", fmt.Appendf(nil, `#!/bin/sh
at=never
case "$SLURM_ARRAY_TASK_ID $*" in "2 graph --work "*"/W --part env") mkdir killed 2>/dev/null && at="before 4";; esac
%s=$at exec %q "$@"
`, killVariable, self))
	must(t, os.Chmod("bin/bigfit", 0o755))
	bin, err := filepath.Abs("bin")
	must(t, err)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	asRoot(t)
}

// Job arrays of graphs, fits and answers under a Slurm: a task that is killed cancels what is
// behind it and is repeated alone, ranks of srun and of mpirun within a job share the parts.
func TestSlurm(t *testing.T) {
	testmode.Campaign(t)
	if testing.Short() {
		t.Skip("starts a Slurm")
	}
	startSlurm(t)
	intoSlurm(t)
	script := succeed(t, words("graph %s --work W -o got.npz --print-script slurm -q", parted)...)
	writeFile(t, "graph.sh", []byte(script))
	fit := "fit --model laprls-linear X.npy y.npy --graph want.npz --gamma-a 0.01 --gamma-i 0.001 --parts 3 "
	writeFile(t, "fit.sh", []byte(succeed(t, strings.Fields(fit+"--work sums -o m.npz --print-script slurm")...)))
	shellLine(t, "sh graph.sh && sh fit.sh")
	succeed(t, strings.Fields(fit+"--work once-sums -o want-m.npz")...)
	succeed(t, words("predict want-m.npz X.npy -o want.npy")...)
	jobsEnd(t)

	if !exists("killed") || exists("got.npz") {
		t.Errorf("no task was killed, or the merge was not cancelled:\n%s", jobOutputs(t))
	}
	shellLine(t, "bigfit diff m.npz want-m.npz")
	_, command, _ := strings.Cut(script, "PARTS=")
	command, _, _ = strings.Cut(command, " sh ")
	if out := shellLine(t, "echo "+command); out != "2\n" {
		t.Errorf("%s says %q are missing", command, out)
	}
	before, err := filepath.Glob("slurm-*_*.out")
	must(t, err)
	shellLine(t, "PARTS="+command+" sh graph.sh")
	shellLine(t, "mkdir answers && sbatch --array=0-2 --wrap \"bigfit predict m.npz 'x?.npy' --part env -o 'answers/{part}.npy'\"")
	for _, work := range []string{"ranks", "job", "mpirun"} {
		succeed(t, words("graph %s --work %s --divide -q", parted, work)...)
	}
	_, err = exec.LookPath("mpirun")
	mpi := err == nil
	if mpi {
		writeFile(t, "mpirun.sh", []byte(succeed(t, words("graph --work mpirun -o mpirun.npz --print-script mpirun")...)))
		shellLine(t, `sbatch -n 2 --wrap "mpirun -n 2 bigfit graph --work job --part env"; RANKS=2 sbatch -n 2 mpirun.sh`)
	}
	shellLine(t, "srun -n 4 bigfit graph --work ranks --part env && bigfit graph --work ranks --merge -o ranks.npz")
	jobsEnd(t)
	after, err := filepath.Glob("slurm-*_*.out")
	must(t, err)
	if len(before) != 5+3 || len(after) != len(before)+1+3 {
		t.Errorf("%d tasks, then %d more:\n%s", len(before), len(after)-len(before), jobOutputs(t))
	}
	same(t, "job array", "got.npz")
	same(t, "srun", "ranks.npz")
	if mpi {
		succeed(t, words("graph --work job --merge -o job.npz -q")...)
		same(t, "mpirun in a job", "job.npz")
		same(t, "the script for mpirun in a job", "mpirun.npz")
	}
	want := readFile(t, "want.npy")
	var got []byte
	if !exists("answers/00002.npy") {
		t.Fatal(jobOutputs(t))
	}
	for k := range 3 {
		answers := readFile(t, fmt.Sprintf("answers/%05d.npy", k))
		got = append(got, answers[len(answers)-8*partedPoints/3:]...)
	}
	if !bytes.Equal(got, want[len(want)-8*partedPoints:]) {
		t.Error("the answers of the tasks are not those of one machine")
	}
	t.Run("engine", slepcInSlurm)
}

// slepcInSlurm finds eigenpairs by ranks that Slurm starts: by srun with PMIx, which plain srun
// says to take, and by mpirun within a job.
func slepcInSlurm(t *testing.T) {
	succeed(t, words("eigs want.npz -n 6 --tolerance 1e-9 -o want-e.npz -q")...)
	const line = "bigfit eigs want.npz -n 6 --tolerance 1e-9 --engine slepc --ranks 2 -o e.npz "
	for _, c := range []struct{ line, fault string }{
		{line + "--launcher srun", `--launcher "srun --mpi=pmix"`},
		{line + "--launcher 'srun --mpi=pmix'", ""},
		{"salloc -n 2 " + line, ""},
	} {
		out, err := limited("sh", "-c", c.line).CombinedOutput()
		text := string(out)
		switch {
		case strings.Contains(text, "apt install python3-slepc4py"):
			t.Skip(text)
		case strings.Contains(text, "can not load PMIx library"): // libpmix-dev is not installed
			c.fault = "libpmix-dev"
		}
		if (err == nil) != (c.fault == "") || !strings.Contains(text, c.fault) {
			t.Errorf("%s: %v\n%s", c.line, err, text)
		}
		if err != nil {
			continue
		}
		told := bigfit(t, "diff", "e.npz", "want-e.npz").out
		_, angle, _ := strings.Cut(told, "the largest angle between the spaces is ")
		angle, _, _ = strings.Cut(angle, "\n")
		if a, err := strconv.ParseFloat(angle, 64); err != nil || !(a <= 1e-7) || !strings.Contains(told, "2 ranks") {
			t.Errorf("%s: %v\n%s", c.line, err, told)
		}
		must(t, os.Remove("e.npz"))
	}
}
