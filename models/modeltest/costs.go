package modeltest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/models"
)

// The announced bytes may exceed those measured by this factor and this much.
const (
	costFactor = 1.5
	costSlack  = 32 << 20
)

// costRuntime bounds the growth of resident memory without an allocation of a fit: the stacks and
// spans of the Go runtime, in pages. The growth varies between equal runs by some tens of KiB, as much
// as a small fit takes.
const costRuntime = 256 << 10

// costProcess is the variable that makes the test binary a process in which one
// fit is measured; its value names the fit.
const costProcess = "BIGFIT_TEST_COST"

// Costs compares the bytes that l announces with those that its fits take, for
// each number of points: announced ≥ measured − 256 KiB, which the runtime takes, and
// announced ≤ 1.5·measured + 32 MiB. The points are drawn as in [Conform], and a seventh of them has a
// target of the first kind that l learns.
//
// Each fit runs in a process of its own, which is the test binary with the calling
// test alone: what the test does before Costs is done there too. The growth of the
// peak of resident memory is read from Linux's /proc; elsewhere the test is
// skipped. As in the command, the collector's percentage is 40.
func Costs(t *testing.T, l models.Learner, v models.Values, sizes ...int) {
	t.Helper()
	testmode.Skip(t, testmode.Race, "the race detector takes memory of its own")
	for _, n := range sizes {
		id := costID(l, v, n)

		// In the process that measures, the fit of the same name runs and ends it; the others
		// pass.
		switch os.Getenv(costProcess) {
		case id:
			measureHere(l, v, n)
		case "":
			announced, measured, err := measure(t.Name(), id)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if measured < 0 {
				t.Skip("the peak of memory can be measured on Linux only, where " +
					"/proc/self/clear_refs can be written")
			}
			t.Logf("%s: announced %.2f MiB, measured %.2f MiB", id, float64(announced)/(1<<20),
				float64(measured)/(1<<20))

			// How early the collector runs is chance, and so is the peak: the largest of
			// three decides whether too much was announced.
			for range 2 {
				if measured < announced && costFault(announced, measured) != "" {
					_, again, err := measure(t.Name(), id)
					if err != nil {
						t.Fatalf("%s: %v", id, err)
					}
					measured = max(measured, again)
				}
			}

			if text := costFault(announced, measured); text != "" {
				t.Errorf("%s: %s", id, text)
			}
		}
	}
}

// costID names a fit.
func costID(l models.Learner, v models.Values, n int) string {
	return fmt.Sprintf("%s %d %s", l.Info().Name, n, v)
}

// costFault says which bound does not hold, or returns "".
func costFault(announced, measured int64) string {
	switch {
	case announced < measured-costRuntime:
		return fmt.Sprintf("%d bytes are announced, %d more were taken", announced, measured-announced)
	case float64(announced) > costFactor*float64(measured)+costSlack:
		return fmt.Sprintf("%d bytes are announced, but %d taken", announced, measured)
	}
	return ""
}

// measure runs the test called name in a process of its own. The measured bytes
// are negative where the system cannot tell.
func measure(name, id string) (announced, measured int64, err error) {
	var parts []string
	for _, part := range strings.Split(name, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}

	// The name selects the calling test and its subtests, each part of it exactly.
	cmd := exec.Command(os.Args[0], "-test.run="+strings.Join(parts, "/"), "-test.count=1")
	cmd.Env = append(os.Environ(), costProcess+"="+id)
	out, err := cmd.CombinedOutput()
	_, line, found := strings.Cut(string(out), costProcess+" ")
	if err == nil && found {
		_, err = fmt.Sscan(line, &announced, &measured)
	}
	if err != nil || !found {
		return 0, 0, fmt.Errorf("the process that measures: %v\n%s", err, out)
	}
	return announced, measured, nil
}

// measureHere fits, prints the announced and the measured bytes, and ends the
// process.
func measureHere(l models.Learner, v models.Values, n int) {
	announced, measured, err := measureFit(l, v, n)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(costProcess, announced, measured)
	os.Exit(0)
}

func measureFit(l models.Learner, v models.Values, n int) (announced, measured int64, err error) {
	debug.SetGCPercent(40)
	var k kind
	for _, k = range kinds {
		if l.Info().Learns.Has(k.learns) {
			break
		}
	}

	// A small fit first: the pages of the program count as memory too.
	for _, size := range []int{min(n, sampleSize), n} {
		in, err := input(l, blobs(size, false, 1), k, v)
		if err != nil {
			return 0, 0, err
		}
		cost, err := l.Cost(in)
		if err != nil {
			return 0, 0, err
		}

		// The peak counts from here on, with the input in memory, which the cost does not contain.
		before, ok := resetPeak()
		m, err := l.Fit(context.Background(), in)
		if err := unusable(err); err != nil {
			return 0, 0, err
		}

		after, also := peak()
		runtime.KeepAlive(in)
		runtime.KeepAlive(m)
		if announced, measured = cost.Bytes, after-before; !ok || !also {
			measured = -1
		}
	}

	return announced, measured, nil
}

// resetPeak makes the resident memory of now the peak and returns it.
func resetPeak() (int64, bool) {
	runtime.GC()
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		return 0, false
	}
	return peak()
}

// peak returns the largest resident memory, in bytes.
func peak() (int64, bool) {
	status, err := os.ReadFile("/proc/self/status")
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	if err != nil || !found {
		return 0, false
	}
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kib << 10, err == nil
}
