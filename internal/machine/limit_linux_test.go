package machine

import (
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A limit of the address space counts, without what is in use.
func TestAddressSpace(t *testing.T) {
	const child = "BIGFIT_TEST_ADDRESS_SPACE"
	if os.Getenv(child) != "" {
		limit := uint64(8 << 30)
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			t.Fatal(err)
		}
		t.Logf("left: %d %d", AvailableMemory(), AddressLimit())
		return
	}
	if AddressLimit() == math.MaxInt64 && addressSpace("/") != math.MaxInt64 {
		t.Errorf("%d bytes without a limit", addressSpace("/"))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAddressSpace$", "-test.v")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	_, text, _ := strings.Cut(string(out), "left: ")
	words := strings.Fields(text)
	if err != nil || len(words) < 2 || words[1] != strconv.Itoa(8<<30) {
		t.Fatalf("%v\n%s", err, out)
	}
	// The runtime has mapped some hundred MiB, most of them not in use.
	if left, _ := strconv.ParseInt(words[0], 10, 64); left < 1<<30 && left < availableUnder("/") || left > 8<<30-64<<20 {
		t.Errorf("%d bytes are left of 8 GiB", left)
	}
	page := int64(os.Getpagesize())
	if got := leaves(200<<20, strconv.FormatInt(36<<20/page, 10)); got != 100<<20 {
		t.Errorf("%d bytes", got)
	}
	if got := leaves(200<<20, strconv.FormatInt(300<<20/page, 10)); got != 0 {
		t.Errorf("%d bytes where nothing is left", got)
	}
}
