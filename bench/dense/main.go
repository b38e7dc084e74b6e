// Command dense times our dense linear algebra beside NumPy and SciPy on
// OpenBLAS, in one run:
//
//	go run ./bench/dense                 everything; needs BIGFIT_DATA for pca
//	go run ./bench/dense -works gemm32-square,syrk-tall -threads 1
//
// Our program and the peer take turns, each in a process of its own, and the best turn of
// each counts. The command writes dense.json and dense.md and prints the table. Run it on a
// machine that does nothing else.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/pca"
)

// work is one operation on matrices of m×k and k×n.
type work struct {
	name, title string
	m, k, n     int
	flops       float64 // 0 if they are not comparable
	// run prepares the matrices and returns a function that computes once.
	run func(w *work) (func() error, error)
}

// components is the number of principal components of the images of MNIST.
const components = 100

// works lists the works in the order of the table. The floating-point operations count 2mkn
// for a product and half of that for AᵀA, which is symmetric.
var works = []work{
	{"gemm32-square", "A·B, 2000×2000·2000×2000 float32", 2000, 2000, 2000, 16e9, gemm32},
	{"gemm32-tall", "A·B, 60000×64·64×1000 float32", 60000, 64, 1000, 7.68e9, gemm32},
	{"gemm64-square", "A·B, 2000×2000·2000×2000 float64", 2000, 2000, 2000, 16e9, gemm64},
	{"gemm64-tall", "A·B, 60000×64·64×1000 float64", 60000, 64, 1000, 7.68e9, gemm64},
	{"syrk-square", "AᵀA, 2000×2000 float64", 2000, 2000, 2000, 8e9, syrk},
	{"syrk-tall", "AᵀA, 60000×500 float64", 60000, 500, 500, 15e9, syrk},
	{"eigen", "eigenvalues and vectors, symmetric 2000×2000", 2000, 2000, 2000, 0, eigen},
	{"pca", "MNIST 60000×784 uint8, 100 principal components, projected", 0, 0, 0, 0, projection},
}

func main() {
	log.SetFlags(0)
	var names []string
	for _, w := range works {
		names = append(names, w.name)
	}
	only := flag.String("works", strings.Join(names, ","), "what to time")
	threads := flag.String("threads", "1,2", "numbers of threads")
	turns := flag.Int("turns", 5, "turns of ours and the peer's")
	others := flag.Bool("peers", true, "run NumPy too")
	out := flag.String("o", "bench-results", "folder for the results")
	one := flag.String("one", "", "measure this work once, with the first number of threads, and print JSON")
	flag.Parse()

	var err error
	if *one != "" {
		err = measure(*one, *threads)
	} else {
		err = run(context.Background(), strings.Split(*only, ","), strings.Split(*threads, ","), *turns,
			*others, *out)
	}

	if err != nil {
		log.Fatal(err)
	}
}

// run times the works with each number of threads and writes the table.
func run(ctx context.Context, only, threads []string, turns int, others bool, out string) error {
	var rows []peers.Row
	for _, w := range works {
		if !slices.Contains(only, w.name) {
			continue
		}
		for _, t := range threads {
			title := fmt.Sprintf("%s, threads: %s", w.title, t)
			log.Print(title)
			// Turns alternate, so that a slow minute of the machine hits both.
			for range turns {
				objects, err := w.turn(ctx, t, others)
				if err != nil {
					return fmt.Errorf("%s: %w", title, err)
				}
				rows = peers.Add(rows, title, objects...)
			}
		}
	}

	table, err := peers.Save(out, "dense", "Dense linear algebra", rows)
	if err != nil {
		return err
	}
	fmt.Print(table)
	return nil
}

// turn runs our program and the peer once, in this order.
func (w *work) turn(ctx context.Context, threads string, others bool) ([]map[string]any, error) {
	objects, err := peers.Self(ctx, os.Stderr, "-one", w.name, "-threads", threads)
	if err != nil {
		return nil, err
	}

	if others {
		more, err := peers.Run(ctx, os.Stderr, "dense_numpy.py", append(w.peer(), threads)...)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}

	// Gflops with one decimal, where the count of operations is the same for both.
	for _, o := range objects {
		if s, ok := o["seconds"].(float64); ok && w.flops > 0 {
			o["gflops"] = float64(int(w.flops/s/1e8)) / 10
		}
	}
	return objects, nil
}

// peer returns the arguments of dense_numpy.py, except the threads.
func (w *work) peer() []string {
	kind, _, _ := strings.Cut(w.name, "-")
	if kind == "pca" {
		return []string{kind, images(), strconv.Itoa(components)}
	}
	return []string{kind, strconv.Itoa(w.m), strconv.Itoa(w.k), strconv.Itoa(w.n)}
}

// measure repeats a work for a second, at least twice, and prints the best time.
func measure(name, threads string) error {
	i := slices.IndexFunc(works, func(w work) bool { return w.name == name })
	if i < 0 {
		return fmt.Errorf("there is no work %q", name)
	}
	t, err := strconv.Atoi(threads)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(t)
	once, err := works[i].run(&works[i])
	if err != nil {
		return err
	}

	// The shortest time is the least disturbed one.
	var best, total time.Duration
	for runs := 0; runs < 2 || total < time.Second; runs++ {
		start := time.Now()
		if err := once(); err != nil {
			return err
		}
		took := time.Since(start)
		if total += took; runs == 0 || took < best {
			best = took
		}
	}

	return json.NewEncoder(os.Stdout).Encode(map[string]any{"peer": "bigfit", "seconds": best.Seconds()})
}

// random returns n normal numbers, equal in every run.
func random[T float32 | float64](n int) []T {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

// gemm32 multiplies m×k by k×n in float32.
func gemm32(w *work) (func() error, error) {
	a := random[float32](w.m * w.k)
	b := random[float32](w.k * w.n)
	c := make([]float32, w.m*w.n)
	return func() error {
		dense.Gemm32(dense.NoTrans, dense.NoTrans, w.m, w.n, w.k, 1, a, w.k, b, w.n, 0, c, w.n)
		return nil
	}, nil
}

// gemm64 multiplies m×k by k×n in float64.
func gemm64(w *work) (func() error, error) {
	a := random[float64](w.m * w.k)
	b := random[float64](w.k * w.n)
	c := make([]float64, w.m*w.n)
	return func() error {
		dense.Gemm64(dense.NoTrans, dense.NoTrans, w.m, w.n, w.k, 1, a, w.k, b, w.n, 0, c, w.n)
		return nil
	}, nil
}

// syrk computes AᵀA of an m×k matrix.
func syrk(w *work) (func() error, error) {
	a := mat.NewDense(w.m, w.k, random[float64](w.m*w.k))
	c := mat.NewDense(w.k, w.k, nil)
	return func() error {
		dense.Syrk(dense.Transposed, 1, a, 0, c)
		return nil
	}, nil
}

// eigen computes all eigenvalues and eigenvectors of a symmetric n×n matrix.
func eigen(w *work) (func() error, error) {
	// A random matrix plus its transpose is symmetric.
	a := mat.NewDense(w.n, w.n, random[float64](w.n*w.n))
	a.Add(a, mat.DenseCopyOf(a.T()))
	return func() error {
		_, _, err := dense.EigenSym(context.Background(), a)
		return err
	}, nil
}

// images returns the file of the training images of MNIST.
func images() string { return filepath.Join(os.Getenv("BIGFIT_DATA"), "mnist_train_images.npz") }

// projection finds principal components of the images and projects the images on them.
func projection(*work) (func() error, error) {
	// Reading the images is not timed.
	x, err := data.ReadPoints(images(), data.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return func() error {
		p, err := pca.New(context.Background(), x, components)
		if err != nil {
			return err
		}
		_, err = p.Apply(x)
		return err
	}, nil
}
