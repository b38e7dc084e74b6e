package machine

import "testing"

// Few operations are not worth a measurement of the machine, and more take longer.
func TestSeconds(t *testing.T) {
	if got := Seconds(1e7); got != 0.01 {
		t.Errorf("10⁷ operations: %v s, want 0.01", got)
	}
	if few, many := Seconds(1e11), Seconds(1e13); !(few > 0 && many > 99*few && many < 101*few) {
		t.Errorf("10¹¹ and 10¹³ operations: %v and %v s", few, many)
	}
}
