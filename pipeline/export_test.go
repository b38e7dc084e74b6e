package pipeline

// SetAtOnce sets the time that an exact search takes at most to be made at once and
// returns the one before.
func SetAtOnce(seconds float64) (old float64) {
	old, atOnce = atOnce, seconds
	return old
}

// SetLongChoice sets the time from which on a choice of required values is announced in a line of its
// own and returns the one before.
func SetLongChoice(seconds float64) (old float64) {
	old, longChoice = longChoice, seconds
	return old
}
