package sparse_test

import (
	"fmt"
	"os"
	"path/filepath"

	jb "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// triangleAndEdge is a graph of five vertices in two components: a triangle 0, 1,
// 2 and an edge 3, 4.
func triangleAndEdge() *sparse.CSR {
	w, err := sparse.FromTriplets(5, 5,
		[]int32{0, 1, 1, 2, 2, 0, 3, 4},
		[]int32{1, 0, 2, 1, 0, 2, 4, 3},
		[]float64{1, 1, 1, 1, 1, 1, 2, 2})
	if err != nil {
		panic(err)
	}
	return w
}

func ExampleFromTriplets() {
	m, err := sparse.FromTriplets(2, 3,
		[]int32{1, 0, 1, 0}, // rows, in any order
		[]int32{2, 1, 2, 0},
		[]float64{5, 2, 0.5, 1}) // the two entries at (1, 2) are added
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(m.ToDense()))
	fmt.Println(m.NNZ(), "entries")

	_, err = sparse.FromTriplets(2, 3, []int32{2}, []int32{0}, []float64{1})
	fmt.Println(err)
	// Output:
	// ⎡  1    2    0⎤
	// ⎣  0    0  5.5⎦
	// 3 entries
	// sparse: entry 0 is at (2, 0), outside 2×3
}

func ExampleCSR() {
	// A nil Val means that every stored entry is 1.
	m := &sparse.CSR{Rows: 2, Cols: 3, Ptr: []int64{0, 2, 3}, Col: []int32{0, 2, 1}}
	fmt.Println(m.Validate(), m.NNZ(), m.At(0, 2), m.At(1, 2))
	col, val := m.Row(0)
	fmt.Println(col, val == nil)
	// Output:
	// <nil> 3 1 0
	// [0 2] true
}

func ExampleCSR_Validate() {
	m := &sparse.CSR{Rows: 2, Cols: 3, Ptr: []int64{0, 2, 3}, Col: []int32{2, 0, 1}}
	fmt.Println(m.Validate())
	// Output: sparse: row 0 has column 0 after column 2; columns must ascend without repetition
}

func ExampleCSR_T() {
	m := sparse.FromDense(mat.NewDense(2, 3, []float64{1, 0, 2, 0, 3, 0}))
	fmt.Println(mat.Formatted(m.T().ToDense()))
	// Output:
	// ⎡1  0⎤
	// ⎢0  3⎥
	// ⎣2  0⎦
}

func ExampleCSR_Symmetrize() {
	// 1 is a neighbour of 0 and 0 of 1; 2 names 0, but not the reverse.
	neighbors := sparse.FromDense(mat.NewDense(3, 3, []float64{
		0, 0.5, 0,
		0.7, 0, 0,
		0.3, 0, 0,
	}))
	fmt.Println(mat.Formatted(neighbors.Symmetrize(sparse.Either).ToDense()))
	fmt.Println(mat.Formatted(neighbors.Symmetrize(sparse.Both).ToDense()))
	// Output:
	// ⎡  0  0.7  0.3⎤
	// ⎢0.7    0    0⎥
	// ⎣0.3    0    0⎦
	// ⎡  0  0.5    0⎤
	// ⎢0.5    0    0⎥
	// ⎣  0    0    0⎦
}

func ExampleCSR_CheckGraph() {
	neighbors := sparse.FromDense(mat.NewDense(2, 2, []float64{0, 1, 0, 0}))
	fmt.Println(neighbors.CheckGraph())
	fmt.Println(neighbors.Symmetrize(sparse.Either).CheckGraph())
	// Output:
	// sparse: the graph is not symmetric: of entries (0, 1) and (1, 0) only one is stored; use max(W, Wᵀ)
	// <nil>
}

func ExampleCSR_Degrees() {
	fmt.Println(triangleAndEdge().Degrees())
	// Output: [2 2 2 2 2]
}

func ExampleComponents() {
	c := triangleAndEdge().Components()
	fmt.Println(c.Count(), c.Of, c.Sizes, c.Isolated())
	// Output: 2 [0 0 0 1 1] [3 2] 0
}

func ExampleNewLaplacian() {
	l, err := sparse.NewLaplacian(triangleAndEdge(), sparse.Combinatorial)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := mat.NewDense(5, 2, []float64{ // two vectors at once
		1, 0,
		0, 0,
		0, 0,
		0, 1,
		0, -1,
	})
	y := mat.NewDense(5, 2, nil)
	l.MulTo(y, x)
	fmt.Println(mat.Formatted(y))
	fmt.Println("no eigenvalue above", l.UpperBound())
	// Output:
	// ⎡ 2   0⎤
	// ⎢-1   0⎥
	// ⎢-1   0⎥
	// ⎢ 0   4⎥
	// ⎣ 0  -4⎦
	// no eigenvalue above 4
}

func ExampleLaplacian_With() {
	l, err := sparse.NewLaplacian(triangleAndEdge(), sparse.Combinatorial)
	if err != nil {
		fmt.Println(err)
		return
	}
	cube := l.With(3, 1) // (L + I)³, never formed
	x := mat.NewDense(5, 1, []float64{0, 0, 0, 1, -1})
	y := mat.NewDense(5, 1, nil)
	cube.MulTo(y, x) // L has the eigenvalue 4 here
	fmt.Println(y.RawMatrix().Data)
	// Output: [0 0 0 125 -125]
}

func ExampleLaplacian_RecurTo() {
	l, err := sparse.NewLaplacian(triangleAndEdge(), sparse.Combinatorial)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := mat.NewDense(5, 1, []float64{0, 0, 0, 1, -1})
	y := mat.NewDense(5, 1, []float64{1, 2, 3, 4, 5})
	l.RecurTo(y, 2, x, 0, -1, y) // y ← 2Lx − y
	fmt.Println(y.RawMatrix().Data)
	// Output: [-1 -2 -3 4 -13]
}

func ExampleLaplacian_NullVectors() {
	w := triangleAndEdge()
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", mat.Formatted(l.NullVectors(w.Components(), 5)))
	// Output:
	// ⎡0.5774  0.0000⎤
	// ⎢0.5774  0.0000⎥
	// ⎢0.5774  0.0000⎥
	// ⎢0.0000  0.7071⎥
	// ⎣0.0000  0.7071⎦
}

func ExampleKind() {
	var k sparse.Kind
	fmt.Println(k.UnmarshalText([]byte("random-walk")), k)
	fmt.Println(k.UnmarshalText([]byte("signless")))
	// Output:
	// <nil> random-walk
	// unknown Laplacian "signless"; it is combinatorial, normalized or random-walk
}

func ExampleSymmetry() {
	var s sparse.Symmetry
	fmt.Println(s.UnmarshalText([]byte("both")), s)
	// Output: <nil> both
}

func ExampleCSR_ToJamesBowman() {
	other := triangleAndEdge().ToJamesBowman()
	r, c := other.Dims()
	fmt.Println(r, c, other.NNZ(), other.At(3, 4))
	// Output: 5 5 8 2
}

// A matrix is assembled with github.com/james-bowman/sparse, becomes a graph here, and its
// Laplacian goes back for a product there.
func ExampleFromJamesBowman() {
	// Measurements of pairs come in any order, some pairs twice: a path of four vertices.
	assembled := jb.NewCOO(4, 4, nil, nil, nil)
	for _, pair := range [][3]int{{2, 3, 1}, {0, 1, 2}, {1, 2, 1}, {1, 2, 2}} {
		assembled.Set(pair[0], pair[1], float64(pair[2]))
	}

	// Each pair stands in one of its rows, and a graph needs both.
	m, err := sparse.FromJamesBowman(assembled)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := m.Symmetrize(sparse.Either)
	fmt.Println(w.CheckGraph(), w.NNZ()/2, "edges, degrees", w.Degrees())

	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		fmt.Println(err)
		return
	}
	there := l.Form(1, nil, nil).ToJamesBowman()
	var product jb.CSR
	product.Mul(there, there)
	fmt.Println(mat.Formatted(product.ToDense()))

	// And back: constants are in the null space, so that the rows have the sum 0.
	square, err := sparse.FromJamesBowman(&product)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(square.Degrees())
	// Output:
	// <nil> 3 edges, degrees [2 5 4 1]
	// ⎡  8  -14    6    0⎤
	// ⎢-14   38  -27    3⎥
	// ⎢  6  -27   26   -5⎥
	// ⎣  0    3   -5    2⎦
	// [0 0 0 0]
}

func ExampleFromDense() {
	m := sparse.FromDense(mat.NewDense(2, 2, []float64{0, 3, 0, 4}))
	fmt.Println(m.Ptr, m.Col, m.Val)
	// Output: [0 1 2] [1 1] [3 4]
}

func ExampleCSR_ToDense() {
	fmt.Println(mat.Formatted(triangleAndEdge().ToDense()))
	// Output:
	// ⎡0  1  1  0  0⎤
	// ⎢1  0  1  0  0⎥
	// ⎢1  1  0  0  0⎥
	// ⎢0  0  0  0  2⎥
	// ⎣0  0  0  2  0⎦
}

func ExampleWriteNPZ() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "graph.npz") // scipy.sparse.load_npz reads it
	if err := sparse.WriteNPZ(path, triangleAndEdge(), []byte(`{"made":"by hand"}`)); err != nil {
		fmt.Println(err)
		return
	}
	w, err := sparse.ReadNPZ(path, 1<<30)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := sparse.ReadManifest(path)
	fmt.Println(w.Rows, w.NNZ(), string(text), err)
	// Output: 5 8 {"made":"by hand"} <nil>
}
