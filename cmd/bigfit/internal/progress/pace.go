package progress

import "time"

// pace decides whether the time that is left can be told from the part that is done. It
// cannot while nothing advances, nor where the speed of late is not that of before:
// stages of unequal parts (a search, then a factorization) would be off by far.
type pace struct {
	begun    time.Time
	part     float64       // done, of 1
	advanced time.Time     // when part last grew
	gap      time.Duration // the longest between two advances
	marks    [2]mark       // where the stage was after a half to a quarter of its time, and before
}

// mark is how far a stage was.
type mark struct {
	at   time.Time
	part float64
}

// agreement is how far the speeds of before and of late may be apart.
const agreement = 2

// patience is how long a stage may stand without being called stuck.
const patience = 2 * time.Second

// advance notes that a part is done at t.
func (p *pace) advance(t time.Time, part float64) {
	if p.advanced.IsZero() {
		p.advanced = p.begun
	}
	if part > p.part {
		p.gap = max(p.gap, t.Sub(p.advanced))
		p.part = part
		p.advanced = t
	}

	if last := p.marks[1]; last.at.IsZero() || t.Sub(p.begun) >= 2*last.at.Sub(p.begun) {
		p.marks = [2]mark{last, {t, part}}
	}
}

// left returns the seconds that are left, and whether that is worth saying.
func (p *pace) left(t time.Time) (seconds float64, ok bool) {
	elapsed := t.Sub(p.begun)
	if !(p.part > 0 && p.part < 1) || elapsed < etaAfter || t.Sub(p.advanced) > max(2*p.gap, patience) {
		return 0, false
	}
	speed := p.part / p.advanced.Sub(p.begun).Seconds()
	if m := p.marks[0]; p.advanced.After(m.at) && !m.at.IsZero() {
		late := (p.part - m.part) / p.advanced.Sub(m.at).Seconds()
		if late*agreement < speed || late > agreement*speed {
			return 0, false
		}
	}

	seconds = max(1, (1-p.part)/speed-t.Sub(p.advanced).Seconds())
	return seconds, seconds < 1e7
}
