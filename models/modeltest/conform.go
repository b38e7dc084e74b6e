package modeltest

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/models"
)

// Suite adapts [Conform] to a learner.
type Suite struct {
	// Values that make the learner fit: its required parameters, and others that
	// all checks are made with. The points have five coordinates from 0 to 120, in
	// three clusters about 40 apart with a standard deviation of 7.
	Values models.Values
	// Plain is the machine that a learner with the parameter gamma-i equals where
	// that is 0.
	Plain *Plain
	// Tolerances replace [DefaultTolerance], by the name of a check, and 0 for the
	// check "single", which compares bits without one.
	Tolerances map[string]Tolerance
	// Except gives the reasons for faults that are accepted, by the name of a check
	// or by check/place, as the messages name it. A reason that excuses no fault is
	// itself a fault.
	Except map[string]string
}

// Plain is a learner with values.
type Plain struct {
	Learner models.Learner
	Values  models.Values
}

// Tolerance bounds the differences between scores, relative to the largest one.
type Tolerance struct {
	Relative float64
	Reason   string
}

// DefaultTolerance bounds the differences in checks that compare answers by tolerance.
const DefaultTolerance = 1e-9

// checks in the order in which they run.
var checks = []struct {
	name string
	run  func(c *checker)
}{
	{"info", (*checker).checkInfo},
	{"params", (*checker).checkParams},
	{"faults", (*checker).checkFaults},
	{"defaults", (*checker).checkDefaults},
	{"learns", (*checker).checkLearns},
	{"refit", (*checker).checkRefit},
	{"threads", (*checker).checkThreads},
	{"permuted", (*checker).checkPermuted},
	{"types", (*checker).checkTypes},
	{"sparse", (*checker).checkSparse},
	{"duplicates", (*checker).checkDuplicates},
	{"few-points", (*checker).checkFewPoints},
	{"one-class", (*checker).checkOneClass},
	{"single-label", (*checker).checkSingleLabel},
	{"no-labels", (*checker).checkNoLabels},
	{"soft", (*checker).checkSoft},
	{"columns", (*checker).checkColumns},
	{"shifted", (*checker).checkShifted},
	{"nan", (*checker).checkNaN},
	{"missing", (*checker).checkMissing},
	{"plain", (*checker).checkPlain},
	{"values", (*checker).checkValues},
	{"file", (*checker).checkFile},
	{"damage", (*checker).checkDamage},
	{"manifest", (*checker).checkManifest},
	{"calibrated", (*checker).checkCalibrated},
	{"uncalibrated", (*checker).checkUncalibrated},
	{"output", (*checker).checkOutput},
	{"training", (*checker).checkTraining},
	{"graph-alone", (*checker).checkGraphAlone},
	{"update", (*checker).checkUpdate},
	{"single", (*checker).checkSingle},
	{"query", (*checker).checkQuery},
	{"settings", (*checker).checkSettings},
	{"concurrent", (*checker).checkConcurrent},
	{"progress", (*checker).checkProgress},
	{"cancel", (*checker).checkCancel},
	{"cost", (*checker).checkCost},
}

// Conform checks what the contract of [models.Learner] and [models.Model] promises,
// one subtest for each promise, for every kind of targets that the learner learns.
// It sets runtime.GOMAXPROCS, so neither it nor tests beside it may be parallel.
func Conform(t *testing.T, l models.Learner, s Suite) {
	t.Helper()
	for _, text := range s.faults() {
		t.Error(text)
	}

	// Values that the learner refuses would fail in all checks; one error is easier to read.
	if err := models.CheckValues(l.Params(), s.Values); err != nil {
		t.Fatalf("the values of the suite: %v", err)
	}
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			if check.name == "damage" {
				testmode.Skip(t, testmode.Race, "files are read without goroutines")
			}
			for _, text := range inspect(l, &s, check.name, t.TempDir()) {
				t.Error(text)
			}
		})
	}
}

// faults of the suite itself.
func (s *Suite) faults() []string {
	var out []string
	known := func(key string) bool {
		name, _, _ := strings.Cut(key, "/")
		return slices.ContainsFunc(checks, func(c struct {
			name string
			run  func(c *checker)
		}) bool {
			return c.name == name
		})
	}

	// A misspelt key would excuse nothing and would not be missed, so every key must name a check.
	for _, key := range slices.Sorted(maps.Keys(s.Except)) {
		if !known(key) || s.Except[key] == "" {
			out = append(out, fmt.Sprintf("the exception %q names no check or has no reason", key))
		}
	}

	for _, key := range slices.Sorted(maps.Keys(s.Tolerances)) {
		if !known(key) || s.Tolerances[key].Reason == "" {
			out = append(out, fmt.Sprintf("the tolerance %q names no check or has no reason", key))
		}
	}
	return out
}

// inspect runs one check and returns the faults that are not excepted, and the
// exceptions without a fault. Files are written to dir.
func inspect(l models.Learner, s *Suite, name, dir string) []string {
	c := &checker{l: l, info: l.Info(), s: s, name: name, dir: dir}
	for _, check := range checks {
		if check.name == name {
			c.try("", func() { check.run(c) })
		}
	}

	// An exception for the whole check comes before one for a place in it.
	used := map[string]bool{}
	told := map[string]bool{}
	var out []string
	for _, f := range c.faults {
		key := name + "/" + f.at
		if s.Except[name] != "" {
			key = name
		}
		if used[key] = s.Except[key] != ""; used[key] || told[key] {
			continue // the first fault of a place is enough
		}
		told[key] = true
		out = append(out, fmt.Sprintf("%s: %s", key, f.text))
	}

	// A fault that was mended leaves its exception behind, which would hide the next fault there.
	for _, key := range slices.Sorted(maps.Keys(s.Except)) {
		check, _, _ := strings.Cut(key, "/")
		// A sample of the damages may leave out the one that an exception is for.
		if sampled := name == "damage" && damageEvery > 1; check == name && !used[key] && !sampled {
			out = append(out, fmt.Sprintf("the exception %q (%s) is not needed", key, s.Except[key]))
		}
	}
	return out
}

// checker collects the faults of one check.
type checker struct {
	l      models.Learner
	info   models.Info
	s      *Suite
	name   string // of the check
	dir    string
	faults []fault
}

// fault is a broken promise: the place, as a kind of targets or an array, and what
// is wrong.
type fault struct{ at, text string }

func (c *checker) fault(at, format string, args ...any) {
	c.faults = append(c.faults, fault{at, fmt.Sprintf(format, args...)})
}

// stop ends the innermost try, after a fault that leaves nothing to check.
type stop struct{}

// try calls fn. A panic in it is a fault at the place.
func (c *checker) try(at string, fn func()) {
	defer func() {
		switch r := recover(); r.(type) {
		case nil, stop:
		default:
			c.fault(at, "panic: %v\n%s", r, panicked(string(debug.Stack())))
		}
	}()
	fn()
}

// panicked returns the part of a stack from the panic to the suite.
func panicked(stack string) string {
	if _, after, ok := strings.Cut(stack, "\npanic("); ok {
		stack = "panic(" + after
	}
	stack, _, _ = strings.Cut(stack, "\ngithub.com/bigfit/bigfit/models/modeltest.")
	return stack
}

// must stops after an error.
func (c *checker) must(at, what string, err error) {
	if err != nil {
		c.fault(at, "%s: %v", what, err)
		panic(stop{})
	}
}

// each calls fn for every kind of targets that the learner learns.
func (c *checker) each(fn func(k kind)) {
	for _, k := range kinds {
		if c.info.Learns.Has(k.learns) {
			c.try(k.name, func() { fn(k) })
		}
	}
}

// first calls fn for the first of them.
func (c *checker) first(fn func(k kind)) {
	for _, k := range kinds {
		if c.info.Learns.Has(k.learns) {
			c.try(k.name, func() { fn(k) })
			return
		}
	}
}

// tolerance of the check.
func (c *checker) tolerance() float64 {
	if t, ok := c.s.Tolerances[c.name]; ok {
		return t.Relative
	}
	return DefaultTolerance
}
