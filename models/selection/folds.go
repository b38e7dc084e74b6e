package selection

import (
	"github.com/bigfit/bigfit/internal/enum"
)

// String returns the name used on the command line and in reports.
func (c Criterion) String() string { return enum.String(criterionNames, c) }

// MarshalText returns the name.
func (c Criterion) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (c *Criterion) UnmarshalText(text []byte) error {
	return enum.Set(c, criterionNames, "metric", text)
}

// Larger tells whether larger values are the better ones.
func (c Criterion) Larger() bool { return c >= F1Criterion }
