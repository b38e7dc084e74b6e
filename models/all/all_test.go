package all

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		if l, err := Find(name); err != nil || l.Info().Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"lcg":         "did you mean lgc?",
		"lap-rls":     "did you mean laprls?",
		"eig":         "did you mean eigenmap?",
		"svx":         "did you mean svm or svr?",
		"transformer": "the models are auto, ",
		"":            `unknown model ""`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l, err := Find(name); l != nil || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// Pages of the documentation and bigfit models show the formula of every learner.
func TestFormulas(t *testing.T) {
	for _, l := range Learners {
		info := l.Info()
		if info.Formula == "" {
			t.Errorf("%s has no formula", info.Name)
		}
		for line := range strings.Lines(info.Formula) {
			if n := utf8.RuneCountInString(line); n > 120 {
				t.Errorf("%s has a formula of %d signs in a line: %s", info.Name, n, line)
			}
		}
	}
}
