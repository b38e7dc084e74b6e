package attack

import (
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/fixtures"
)

// What these tests and the attacks on the program share.
var (
	must       = fixtures.Must
	exists     = fixtures.Exists
	listing    = fixtures.Listing
	readFile   = fixtures.ReadFile
	writeFile  = fixtures.WriteFile
	blobs      = fixtures.Blobs
	intoBlobs  = fixtures.IntoBlobs
	formats    = fixtures.Formats
	intoWide   = fixtures.IntoWide
	ringGraph  = fixtures.RingGraph
	sparseFile = fixtures.SparseFile
	spider     = fixtures.Spider
)

func intoMoons(t *testing.T) { t.Helper(); fixtures.IntoMoons(t, succeed) }
