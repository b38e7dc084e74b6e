package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models/modeltest"
)

// Files whose arrays do not fit together, as another program could write them,
// give an error or a result but never a panic.
func TestDamagedArchives(t *testing.T) {
	if testing.Short() {
		t.Skip("writes some hundred files")
	}
	intoBlobs(t)
	x, y := blobs(blobCount, 0)
	formats(t, x, y)
	succeed(t, "graph", "X.npy", "--weights", "heat")
	succeed(t, "eigs", "graph.npz", "-n", "10")
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--pca", "3", "-o", "model.npz")
	succeed(t, "fit", "--model", "eigenmap", "-X", "csr.npz", "-y", "y.npy", "-o", "csrmodel.npz")
	tried := 0
	for file, lines := range map[string][]string{
		"graph.npz":    {"info damaged.npz", "eigs damaged.npz -n 5 -o out.npz", "graph damaged.npz -k 3 -o out.npz"},
		"eigs.npz":     {"info damaged.npz", "fit --model eigenmap --eigs damaged.npz -y y.npy -o out.npz", "fit --model eigenmap --eigs damaged.npz --graph graph.npz -X X.npy -y y.npy -o out.npz"},
		"model.npz":    {"info damaged.npz", "predict damaged.npz -o out.npy --scores out2.npy", "predict damaged.npz -X new.npy --extension nystrom -o out.npy"},
		"csrmodel.npz": {"predict damaged.npz -o out.npy", "predict damaged.npz -X csr.npz -o out.npy"},
	} {
		damage(t, file, func(what string) {
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

// damage writes damaged.npz in many ways.
func damage(t *testing.T, from string, try func(what string)) {
	t.Helper()
	a, err := npy.OpenArchive(from, 0)
	must(t, err)
	defer a.Close()
	var entries []archive.Array
	for _, name := range a.Names() {
		x, err := a.Read(name)
		must(t, err)
		e := archive.Array{Name: name, Shape: x.Shape, Data: x.Data}
		if name == "format" {
			e.Shape, e.Data = nil, "csr"
		}
		entries = append(entries, e)
	}
	for i, e := range entries {
		for what, bad := range damages(e) {
			damaged := slices.Clone(entries)
			if bad.Name == "" {
				damaged = slices.Delete(damaged, i, i+1)
			} else {
				damaged[i] = bad
			}
			must(t, modeltest.Rewrite("damaged.npz", damaged))
			try(e.Name + " " + what)
		}
	}
}

// damages are the ways to spoil an array.
func damages(e archive.Array) map[string]archive.Array {
	with := func(data any, shape ...int) archive.Array {
		return archive.Array{Name: e.Name, Shape: shape, Data: data}
	}
	out := map[string]archive.Array{
		"missing":  {},
		"empty":    with([]float64{}, 0),
		"0 × 0":    with([]float64{}, 0, 0),
		"cube":     with([]int64{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2),
		"huge":     with([]int64{1 << 62, 1 << 62}, 2),
		"negative": with([]int64{-5, -5}, 2),
	}
	switch d := e.Data.(type) {
	case []float64:
		out["smaller"] = with(d[:len(d)/2], len(d)/2)
		out["turned"] = with(d, append(slices.Clone(e.Shape[1:]), e.Shape[0])...)
		for what, v := range map[string]float64{"zeros": 0, "minus": -1, "vast": 1e308} {
			same := slices.Repeat([]float64{v}, len(d))
			out[what] = with(same, e.Shape...)
		}
	case []int32:
		for what, v := range map[string]int32{"ones": 1, "minus": -1, "vast": 1<<31 - 1} {
			out[what] = with(slices.Repeat([]int32{v}, len(d)), e.Shape...)
		}
		out["smaller"] = with(d[:len(d)/2], len(d)/2)
	case []int64:
		for what, v := range map[string]int64{"ones": 1, "minus": -1, "vast": 1<<63 - 1} {
			out[what] = with(slices.Repeat([]int64{v}, len(d)), e.Shape...)
		}
		out["smaller"] = with(d[:len(d)/2], len(d)/2)
	case []uint8:
		text := string(d)
		for what, r := range map[string][2]string{
			"k":     {`"k":8`, `"k":-8`},
			"big k": {`"k":8`, `"k":800000000000`},
			"p":     {`"eigenvectors":`, `"eigenvectors":9`},
			"dim":   {`"pca":3`, `"pca":-3`},
			"dims":  {`"pca":3`, `"pca":300`},
			"t":     {`"t":`, `"t":-`},
			"laps":  {`"combinatorial"`, `"random"`},
			"fall":  {`"fallback":`, `"fallback":7`},
			"no":    {`"settings":`, `"setting":`},
			"json":  {`{`, `[`},
		} {
			out[what] = with([]uint8(strings.Replace(text, r[0], r[1], -1)), len(strings.Replace(text, r[0], r[1], -1)))
		}
	}
	return out
}
