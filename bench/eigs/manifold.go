package main

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"time"

	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// measureManifold writes the graph of points on a 10-dimensional manifold in 64 coordinates,
// with 10 neighbours found by NN-descent, and prints time and memory.
func measureManifold(o *options) error {
	limitMemory(o.memory)
	x := synthetic.Manifold(o.points, 64, 10, 0.01, 1)
	// The points are made before the clock starts.
	start := time.Now()
	ix, err := knn.NewIndex(x, knn.NNDescent, &knn.DescentSettings{Sample: -1})
	if err != nil {
		return err
	}
	w, _, err := knn.NewGraph(context.Background(), ix, knn.GraphSettings{K: 10})
	if err != nil {
		return err
	}
	if err := sparse.WriteNPZ(o.graph, w, nil); err != nil {
		return err
	}

	seconds := time.Since(start).Seconds()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"peer": "bigfit", "seconds": seconds, "n": o.points, "peak_bytes": peers.PeakBytes(),
		"threads": runtime.GOMAXPROCS(0),
	})
}
