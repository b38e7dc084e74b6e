package server_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
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
	began := now()
	l := serve(t, x, y, c, queue.Settings{})
	if err := l.queue.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d points: graph, eigenpairs and first choice in %v", n, since(began))
	give := func(k int) {
		a := l.queue.Ask("begin", false, true)
		for _, i := range a.Points[:min(k, len(a.Points))] {
			if _, err := l.queue.Give([]queue.Answer{{Point: i, Label: y.Name(y.Index[i])}}, 1, "one"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 40 {
		give(1)
	}
	if err := l.queue.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		began = now()
		give(1)
		if err := l.queue.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("a round of learning after a label: %v", since(began))
	}

	var mu sync.Mutex
	var times []time.Duration
	longest := map[string]time.Duration{} // of each kind of request
	var all sync.WaitGroup
	began = now()
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
			kind, _, _ := strings.Cut(q.path, "?")
			kind, _, _ = strings.Cut(kind, "/")
			longest[kind] = max(longest[kind], took)
		})
	}
	all.Wait()
	slices.Sort(times)
	p99 := times[len(times)*99/100]
	t.Logf("%.1f s of processors", cpu()-began.cpu)
	t.Logf("%d requests: median %v, p99 %v, longest %v", len(times), times[len(times)/2], p99, times[len(times)-1])
	t.Logf("the longest of each kind: %v", longest)
	if p99 > 100*time.Millisecond {
		t.Errorf("p99 is %v", p99)
	}
}

// A moment is a time by the clock and by the processors.
type moment struct {
	clock time.Time
	cpu   float64
}

func now() moment { return moment{time.Now(), cpu()} }

// since says how long ago a moment was. On a machine that others use, the time of the processors counts.
func since(m moment) string {
	return fmt.Sprintf("%.1f s, %.1f s of processors", time.Since(m.clock).Seconds(), cpu()-m.cpu)
}
