package server_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/page"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/server"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/store"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/pipeline"
)

// labeling is a server with what it serves.
type labelingOf struct {
	url   string
	queue *queue.Queue
	x     data.Points
	truth *data.Labels
	path  string // of the labels
	srv   *server.Server
}

// digits are the points of most tests.
func digits(n int, seed uint64) (data.Points, *data.Labels) {
	x, y := synthetic.Digits(n, seed)
	return x, y
}

// serve serves the page of points until the test ends.
func serve(t testing.TB, x data.Points, truth *data.Labels, c *page.Content, s queue.Settings) *labelingOf {
	t.Helper()
	path := filepath.Join(t.TempDir(), "labels.csv")
	return serveFile(t, x, truth, c, s, path)
}

// serveFile is serve with a given file of labels.
func serveFile(t testing.TB, x data.Points, truth *data.Labels, c *page.Content, s queue.Settings, path string) *labelingOf {
	t.Helper()
	p := &pipeline.Pipeline{}
	made, err := pipeline.AutoGraph(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Graph(t.Context(), x, made)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	q, err := queue.New(labeling.Planner{Pipeline: p}, &g.Graph, nil, st, s)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(q, c, page.Head{Title: "digits", File: "labels.csv", Target: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.Listen("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}

	release := par.Reserve(server.Processors)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { q.Learn(ctx) })
	running.Go(func() {
		if err := srv.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		release()
	})
	return &labelingOf{url: srv.URL(l), queue: q, x: x, truth: truth, path: path, srv: srv}
}

// images shows points as images of digits.
func images(x data.Points) *page.Content {
	return &page.Content{Points: x, Width: synthetic.DigitSide, Height: synthetic.DigitSide, Channels: 1,
		Columns: []page.Column{{Name: "image", Kind: page.Pixels}}}
}
