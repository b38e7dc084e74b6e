//go:build race

package lanczos_test

// raceEnabled says that the race detector, which makes everything many times
// slower, is on: the largest cases are left out then.
const raceEnabled = true
