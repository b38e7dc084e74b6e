// Package arrows holds the test that imports run in one direction only.
package arrows

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bigfit/bigfit/"

// root stands for the package in the folder of the module.
const root = "bigfit, the root"

// nameOf is the folder of a package of ours.
func nameOf(path string) (name string, isOurs bool) {
	if path+"/" == module {
		return root, true
	}
	return strings.CutPrefix(path, module)
}

// order lists the packages; one may import only those that stand before it.
// ARCHITECTURE.md says what lives where.
var order = []string{
	"internal/num/par",
	"internal/num/simd",
	"internal/num/dense",
	"internal/num/numbers",
	"archive",
	"internal/enum",
	"internal/sealed",
	"internal/file/mapped",
	"internal/file/atomicfile",
	"internal/file/npy",
	"param",
	"internal/file/checkpoint",
	"internal/file/shards",
	"internal/file/fields",
	"internal/file/table",
	"internal/machine",
	"internal/view/browsertest",
	"internal/view/chart",
	"internal/view/report",
	"internal/view/results",
	"stage",
	"sparse",
	"data/internal/labelcells",
	"data",
	"data/parquet",
	"data/synthetic/internal/handwriting",
	"data/synthetic",
	"pca",
	"hops",
	"hessian",
	"kernel",
	"cg",
	"lanczos",
	"solvers",
	"layout",
	"knn/internal/blocks",
	"knn/internal/edges",
	"knn/internal/topk",
	"knn/internal/nndescent",
	"knn/internal/prepared",
	"knn/internal/pruned",
	"knn/internal/trees",
	"knn",
	"knn/choice",
	"knn/lists",
	"knn/parts",
	"calibration",
	"internal/suggest",
	"models",
	"models/active",
	"models/expansion",
	"models/regularizer",
	"models/linear",
	"models/annotators",
	"models/multilabel",
	"models/metrics",
	"models/propagation",
	"models/kernelmachine",
	"models/cluster",
	"models/eigenfunction",
	"models/nearest",
	"models/eigenmap",
	"models/correction",
	"models/pool",
	"models/all",
	"models/linear/sums",
	"models/propagation/byclass",
	"internal/testmode",
	"models/modeltest",
	"models/selection",
	"models/threshold",
	"pipeline",
	"labeling",
	"audit",
	root,
	"engine",
	"cmd/bigfit/internal/artifact",
	"cmd/bigfit/internal/progress",
	"cmd/bigfit/internal/summary",
	"cmd/bigfit/internal/supervise",
	"cmd/bigfit/internal/shell",
	"cmd/bigfit/internal/demo",
	"cmd/bigfit/internal/findings",
	"cmd/bigfit/internal/label/page",
	"cmd/bigfit/internal/label/store",
	"cmd/bigfit/internal/label/queue",
	"cmd/bigfit/internal/label/server",
	"cmd/bigfit/internal/work",
	"cmd/bigfit/internal/fixtures",
	"cmd/bigfit",
	"cmd/bigfit/internal/attack",
	"packaging/release",
	"packaging/site",
	"bench/graphs",
	"bench/peers",
	"bench/sets",
	"bench/auto",
	"bench/calibration",
	"bench/crowds",
	"bench/console",
	"bench/runs",
	"bench/audit",
	"bench/suspects",
	"bench/campaigns",
	"bench/papers",
	"bench/cg",
	"bench/cluster",
	"bench/dense",
	"bench/docs",
	"bench/eigs",
	"bench/sssl",
	"bench/figures",
	"bench/kernel",
	"bench/knn",
	"bench/multilabel",
	"bench/program",
	"bench/parts",
	"bench/reproduce",
	"bench/scale",
	"docs/guide/service",
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
		name, _ := nameOf(p.ImportPath)
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
			imported, isOurs := nameOf(path)
			if !isOurs {
				continue
			}
			if from := slices.Index(order, imported); from < 0 || from >= at {
				t.Errorf("%s imports %s, which does not stand before it", name, imported)
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

// TestArchitecture: ARCHITECTURE.md names every package, by itself or with its parent's "/...".
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range order {
		if name == root {
			name = "bigfit"
		}
		named := strings.Contains(string(text), "`"+name+"`")
		for at := name; !named && strings.Contains(at, "/"); {
			at = path.Dir(at)
			named = strings.Contains(string(text), "`"+at+"/...`")
		}
		if !named {
			t.Errorf("ARCHITECTURE.md does not name %s", name)
		}
	}
}
