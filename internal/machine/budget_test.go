package machine

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// What is held counts with the stage; what was there before the run does not.
func TestBudget(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(garbage())
	const mib = 1 << 20
	before := make([]byte, 64*mib)
	var b Budget
	b.Begin()
	if b.String() != "" {
		t.Errorf("nothing is announced: %s", b.String())
	}
	total, fits := b.Announce(100*mib, 101*mib)
	if !fits || total < 100*mib+ProgramBytes || PeakMemory() < 124*mib && total > 102*mib+ProgramBytes {
		t.Errorf("%d bytes, fits %v", total, fits)
	}
	held := make([]byte, 30*mib)
	if _, fits := b.Announce(80*mib, 101*mib); fits {
		t.Error("80 MiB beside 30 MiB fit 101 MiB")
	}
	if _, fits := b.Announce(60*mib, 101*mib); !fits {
		t.Error("60 MiB beside 30 MiB do not fit 101 MiB")
	}
	if limit := debug.SetMemoryLimit(-1); limit > 101*mib+ProgramBytes {
		t.Errorf("the collector may keep %d bytes", limit)
	}
	if total, fits := b.Announce(math.MaxInt64-5, math.MaxInt64); fits || total != math.MaxInt64 {
		t.Errorf("as much as there is: %d bytes, fits %v", total, fits)
	}
	if now := garbage(); now != largeGarbage {
		t.Errorf("a large run collects at %d %% of garbage", now)
	}
	b.Begin()
	if _, fits := b.Announce(mib, 101*mib); !fits {
		t.Error("1 MiB does not fit")
	}
	if now := garbage(); now != smallGarbage {
		t.Errorf("a small run collects at %d %% of garbage", now)
	}
	if b.Unknown(); garbage() != largeGarbage {
		t.Errorf("a run of unknown size collects at %d %% of garbage", garbage())
	}
	if text := b.String(); !strings.Contains(text, " MiB announced") {
		t.Error(text)
	}
	runtime.KeepAlive(before)
	runtime.KeepAlive(held)
}

// garbage returns the share of garbage in percent at which the collector runs.
func garbage() int {
	now := debug.SetGCPercent(100)
	debug.SetGCPercent(now)
	return now
}
