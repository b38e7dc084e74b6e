// Package testmode tells a test how the tests are run: under the race detector, without
// assembly, as a sample of the campaigns or as the campaign of a night. A test that leaves itself out of a run, or
// tries a sample of its cases, says so in its own body and gives the reason there.
package testmode

import (
	"os"
	"strconv"
	"testing"
)

// Mode is a set of ways to build the tests.
type Mode uint

const (
	// Race is go test -race, which makes everything five to twenty times slower.
	Race Mode = 1 << iota
	// PureGo is go test -tags purego, which leaves the assembly out.
	PureGo
)

// built holds the modes that this program was built with.
const built = race | pureGo

// In reports whether the program was built with one of the modes.
func In(m Mode) bool { return built&m != 0 }

// Skip skips the test if the program was built with one of the modes. The reason says which
// other test covers what the mode is for.
func Skip(t testing.TB, m Mode, why string) {
	t.Helper()
	if In(m) {
		t.Skip(why)
	}
}

// soak is BIGFIT_SOAK as the program found it: tests clear the environment later.
var soak = os.Getenv("BIGFIT_SOAK")

// sample is the BIGFIT_SOAK that runs a sample of every campaign, as CI does.
const sample = "sample"

// Campaign skips a test that treats the built program badly for many seconds, unless BIGFIT_SOAK
// asks for campaigns: "sample" for some cases of each, anything else for all.
func Campaign(t testing.TB) {
	t.Helper()
	if soak == "" {
		t.Skip("a campaign: BIGFIT_SOAK=sample runs some of its cases, as .ci/run does, and BIGFIT_SOAK=all every one")
	}
}

// Campaigns reports whether BIGFIT_SOAK asks for campaigns, a sample of each or all of it. A test that
// tries many cases of one kind takes some of them otherwise.
func Campaigns() bool { return soak != "" }

// Soak reports whether BIGFIT_SOAK asks for whole campaigns in place of samples.
func Soak() bool { return soak != "" && soak != sample }

// Count returns the number of cases that a campaign tries: whole if BIGFIT_SOAK asks for whole
// campaigns, BIGFIT_SOAK itself if it is a number, and otherwise few.
func Count(few, whole int) int {
	if n, err := strconv.Atoi(soak); err == nil && n > 0 {
		return n
	}
	if Soak() {
		return whole
	}
	return few
}

// first is BIGFIT_SOAK_FIRST as the program found it.
var first, _ = strconv.Atoi(os.Getenv("BIGFIT_SOAK_FIRST"))

// First returns the first seed of a campaign, BIGFIT_SOAK_FIRST or 0, so that one case can
// be tried again.
func First() int { return first }
