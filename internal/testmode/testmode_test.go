package testmode

import "testing"

func TestCount(t *testing.T) {
	defer func(text string) { soak = text }(soak)
	for _, c := range []struct {
		soak string
		want int
	}{{"", 3}, {"sample", 3}, {"all", 100}, {"1", 1}, {"17", 17}} {
		t.Run("BIGFIT_SOAK="+c.soak, func(t *testing.T) {
			soak = c.soak
			if got := Count(3, 100); got != c.want || Soak() != (c.soak != "" && c.soak != "sample") {
				t.Errorf("%d cases, want %d", got, c.want)
			}
		})
	}
}

func TestSkip(t *testing.T) {
	for name, m := range map[string]Mode{"race": Race, "purego": PureGo, "both": Race | PureGo} {
		ran := false
		t.Run(name, func(t *testing.T) {
			Skip(t, m, "this test looks at skipping")
			ran = true
		})
		if ran == In(m) {
			t.Errorf("%s: the test ran: %t", name, ran)
		}
	}
	if In(0) {
		t.Error("there is a mode in the empty set")
	}
}
