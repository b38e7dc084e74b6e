// Package nndescent finds approximate nearest neighbours among rows of float32 or
// float16, sparse rows and rows of bits, by distances in float32, for a caller that
// measures the candidates again.
//
// Lists of candidates start from the leaves of random projection trees
// (Dasgupta & Freund, STOC 2008), in each of which all pairs are compared. They
// are improved by NN-descent: neighbours of a point are introduced to each other
// until few lists change (Dong, Moses & Li, WWW 2011, the full algorithm of
// section 2.4). The results do not depend on the number of threads.
package nndescent

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
)

const (
	// LeafSize is the largest number of points in a leaf of a tree, or more for
	// long lists. The lists of no more points than that are exact in float32.
	LeafSize = 128
	// MaxCandidates is the largest Settings.Candidates.
	MaxCandidates = 100
	// MaxPoints is the largest number of points of a set.
	MaxPoints = number - 1
)

// A Set is N points. A search may change the order of its rows.
type Set struct {
	N    int
	Rows Rows
}

// Settings of [Search]; all but the functions are needed.
type Settings struct {
	K          int     // neighbours of every point searched for
	Trees      int     // the largest number of random projection trees that give the first lists
	Candidates int     // of each kind that a point introduces in one exchange
	Exchanges  int     // the largest number of exchanges in one pass
	Tolerance  float64 // trees, and then exchanges, end when one replaces less than this share of all entries
	Brief      bool    // no exchanges where the trees end early
	Seed       uint64
	// Efforts is the number of times that the search may go on after a pass, with
	// twice the trees and candidates, a quarter of the tolerance and longer lists.
	Efforts int
	// Enough is called after every pass and reports whether it was the last.
	Enough func(g *Graph) (bool, error)
	// Step is called after every tree and exchange.
	Step func()
	// Save, if not nil, is called after every tree and exchange with what Resume
	// takes to go on from there, to the same bits. It must not keep the slices.
	Save   func(Round) error
	Resume *Round
}

// A Round is the state of a search between two trees or exchanges.
type Round struct {
	Stats         // Width and Effort are those of the pass that is under way
	Grown    bool `json:"grown"`    // no more trees are needed in this pass
	Exchange int  `json:"exchange"` // exchanges made in this pass
	Settled  bool `json:"settled"`  // the last of them changed few lists
	// Index and Dist are the lists of candidates, n×Width.
	Index []uint32  `json:"-"`
	Dist  []float32 `json:"-"`
}

// check returns an error unless the lists can be those of n points.
func (r *Round) check(n, width int) error {
	if r.Width != width || len(r.Index) != n*width || len(r.Dist) != n*width || r.Trees < 1 {
		return fmt.Errorf("an unfinished search with lists of %d, %d candidates and %d distances for %d points with lists of %d", r.Width, len(r.Index), len(r.Dist), n, width)
	}
	for p, v := range r.Index {
		if v&number != number && int(v&number) >= n {
			return fmt.Errorf("an unfinished search in which candidate %d is point %d of %d", p, v&number, n)
		}
	}
	return nil
}

// Stats describe a search.
type Stats struct {
	K         int   // neighbours per point searched for
	Width     int   // length of the lists kept in the search
	Trees     int   // random projection trees grown
	Exchanges int   // exchanges made
	Distances int64 // distances computed in float32
	Effort    int   // number of times the effort was raised
}

// A Graph is the outcome of a search for k neighbours of every point. Its points are
// numbered in the order of a tree, so that neighbours lie together in memory.
type Graph struct {
	*candidateGraph
	stats Stats
	order []int32           // order[i] is the number in the set of point i
	root  *rpNode           // a tree whose leaves are ranges of points
	leaf  int               // the largest number of points in one
	links func() *backlinks // for queries, made when needed
}

// Stats describes the search. Of a restored graph it holds K and Width only.
func (g *Graph) Stats() Stats { return g.stats }

// Order returns the number in the set of every point of the graph.
func (g *Graph) Order() []int32 { return g.order }

// AppendList appends to dst the neighbours of point i of the graph, nearest first, by
// their numbers in the set.
func (g *Graph) AppendList(dst []int32, i int32) []int32 {
	for _, v := range g.list(i) {
		if v&number != number {
			dst = append(dst, g.order[v&number])
		}
	}
	return dst
}

// Search returns a graph of s.K neighbours of every point. It takes, per point and beside
// the rows, about 12(k+3) + 30 bytes. Its time grows a little faster than n. The
// error is that of ctx or of s.Enough.
func Search(ctx context.Context, set Set, s Settings) (*Graph, error) {
	n := set.N
	width := func(effort int) int { return listWidth(s.K, effort, n) }
	leaf := leafSize(width(0))
	begin := s.Resume
	if begin == nil {
		begin = &Round{}
	} else if err := begin.check(n, width(begin.Effort)); err != nil {
		return nil, err
	}
	g, forest := plant(set, width(begin.Effort), leaf, s.Seed)
	if s.Resume == nil {
		pairs, _ := g.joinLeaves(ctx, forest.order, g.root)
		g.stats = Stats{K: s.K, Trees: 1, Distances: pairs}
	} else {
		g.stats = begin.Stats
		copy(g.index, begin.Index)
		copy(g.dist, begin.Dist)
	}
	ex := newExchange(g.candidateGraph)
	for effort := begin.Effort; ; effort++ {
		if leaf < n { // otherwise the lists are exact
			if err := g.pass(ctx, s, *begin, effort, forest, ex); err != nil {
				return nil, err
			}
		}
		begin = &Round{}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.stats.Width = g.width
		g.stats.Effort = effort
		last := effort == s.Efforts
		if last {
			forest = nil
			ex = nil
		}
		if enough, err := s.Enough(g); err != nil {
			return nil, err
		} else if last || enough {
			break
		}
		g.widen(width(effort + 1))
		g.renew()
		ex = newExchange(g.candidateGraph)
	}
	g.settle()
	if n > 1<<17 {
		debug.FreeOSMemory() // the memory of the search, before the result needs more
	}
	return g, nil
}

// listWidth is the length of the lists kept in a search for k neighbours of n points.
func listWidth(k, effort, n int) int { return max(1, min(k+2+k/10+effort*(k/2+2), n-1)) }

// leafSize is the largest number of points in a leaf for lists of this length.
func leafSize(width int) int { return max(LeafSize, 4*(width+1)) }

// plant numbers the points of the set in the order of a tree and returns a graph with
// empty lists. The order of the forest is that of the graph; its spare holds the
// place in the graph of every point of the set.
func plant(set Set, width, leaf int, seed uint64) (*Graph, *rpForest) {
	n := set.N
	forest := newForest(set.Rows, n, leaf, seed)
	root := forest.grow(0)
	order := forest.arrange(root)
	for i := range forest.order {
		forest.order[i] = int32(i)
	}
	return &Graph{order: order, root: root, leaf: leaf, candidateGraph: newCandidateGraph(set.Rows, n, width)}, forest
}

// settle ends a search: only queries follow.
func (g *Graph) settle() {
	g.dist = nil
	for p := range g.index {
		g.index[p] &= number // the marks have served
	}
	g.finish()
}

// pass grows the trees and makes the exchanges of one effort, as far as they are
// not made in begin.
func (g *Graph) pass(ctx context.Context, s Settings, begin Round, effort int, forest *rpForest, ex *exchange) error {
	grown := begin.Grown || begin.Exchange > 0
	save := func(exchange int, settled bool) error {
		if s.Save == nil {
			return nil
		}
		r := Round{Stats: g.stats, Grown: grown, Exchange: exchange, Settled: settled, Index: g.index, Dist: g.dist}
		r.Width, r.Effort = g.width, effort
		return s.Save(r)
	}
	enough := int64(math.Ldexp(s.Tolerance, -2*effort) * float64(len(g.index)))
	for s.Step(); !grown && g.stats.Trees < s.Trees<<effort; s.Step() {
		next := forest.grow(g.stats.Trees)
		pairs, entered := g.joinLeaves(ctx, forest.order, next)
		g.stats.Distances += pairs
		g.stats.Trees++
		grown = entered <= enough
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := save(0, false); err != nil {
			return err
		}
	}
	ex.sample = min(s.Candidates<<effort, MaxCandidates)
	settled := begin.Settled || s.Brief && grown
	for e := begin.Exchange; !settled && e < s.Exchanges; e++ {
		entered, pairs := ex.run(ctx, s.Seed+uint64(g.stats.Exchanges)<<32)
		settled = entered <= enough
		g.stats.Distances += pairs
		g.stats.Exchanges++
		if err := ctx.Err(); err != nil {
			return err
		}
		s.Step()
		if err := save(e+1, settled); err != nil {
			return err
		}
	}
	return nil
}

// finish prepares a graph without marks for queries.
func (g *Graph) finish() {
	g.links = sync.OnceValue(func() *backlinks {
		back := newBacklinks(g.n, g.width)
		back.fill(g.candidateGraph)
		back.sort()
		return back
	})
}
