package data

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/param"
)

// edgeOf returns the weight between two vertices, named by their ids.
func edgeOf(e *Edges, a, b string) float64 {
	i, j := slices.Index(e.IDs.Values, a), slices.Index(e.IDs.Values, b)
	col, val := e.W.Row(i)
	if at := slices.Index(col, int32(j)); at >= 0 {
		return val[at]
	}
	return 0
}

func writeEdges(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadEdges(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		o          EdgeOptions
		weights    []float64 // of a–b, b–c, c–d
		notes      []string
	}{
		"usual names": {"e.csv", "kind,target,source,weight\nx,b,a,1\nx,c,b,2\nx,d,c,0.5\n", EdgeOptions{},
			[]float64{1, 2, .5}, []string{`from column "source" to column "target", weights in column "weight"`}},
		"tabs, no header": {"e.txt", "# three edges\na\tb\nb\tc\nd\tc\n", EdgeOptions{NoHeader: true}, []float64{1, 1, 1},
			[]string{"weights one"}},
		"both ways": {"e.csv", "from,to,weight\na,b,1\nb,a,1\nb,c,2\nc,b,2\nc,d,3\nd,c,3\n", EdgeOptions{},
			[]float64{1, 2, 3}, []string{"every edge is there in both directions, and counts once"}},
		"some both ways": {"e.csv", "from,to,weight\na,b,1\nb,a,4\nb,c,2\nc,d,3\n", EdgeOptions{}, []float64{5, 2, 3},
			[]string{"1 edges are there in both directions: their weights add up"}},
		"twice": {"e.csv", "from,to,weight\na,b,1\na,b,4\nb,c,2\nc,d,3\n", EdgeOptions{}, []float64{5, 2, 3},
			[]string{"1 rows have the ends of an earlier one"}},
		"loops and zeros": {"e.csv", "from,to,weight\na,a,1\na,b,4\nb,d,0\nb,c,2\nc,d,3\n", EdgeOptions{}, []float64{4, 2, 3},
			[]string{"1 edges from a vertex to itself", "1 edges of weight 0"}},
		"named": {"e.csv", "x,y,length,z\na,b,1,4\nb,c,1,4\nc,d,2,4\n", EdgeOptions{From: "x", To: "y", Weight: "length"},
			[]float64{1, 1, 2}, []string{"warning: weights in column length"}},
		"weights one": {"e.csv", "u,v,time\na,b,7\nb,c,8\nc,d,9\n", EdgeOptions{Weight: NoWeight}, []float64{1, 1, 1}, nil},
		"lines": {"e.jsonl", `{"source": "a", "target": "b", "weight": 2}
{"source": "c", "target": "b", "weight": 3}
{"source": "c", "target": "d", "weight": 4}
`, EdgeOptions{}, []float64{2, 3, 4}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := ReadEdges(writeEdges(t, c.file, c.text), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.W.CheckGraph(); err != nil || e.W.Rows != 4 || e.W.NNZ() != 6 {
				t.Errorf("%d vertices and %d entries, %v", e.W.Rows, e.W.NNZ(), err)
			}
			for k, ends := range []string{"ab", "bc", "cd"} {
				for _, x := range []float64{edgeOf(e, ends[:1], ends[1:]), edgeOf(e, ends[1:], ends[:1])} {
					if x != c.weights[k] {
						t.Errorf("%s has weight %v, not %v", ends, x, c.weights[k])
					}
				}
			}
			notes := strings.Join(e.Notes, "\n")
			for _, want := range c.notes {
				if !strings.Contains(notes, want) {
					t.Errorf("the notes\n%s\nlack %q", notes, want)
				}
			}
		})
	}
}

// The ids of all vertices give their order, and those without an edge.
func TestReadEdgesOfVertices(t *testing.T) {
	ids, err := NewIDs("points.csv: column id", []string{"d", "alone", "a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := ReadEdges(writeEdges(t, "e.csv", "source,target\na,b\nb,d\n"), EdgeOptions{Vertices: ids})
	if err != nil {
		t.Fatal(err)
	}
	if e.IDs != ids || e.W.Rows != 4 || !slices.Equal(e.W.Ptr, []int64{0, 1, 1, 2, 4}) || !slices.Equal(e.W.Col, []int32{3, 3, 0, 2}) {
		t.Errorf("%v", e.W)
	}
	_, err = ReadEdges(writeEdges(t, "e.csv", "source,target\na,b\nb,q\n"), EdgeOptions{Vertices: ids})
	if err == nil || !strings.Contains(err.Error(), `line 3: row 1: no point has the id "q"; ids in points.csv`) {
		t.Error(err)
	}
}

// flagged returns the text of an error as the command has it.
func flagged(err error) string {
	return param.Show(err.Error(), func(name string) string { return "--" + name })
}

func TestReadEdgesErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		o    EdgeOptions
		want string
	}{
		"header or edge": {"a,b\nb,c\n", EdgeOptions{}, "line 1: the line a,b may be an edge or the names"},
		"which columns":  {"a,b,c,d\n1,2,3,4\n", EdgeOptions{From: "a"}, "give --from and --to"},
		"many columns":   {"weight,b,c,d\n1,2,3,4\n", EdgeOptions{}, "Its columns are weight, b, c, d"},
		"no column":      {"source,target\na,b\n", EdgeOptions{Weight: "w"}, `has no column "w"; its columns are source, target`},
		"same column":    {"source,target\na,b\n", EdgeOptions{From: "source", To: "source"}, "are both source"},
		"end as weight":  {"source,target\na,b\n", EdgeOptions{Weight: "target"}, "cannot hold the weights too"},
		"what numbers":   {"source,target,time\na,b,3\n", EdgeOptions{}, `column "time" hold the weights of the edges? Give --weight time`},
		"lengths":        {"source,target,length\na,b,3\n", EdgeOptions{}, "add a column of 1/length"},
		"negative":       {"source,target,weight\na,b,3\nb,c,-2\n", EdgeOptions{}, "line 3: row 1: the weight is -2"},
		"not finite":     {"source,target,weight\na,b,3\nb,c,inf\n", EdgeOptions{}, "line 3: row 1: the weight is +Inf"},
		"no weight":      {"source,target,weight\na,b,3\nb,c,\n", EdgeOptions{}, "line 3: row 1: the edge has no weight"},
		"no end":         {"source,target,weight\na,,3\n", EdgeOptions{}, "line 2: row 0: the edge has no end in column target"},
		"empty":          {"source,target\n", EdgeOptions{}, "there are no rows"},
		"loops only":     {"source,target\na,a\n", EdgeOptions{}, "has no edge"},
		"no memory":      {"source,target\na,b\n", EdgeOptions{Limit: 100}, "memory"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeEdges(t, "e.csv", c.text)
			e, err := ReadEdges(path, c.o)
			if err == nil || !strings.Contains(flagged(err), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, %v, want %q", e, err, c.want)
			}
		})
	}
}

// FuzzReadEdges: any bytes make a graph or an error.
func FuzzReadEdges(f *testing.F) {
	f.Add([]byte("source,target,weight\na,b,1\n"), false)
	f.Add([]byte("1 2\n2 3\n"), true)
	f.Add([]byte(`{"from": 1, "to": 2, "w": 0.5}`), false)
	f.Fuzz(func(t *testing.T, text []byte, noHeader bool) {
		path := filepath.Join(t.TempDir(), "e")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := ReadEdges(path, EdgeOptions{NoHeader: noHeader, Limit: 1 << 20})
		if err != nil {
			return
		}
		if err := e.W.CheckGraph(); err != nil || e.W.Rows != len(e.IDs.Values) {
			t.Errorf("%d rows for %d ids, %v", e.W.Rows, len(e.IDs.Values), err)
		}
	})
}
