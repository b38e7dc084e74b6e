package server_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/page"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/testmode"
)

// Twenty requests a second, a label among them every second, are answered while the model learns: 99 of 100 within a
// tenth of a second. BIGFIT_LOAD is the number of points, 20,000 by default; a minute of it is for a quiet machine.
func TestLoad(t *testing.T) {
	testmode.Campaign(t)
	n := 20_000
	if v, err := strconv.Atoi(os.Getenv("BIGFIT_LOAD")); err == nil {
		n = v
	}
	seconds := testmode.Count(10, 60)
	x := synthetic.Manifold(n, 16, 4, 0.01, 1)
	truth := make([]int64, n)
	for i := range n { // quadrants of two coordinates
		row := x.Data[16*i : 16*i+16]
		if row[0] > 0 {
			truth[i]++
		}
		if row[1] > 0 {
			truth[i] += 2
		}
	}
	y := data.NewLabels(truth, nil)
	c := &page.Content{Points: x, Columns: []page.Column{{Name: "columns", Kind: page.Chart}}}
	began := time.Now()
	l := serve(t, x, y, c, queue.Settings{})
	if err := l.queue.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d points: graph, eigenpairs and first choice in %.1f s", n, time.Since(began).Seconds())
	for k := range 40 {
		a := l.queue.Ask("begin", false, true)
		label := y.Name(y.Index[a.Points[0]])
		if _, err := l.queue.Give([]queue.Answer{{Point: a.Points[0], Label: label}}, 1, "one"); err != nil {
			t.Fatal(err)
		}
		if k == 39 {
			began = time.Now()
			if err := l.queue.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Logf("up to two rounds of learning in %.1f s", time.Since(began).Seconds())
		}
	}

	var mu sync.Mutex
	var times []time.Duration
	var all sync.WaitGroup
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for k := range 20 * seconds {
		<-tick.C
		all.Go(func() {
			q := request{path: "state"}
			switch k % 20 {
			case 0:
				i := (k*7919 + 13) % n
				q = request{path: "label", method: http.MethodPost, body: fmt.Sprintf(
					`{"tab":"a","points":[%d],"label":%q,"kind":"one"}`, i, y.Name(y.Index[i]))}
			case 1, 6, 11, 16:
				q.path = fmt.Sprintf("next?tab=%d&grid=%d", k%7, k%2)
			case 3, 8, 13:
				q.path = fmt.Sprintf("near/%d", k*31%n)
			}
			sent := time.Now()
			code, text, _ := l.send(t, q)
			took := time.Since(sent)
			if code != http.StatusOK {
				t.Errorf("%s: %d %s", q.path, code, text)
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, took)
		})
	}
	all.Wait()
	slices.Sort(times)
	p99 := times[len(times)*99/100]
	t.Logf("%d requests: median %v, p99 %v, longest %v", len(times), times[len(times)/2], p99, times[len(times)-1])
	if p99 > 100*time.Millisecond {
		t.Errorf("p99 is %v", p99)
	}
}
