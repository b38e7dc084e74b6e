package progress

import "time"

// pace decides whether the part that is done allows an estimate of the time left. It does not
// while nothing advances, nor where the recent speed differs from the earlier one: in a stage of
// unequal parts (a search, then a factorization) the estimate would be far off.
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

// agreement is the largest ratio of the earlier and the recent speed at which an estimate is
// shown: the time left is then right within a factor of about two.
const agreement = 2

// patience is how long a stage may stand before its estimate is withdrawn.
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

	// A mark is set whenever the elapsed time has doubled; the older of the two splits the stage
	// into before and of late.
	if last := p.marks[1]; last.at.IsZero() || t.Sub(p.begun) >= 2*last.at.Sub(p.begun) {
		p.marks = [2]mark{last, {t, part}}
	}
}

// left returns the seconds that are left, and whether that is worth saying.
func (p *pace) left(t time.Time) (seconds float64, ok bool) {
	// A stage that has not moved for twice its longest gap may be stuck, and no estimate is right
	// then.
	elapsed := t.Sub(p.begun)
	if !(p.part > 0 && p.part < 1) || elapsed < etaAfter || t.Sub(p.advanced) > max(2*p.gap, patience) {
		return 0, false
	}
	// The speed is counted up to the last advance, not to now: between two advances the estimate
	// counts down evenly.
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
