package attack

import (
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/fixtures"
	"github.com/bigfit/bigfit/internal/testmode"
)

// Files whose arrays do not fit together, as another program could write them,
// give an error or a result but never a panic.
func TestDamagedArchives(t *testing.T) {
	testmode.Campaign(t)
	if testing.Short() {
		t.Skip("writes some hundred files")
	}
	intoBlobs(t)
	x, y := blobs(fixtures.BlobCount, 0)
	formats(t, x, y)
	succeed(t, "graph", "X.npy", "--weights", "heat")
	succeed(t, "eigs", "graph.npz", "-n", "10")
	succeed(t, "solve", "graph.npz", "--shift", "0.1", "--save-factor", "factor.npz")
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--pca", "3", "-o", "model.npz")
	succeed(t, "fit", "--model", "eigenmap", "-X", "csr.npz", "-y", "y.npy", "-o", "csrmodel.npz")
	tried := 0
	for file, lines := range map[string][]string{
		"graph.npz":    {"info damaged.npz", "eigs damaged.npz -n 5 -o out.npz", "graph damaged.npz -k 3 -o out.npz"},
		"factor.npz":   {"info damaged.npz", "solve graph.npz y.npy --shift 0.1 --factor damaged.npz -o out.npy"},
		"eigs.npz":     {"info damaged.npz", "fit --model eigenmap --eigs damaged.npz -y y.npy -o out.npz", "fit --model eigenmap --eigs damaged.npz --graph graph.npz -X X.npy -y y.npy -o out.npz"},
		"model.npz":    {"info damaged.npz", "predict damaged.npz -o out.npy --scores out2.npy", "predict damaged.npz -X new.npy --extension nystrom -o out.npy"},
		"csrmodel.npz": {"predict damaged.npz -o out.npy", "predict damaged.npz -X csr.npz -o out.npy"},
	} {
		fixtures.Damage(t, file, func(what string) {
			tried++
			for i, line := range lines {
				if !soak && (tried+i)%(3*len(lines)) != 0 {
					continue // a third of the damages is tried, with one command line each, in turn
				}
				o := bigfit(t, strings.Fields(line)...)
				if o.code != 0 && o.code != 2 || strings.Contains(o.stderr, "internal error") {
					t.Errorf("%s, %s: bigfit %s: exit code %d\n%.1500s", file, what, line, o.code, o.stderr)
				}
			}
		})
	}
}
