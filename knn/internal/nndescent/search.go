// Package nndescent finds approximate nearest neighbours among rows of float32 or
// float16, sparse rows and rows of bits, by distances in float32, for a caller that
// measures the candidates again.
//
// Lists of candidates start from the leaves of random projection trees (Dasgupta & Freund,
// STOC 2008), or, for rows of numbers, of one tree and of carvings into overlapping parts (PiPNN, arXiv 2602.21247), which are
// compared by blocks of inner products: all pairs of a leaf are compared. Trees end when one of them changes less than
// a hundredth of the entries of the lists. NN-descent then improves the lists by local joins:
// in every exchange, the neighbours of each point are compared with each other, until few
// lists change (Dong, Moses & Li, WWW 2011, the full algorithm of section 2.4).
//
// Points are read through a [Meter], which measures one point against many: one call for tens
// of distances. A distance has the same bits from either end, so kernels round products before
// they subtract, and the results do not depend on the number of threads.
package nndescent

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
)

const (
	// LeafSize is the largest number of points in a leaf of a tree; lists that are long have larger
	// leaves. The lists of a set of up to LeafSize points are exact in float32.
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

// Settings are the settings of [Search]. All but Step, Save and Resume are needed.
type Settings struct {
	K          int // neighbours of every point searched for
	Trees      int // the largest number of random projection trees for the first lists; a carving counts as four
	Candidates int // neighbours of each kind that a point brings to a local join
	Exchanges  int // the largest number of exchanges in one pass
	// Tolerance is the share of all entries: trees, and then exchanges, end when one of them
	// replaces fewer.
	Tolerance float64
	// Brief leaves out the exchanges where the trees end early. It is for callers that join
	// lists across sets later.
	Brief bool
	Seed  uint64
	// Efforts is the number of times that the search may go on after a pass, with
	// twice the trees and candidates, a quarter of the tolerance and longer lists.
	Efforts int
	// Enough is called after every pass and reports whether it was the last.
	Enough func(g *Graph) (bool, error)
	// Step is called after every tree and exchange, about as often as [UsualSteps] says.
	Step func()
	// Save, if not nil, is called after every tree and exchange with the state from which a
	// search goes on, given as Resume, to the same bits. It must not keep the slices.
	Save   func(Round) error
	Resume *Round
}

// A Round is the state of a search between two trees or exchanges.
type Round struct {
	Stats         // Width and Effort belong to the pass that is under way
	Grown    bool `json:"grown"`    // no more trees are needed in this pass
	Exchange int  `json:"exchange"` // exchanges made in this pass
	Settled  bool `json:"settled"`  // the last exchange changed few lists
	// Index and Dist are the lists of candidates, n×Width, ascending by distance. An element
	// of Index is the number of a point with the marks newborn and fresh.
	Index []uint32  `json:"-"`
	Dist  []float32 `json:"-"`
}

// check returns an error unless the lists can be lists of n points.
func (r *Round) check(n, width int) error {
	if r.Width != width || len(r.Index) != n*width || len(r.Dist) != n*width || r.Trees < 1 {
		return fmt.Errorf(
			"an unfinished search with lists of %d, %d candidates and %d distances for %d points with lists of %d",
			r.Width, len(r.Index), len(r.Dist), n, width)
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

// A Graph is the result of a search for k neighbours of every point. Its points are numbered in the
// order of a tree, so that neighbours lie together in memory.
type Graph struct {
	*candidateGraph
	stats Stats
	order []int32           // order[i] is the number in the set of point i
	root  *rpNode           // the entry tree: its leaves are ranges of points
	leaf  int               // the largest number of points in a leaf
	links func() *backlinks // the lists turned round, for queries, made when needed
}

// Stats describes the search. Of a restored graph only K and Width are known.
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

// Search returns a graph of s.K neighbours of every point. It takes, per point and beside the rows,
// about 12(k+3) + 30 bytes, and 36 more for rows of numbers. Its time grows a little faster than n. The error is the error of ctx,
// s.Enough or s.Save.
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
		if leaf < n { // with one leaf the lists are exact already
			if err := g.pass(ctx, s, *begin, effort, forest, ex); err != nil {
				return nil, err
			}
		}
		begin = &Round{}
		if err := ctx.Err(); err != nil {
			return nil, err
		}

		// The memory of trees and exchanges is given up before the last call of Enough, which may
		// measure the graph's recall.
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

		// Another pass has longer lists, and compares all entries again.
		g.widen(width(effort + 1))
		g.renew()
		ex = newExchange(g.candidateGraph)
	}

	// The memory of a large search is given back before the result needs more.
	g.settle()
	if n > 1<<17 {
		debug.FreeOSMemory()
	}
	return g, nil
}

// usualExchanges is how many exchanges a pass makes until few lists change: one for 10⁴ points, three for 10⁷.
const usualExchanges = 3

// UsualSteps is about how often a search among the rows calls s.Step in its first pass.
func UsualSteps(rows Rows, s Settings) int {
	trees := s.mostTrees(rows, 0)
	if columns(rows) > 0 {
		trees = 1 + (trees-1+carveTrees-1)/carveTrees
	}
	return trees + min(usualExchanges, s.Exchanges)
}

// mostTrees is the largest number of trees of an effort, among them the entry tree. A carving counts as [carveTrees].
func (s *Settings) mostTrees(rows Rows, effort int) int {
	most := s.Trees << effort
	if columns(rows) >= carveOnce {
		return min(most, 1+carveTrees*(effort+1))
	}
	return most
}

// listWidth returns the length of the lists kept in a search for k neighbours of n points. A tenth
// more than k, and two, leave room for neighbours that float32 misplaces; each effort adds half of
// k.
func listWidth(k, effort, n int) int { return max(1, min(k+2+k/10+effort*(k/2+2), n-1)) }

// leafSize returns the largest number of points in a leaf for lists of a length: a leaf should fill
// a list several times over.
func leafSize(width int) int { return max(LeafSize, 4*(width+1)) }

// plant numbers the points of the set in the order of a tree and returns a graph with empty lists.
// The forest is left in the order of the graph, and its spare holds the place in the graph of every
// point of the set.
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

// settle ends a search, after which only queries follow: it drops distances and marks.
func (g *Graph) settle() {
	g.dist = nil
	for p := range g.index {
		g.index[p] &= number
	}
	g.finish()
}

// pass grows the trees and makes the exchanges of one effort, except those that begin holds
// already.
func (g *Graph) pass(ctx context.Context, s Settings, begin Round, effort int,
	forest *rpForest, ex *exchange) error {
	grown := begin.Grown || begin.Exchange > 0
	save := func(exchange int, settled bool) error {
		if s.Save == nil {
			return nil
		}
		r := Round{Stats: g.stats, Grown: grown, Exchange: exchange, Settled: settled, Index: g.index, Dist: g.dist}
		// The stats of the last pass hold its width and effort.
		r.Width = g.width
		r.Effort = effort
		return s.Save(r)
	}

	// Each effort tolerates a quarter of the changes of the one before.
	enough := int64(math.Ldexp(s.Tolerance, -2*effort) * float64(len(g.index)))
	carver := newCarver(g.candidateGraph, s.Seed)
	most := s.mostTrees(g.rows, effort)
	for s.Step(); !grown && g.stats.Trees < most; s.Step() {
		var pairs, entered int64
		if carver != nil {
			pairs, entered = carver.carve(ctx, g.stats.Trees)
			g.stats.Trees += carveTrees
		} else {
			pairs, entered = g.joinLeaves(ctx, forest.order, forest.grow(g.stats.Trees))
			g.stats.Trees++
		}
		g.stats.Distances += pairs
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

// finish prepares a graph without marks for queries. The links are turned round at the first query.
func (g *Graph) finish() {
	g.links = sync.OnceValue(func() *backlinks {
		back := newBacklinks(g.n, g.width)
		back.fill(g.candidateGraph)
		return back
	})
}
