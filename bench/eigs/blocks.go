package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/bigfit/bigfit/bench/graphs"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/sparse"
)

// peerBlocks is the largest graph that LOBPCG is run on.
const peerBlocks = 100_000

// measureBlocks measures as many pairs as a stochastic block graph has blocks, and LOBPCG of SciPy beside it on
// small graphs, and writes the table eigs-blocks. The graph is written to a file by a process of its own.
func (b *bench) measureBlocks(graph string) error {
	name := fmt.Sprintf("stochastic blocks, %d vertices", b.blocks)
	if err := b.self(name, "blocks", "-graph", graph, "-blocks", strconv.Itoa(b.blocks)); err != nil {
		return err
	}
	k := strconv.Itoa(graphs.BlockCount(b.blocks))
	const kind = "normalized"
	work := fmt.Sprintf("%s: %s pairs, %s", name, k, kind)
	if err := b.self(work, "pairs", "-graph", graph, "-k", k, "-laplacian", kind); err != nil {
		return err
	}
	if b.peers && b.blocks <= peerBlocks {
		objects, err := peers.Run(b.ctx, os.Stderr, "eigs_lobpcg.py", graph, k, kind, fmt.Sprint(tolerance))
		if b.add(work, objects); err != nil {
			return err
		}
	}
	return b.save("eigs-blocks")
}

// writeBlocks writes the graph, and prints its size.
func writeBlocks(o *options) error {
	w, _ := graphs.Blocks(o.blocks, rand.New(rand.NewPCG(1, 0x626c6f63))) // "bloc"
	if err := sparse.WriteNPZ(o.graph, w, nil); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"peer": "bigfit", "n": w.Rows, "entries": w.NNZ(),
		"peak_bytes": peers.PeakBytes()})
}
