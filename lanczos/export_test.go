package lanczos

import "testing"

// ExpectLittleRounding makes the test take polynomials in single precision whose rounding then turns out to be too large.
func ExpectLittleRounding(t *testing.T) {
	before := narrowRounding
	narrowRounding = 1e-9
	t.Cleanup(func() { narrowRounding = before })
}
