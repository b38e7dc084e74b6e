package all

import (
	"strings"
	"testing"
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
