package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/plot/vg"
)

// A Scatter shows points in the plane coloured by class.
type Scatter struct {
	Title, XLabel, YLabel string
	Bare                  bool // without axes, where coordinates mean nothing
	Points
}

// Points are places in the plane with classes.
type Points struct {
	X, Y       []float64
	Class      []int    // index into Classes, negative for none; nil for one colour
	Classes    []string // names of the classes
	Marked     []int    // points drawn with a ring, such as the labeled ones
	MarkedName string   // meaning of the ring, for the legend
	Most       int      // points to draw at most, a random sample of more; 0 means 10000
	Seed       uint64   // of the sample
	Scale      bool     // Classes are the steps of a scale, at most MaxSteps, the most conspicuous first

	tinted bool // on a surface, where points without classes are grey
}

func (p *Points) check() error {
	n := len(p.X)
	if len(p.Y) != n {
		return fmt.Errorf("coordinates of %d and %d points", n, len(p.Y))
	}
	if p.Class != nil && len(p.Class) != n {
		return fmt.Errorf("%d points but %d classes", n, len(p.Class))
	}
	if p.Scale && len(p.Classes) > MaxSteps {
		return fmt.Errorf("a scale of %d steps; at most %d can be told apart", len(p.Classes), MaxSteps)
	}

	for i, c := range p.Class {
		if c >= len(p.Classes) {
			return fmt.Errorf("point %d is of class %d of %d", i, c, len(p.Classes))
		}
	}

	for _, i := range p.Marked {
		if i < 0 || i >= n {
			return fmt.Errorf("marked point %d of %d", i, n)
		}
	}
	return nil
}

// class returns the class of point i, or -1.
func (p *Points) class(i int) int {
	if p.Class == nil && p.tinted {
		return -1
	} else if p.Class == nil {
		return 0
	}
	return max(-1, p.Class[i])
}

// choose returns the points to draw of those that inside holds for: marked points
// first, then a sample, in ascending order.
func (p *Points) choose(inside func(i int) bool) (index []int, total int) {
	most := p.Most
	if most <= 0 {
		most = 10000
	}
	marked := make(map[int]bool, len(p.Marked))
	for _, i := range p.Marked {
		marked[i] = true
	}
	// The order depends on the seed alone, so that a chart shows the same sample every time.
	for _, i := range rand.New(rand.NewPCG(p.Seed, 0x706c6f74)).Perm(len(p.X)) {
		if inside(i) {
			index = append(index, i)
		}
	}

	// Marked points are few and must not be lost in the sample.
	total = len(index)
	if total > most {
		slices.SortStableFunc(index, func(a, b int) int {
			switch {
			case marked[a] == marked[b]:
				return 0
			case marked[a]:
				return -1
			}
			return 1
		})
		index = index[:most]
	}

	// Drawing order is by number again, so that it does not depend on the sample.
	slices.Sort(index)
	return index, total
}

const (
	// leastRadius is the radius of a mark among many, in units of 1/400 of the width of a page's chart.
	leastRadius = 1.3
	// shaped is the number of points up to which classes differ in shape, too: smaller marks would
	// look the same, and corners take more bytes than discs.
	shaped = 4000
)

// layers is the number of layers, with all classes in each, in which points are
// drawn, so that no class lies on top of all others.
const layers = 12

// add draws the points that inside holds for.
func (p *Points) add(pic *Picture, inside func(i int) bool) {
	index, total := p.choose(inside)
	pic.Marks = len(index)
	if total > len(index) {
		pic.Left += total - len(index)
		pic.Notes = append(pic.Notes, fmt.Sprintf("%d of %d points are drawn.", len(index), total))
	}

	// The more points, the smaller the marks: at most about half of the frame is covered. Marks are
	// never so small that ten colours cannot be told apart.
	style := func(k int) *marks {
		m := &marks{color: seriesColor(k),
			radius: vg.Points(max(leastRadius, min(2.6, 100/math.Sqrt(float64(len(index))+1))))}
		switch {
		case k < 0:
			m.radius *= 0.75
		case p.Scale:
			m.color = stepColor(k)
		case len(index) <= shaped:
			m.shape = shape(k)
		case k >= colors: // among many, discs and squares can be told apart
			m.shape = shape(k / colors)
		}

		return m
	}

	// Points without a class lie below.
	bare := style(-1)
	groups := make([][]*marks, layers)
	for j, i := range index {
		k := p.class(i)
		at := point{p.X[i], p.Y[i]}
		if k < 0 {
			bare.at = append(bare.at, at)
			continue
		}
		g := &groups[j%layers]
		if p.Scale { // the most conspicuous on top
			g = &groups[layers-1-k]
		}
		for len(*g) <= k {
			*g = append(*g, style(len(*g)))
		}
		(*g)[k].at = append((*g)[k].at, at)
	}

	// Layer by layer: each holds a share of every class.
	pic.add(bare)
	for _, g := range groups {
		for _, m := range g {
			pic.add(m)
		}
	}

	p.rings(pic, inside, style(0).radius+vg.Points(2))
	p.legend(pic, style)
}

// rings puts rings around the marked points. A wider ring in the colour of the
// page sets the ring off the points.
func (p *Points) rings(pic *Picture, inside func(i int) bool, radius vg.Length) {
	ring := &marks{color: ink, radius: radius, ring: vg.Points(1.2)}
	for _, i := range p.Marked {
		if inside(i) {
			ring.at = append(ring.at, point{p.X[i], p.Y[i]})
		}
	}

	halo := *ring
	halo.color, halo.ring = page, vg.Points(3)
	pic.add(&halo, ring)
	if len(ring.at) > 0 && p.MarkedName != "" {
		pic.key(p.MarkedName, ring)
	}
}

// legend lists the classes, at most 20 of them, in the order of the numbers in their names.
func (p *Points) legend(pic *Picture, style func(k int) *marks) {
	if p.Class == nil {
		return
	}
	const most = 20
	// Steps of a scale have an order of their own.
	order := make([]int, len(p.Classes))
	for k := range order {
		order[k] = k
	}
	if !p.Scale {
		slices.SortStableFunc(order, func(a, b int) int { return CompareNames(p.Classes[a], p.Classes[b]) })
	}

	for at, k := range order {
		if at == most {
			pic.key(fmt.Sprintf("and %d more", len(p.Classes)-most))
			break
		}
		pic.classKey(p.Classes[k], k, style(k))
	}

	if slices.ContainsFunc(p.Class, func(c int) bool { return c < 0 }) {
		pic.classKey("no label", -1, style(-1))
	}
}

// Draw implements [Chart].
func (s *Scatter) Draw() (*Picture, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	x := newScale(false)
	y := newScale(false)
	x.margin = 0.06
	y.margin = 0.06 // rings are larger than marks
	inside := func(i int) bool { return finite(s.X[i]) && finite(s.Y[i]) }
	// Both axes see only points that can be drawn.
	left := 0
	for i := range s.X {
		if !inside(i) {
			left++
			continue
		}
		x.see(s.X[i])
		y.see(s.Y[i])
	}

	p := newPicture(s.Title, s.XLabel, s.YLabel, x, y)
	p.bare = s.Bare
	p.grid = !s.Bare
	p.leftOut(left, "that are not finite")
	s.add(p, inside)
	if p.Marks == 0 {
		p.empty()
	}
	p.Aspect = 0.8
	p.Alt = fmt.Sprintf("Scatter plot of %d points", p.Marks)
	if !s.Bare {
		p.Alt += fmt.Sprintf(", %s over %s", orWord(s.YLabel, "y"), orWord(s.XLabel, "x"))
	}
	if len(s.Classes) > 0 {
		p.Alt += fmt.Sprintf(", in %d classes", len(s.Classes))
	}
	p.Alt += "."
	return p, nil
}
