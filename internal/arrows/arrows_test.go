// Package arrows holds the test that imports run in one direction only.
package arrows

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bigfit/bigfit/"

// order lists the packages; one may import only those that stand before it.
// ARCHITECTURE.md says what lives where.
var order = []string{
	"param",
	"internal/par",
	"internal/simd",
	"internal/dense",
	"internal/enum",
	"internal/manifest",
	"internal/mapped",
	"internal/machine",
	"internal/supervise",
	"internal/npy",
	"internal/numbers",
	"internal/table",
	"internal/fields",
	"internal/labelcells",
	"internal/shards",
	"internal/handwriting",
	"internal/checkpoint",
	"internal/progress",
	"internal/chart",
	"internal/report",
	"internal/sealed",
	"internal/topk",
	"internal/edges",
	"internal/blocks",
	"internal/trees",
	"internal/nndescent",
	"sparse",
	"data",
	"data/synthetic",
	"pca",
	"internal/prepared",
	"internal/pruned",
	"knn",
	"knn/choice",
	"knn/lists",
	"kernel",
	"cg",
	"lanczos",
	"solvers",
	"models/calibration",
	"models",
	"models/metrics",
	"models/threshold",
	"models/modeltest",
	"models/nearest",
	"models/eigenmap",
	"models/propagation",
	"models/linear",
	"models/kernelmachine",
	"models/eigenfunction",
	"models/cluster",
	"models/active",
	"models/selection",
	"models/pool",
	"models/all",
	"pipeline",
	"labeling",
	"engine",
	"engine/parts",
	"engine/sums",
	"internal/findings",
	"internal/artifact",
	"bench/results",
	"internal/summary",
	"bench/papers",
	"bench/sssl",
	"bench/figures",
	"bench/multilabel",
	"bench/peers",
	"bench/sets",
	"bench/calibration",
	"bench/dense",
	"bench/knn",
	"bench/eigs",
	"bench/cg",
	"bench/kernel",
	"bench/cluster",
	"bench/program",
	"bench/scale",
	"bench/parts",
	"bench/auto",
	"docs/guide/service",
	"internal/shell",
	"internal/reproduce",
	"internal/engines",
	"internal/inparts",
	"cmd/bigfit",
	"internal/attack",
}

// onlyFor lists packages that only some others may import.
var onlyFor = map[string][]string{
	"internal/progress": {"internal/shell", "cmd/bigfit"},
	"internal/report":   {"internal/findings", "internal/shell", "internal/reproduce", "cmd/bigfit"},
	"internal/shell":    {"internal/reproduce", "internal/engines", "internal/inparts", "cmd/bigfit"},
}

// never lists pairs that must not import each other although the order allows it.
var never = map[string]string{"knn": "lanczos", "lanczos": "knn"}

func TestImportsRunOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "internal/arrows" {
			continue
		}
		seen++
		at := slices.Index(order, name)
		if at < 0 {
			t.Errorf("package %s is not in the order; add it here and to ARCHITECTURE.md", name)
			continue
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			if from := slices.Index(order, imported); from < 0 || from >= at {
				t.Errorf("%s imports %s, which does not stand before it", name, imported)
			}
			if users, ok := onlyFor[imported]; ok && !slices.Contains(users, name) {
				t.Errorf("%s imports %s, which only %s may", name, imported, strings.Join(users, ", "))
			}
			if never[name] == imported {
				t.Errorf("%s imports %s; they are independent of each other", name, imported)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d packages looked at", seen)
	}
}
