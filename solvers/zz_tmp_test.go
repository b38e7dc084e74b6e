package solvers_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/solvers"
)

func cpu() float64 {
	var r syscall.Rusage
	_ = syscall.Getrusage(0, &r)
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}

func TestZZProf(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		t.Skip()
	}
	x, y, z := cloud(10000, 4, 3)
	side, _ := kernel.New(kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}, x)
	a := cpu()
	k, _ := side.Gram()
	b := cpu()
	t.Log("gram", b-a)
	for name, q := range problems(solvers.DenseRows(k), y, z) {
		a := cpu()
		solve(t, q, nil)
		b := cpu()
		q.Rows = solvers.CachedRows(side, 100<<20)
		solve(t, q, nil)
		t.Log(name, "dense", b-a, "cached", cpu()-b)
	}
	var ru syscall.Rusage
	_ = syscall.Getrusage(-1, &ru)
	before := ru.Utime.Sec
	libsvm(t, x, z, 1, 1e-3, 100, "-s", "3", "-c", "2", "-p", "0.1")
	_ = syscall.Getrusage(-1, &ru)
	t.Log("libsvm svr", ru.Utime.Sec-before)
	y[0] = 1
	before = ru.Utime.Sec
	libsvm(t, x, y, 1, 1e-3, 100, "-s", "0", "-c", "3")
	_ = syscall.Getrusage(-1, &ru)
	t.Log("libsvm svc", ru.Utime.Sec-before)
}
