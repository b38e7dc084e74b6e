package pipeline

// SetAtOnce sets the time that an exact search takes at most to be made at once and
// returns the one before.
func SetAtOnce(seconds float64) (old float64) {
	old, atOnce = atOnce, seconds
	return old
}
