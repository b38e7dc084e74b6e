package synthetic

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
)

// sameAtAnyThreadCount checks that draw gives the same points and labels at
// GOMAXPROCS 1, 2 and 3, that a smaller set is a prefix, and that the seed
// matters. draw may return nil labels.
func sameAtAnyThreadCount[T data.Element](t *testing.T, n int, draw func(n int, seed uint64) (*data.Dense[T], *data.Labels)) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	x, y := draw(n, 7)
	for _, procs := range []int{2, 3} {
		runtime.GOMAXPROCS(procs)
		x2, y2 := draw(n, 7)
		if !slices.Equal(x.Data, x2.Data) {
			t.Errorf("points at GOMAXPROCS %d differ", procs)
		}
		if y != nil && !slices.Equal(y.Index, y2.Index) {
			t.Errorf("labels at GOMAXPROCS %d differ", procs)
		}
	}
	for _, m := range []int{1, n / 3} {
		head, yHead := draw(m, 7)
		if !slices.Equal(head.Data, x.Data[:m*x.Cols]) {
			t.Errorf("%d points are no prefix of %d", m, n)
		}
		if y != nil && (!slices.Equal(yHead.Index, y.Index[:m]) || !slices.Equal(yHead.Classes, y.Classes)) {
			t.Errorf("labels of %d points are no prefix of those of %d", m, n)
		}
	}
	if other, _ := draw(n, 8); slices.Equal(other.Data, x.Data) {
		t.Error("seeds 7 and 8 give the same points")
	}
}

// mustPanic checks that f panics.
func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s does not panic", name)
		}
	}()
	f()
}

func TestDigitsDeterministic(t *testing.T) {
	sameAtAnyThreadCount(t, 1000, Digits)
	mustPanic(t, "Digits(0)", func() { Digits(0, 1) })
}

func TestDigitsImages(t *testing.T) {
	const n = 5000
	x, y := Digits(n, 1)
	if rows, cols := x.Dims(); rows != n || cols != DigitSide*DigitSide || y.Len() != n {
		t.Fatalf("%d×%d points, %d labels", rows, cols, y.Len())
	}
	if want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(y.Classes, want) {
		t.Errorf("classes %v", y.Classes)
	}
	var count [10]int
	var onEdge int
	for i := range n {
		count[y.Index[i]]++
		img := x.Row(i)
		ink, dark, blank := 0, 0, 0
		for p, v := range img {
			ink += int(v)
			if v > 200 {
				dark++
			}
			if v == 0 {
				blank++
			}
			if r, c := p/DigitSide, p%DigitSide; v > 0 && (r == 0 || c == 0 || r == DigitSide-1 || c == DigitSide-1) {
				onEdge++
			}
		}
		// MNIST's images hold between 8 and 150 full pixels of ink.
		if ink < 8*255 || ink > 250*255 || dark < 3 || blank < len(img)/2 {
			t.Errorf("digit %d (a %d): ink %d, %d dark and %d blank pixels", i, y.Index[i], ink, dark, blank)
		}
	}
	for c, k := range count {
		// Five standard deviations of a binomial with p = 1/10.
		if math.Abs(float64(k)-n/10) > 5*math.Sqrt(n*0.09) {
			t.Errorf("%d of %d points are of class %d", k, n, c)
		}
	}
	if onEdge > n {
		t.Errorf("%d inked pixels on the edges of %d images: digits do not fit", onEdge, n)
	}
}

// TestDigitsDifficulty holds the set to its purpose: digits are close to digits
// of their class when there are many, and the classes are not trivial when
// there are few.
func TestDigitsDifficulty(t *testing.T) {
	const n, tests = 3000, 150
	x, y := Digits(n, 3)
	wrong := func(train int) float64 {
		errors := 0
		for i := n - tests; i < n; i++ {
			best, class := math.MaxInt, int32(-1)
			for j := range train {
				d := 0
				for p, v := range x.Row(j) {
					e := int(v) - int(x.Row(i)[p])
					d += e * e
				}
				if d < best {
					best, class = d, y.Index[j]
				}
			}
			if class != y.Index[i] {
				errors++
			}
		}
		return float64(errors) / tests
	}
	if e := wrong(n - tests); !(e <= 0.08) {
		t.Errorf("1-NN errs on %.1f %% with %d labels, want at most 8", 100*e, n-tests)
	}
	if e := wrong(100); !(e >= 0.15 && e <= 0.45) {
		t.Errorf("1-NN errs on %.1f %% with 100 labels, want 15 to 45", 100*e)
	}
}

func BenchmarkDigits(b *testing.B) {
	for b.Loop() {
		Digits(10000, 1)
	}
}

func ExampleDigits() {
	x, y := Digits(1000, 5)
	n, d := x.Dims()
	fmt.Println(n, "points of", d, "pixels;", len(y.Classes), "classes")
	first := x.Row(0)
	fmt.Println("the first is a", y.Classes[y.Index[0]])
	for r := 3; r < DigitSide; r += 2 {
		line := make([]byte, DigitSide)
		for c := range line {
			line[c] = " .+#"[first[r*DigitSide+c]/64]
		}
		fmt.Printf("|%s|\n", line)
	}
	// Output:
	// 1000 points of 784 pixels; 10 classes
	// the first is a 2
	// |             .##########    |
	// |            ##       +##.   |
	// |                    ###     |
	// |                  +##.      |
	// |                +##+        |
	// |              .###          |
	// |      ..#.  +###.           |
	// |    ##########.             |
	// |  .##. .#####               |
	// |  .######. +#######         |
	// |     .       .+##++.        |
	// |                            |
	// |                            |
}
