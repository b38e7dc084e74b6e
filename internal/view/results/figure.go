package results

import (
	"cmp"
	"math"
	"slices"
)

// A Figure draws a column of a table: as curves over the column X, or without X as
// bars.
type Figure struct {
	Title, Caption string
	Value          string // key of the column to draw
	X              string // key of the horizontal axis of curves
	By             string // key of the column that has a value for each curve, or bar
	LogX, LogY     bool

	// Each is the key of a column: there is a drawing for each of its values, with
	// the value behind the title. It may be empty.
	Each string

	// Published names the curve of published figures: at each X the least one among the
	// records that Of selects. Without a name there is no such curve.
	Published string
	Of        Where
}

// A Drawing is a figure as numbers: curves or bars.
type Drawing struct {
	Title, Caption string
	XLabel, YLabel string
	LogX, LogY     bool
	Curves         []Curve
	Bars           []Bar
	Unit           string // of the bars
}

// A Curve joins the points (X[i], Y[i]), X ascending. Deviation holds the half-lengths of error
// bars, nil for a published curve.
type Curve struct {
	Name            string
	X, Y, Deviation []float64
	Published       bool
}

// A Bar is one amount with its deviation, beside the published figure; each of the two is NaN if there is
// none.
type Bar struct {
	Name                        string
	Value, Deviation, Published float64
}

// mostDrawings is the number of drawings up to which a figure with Each is made: a page of
// more is not read.
const mostDrawings = 16

// Drawings returns the figures as numbers.
func (t *Table) Drawings() []Drawing {
	var out []Drawing
	for i := range t.Figures {
		f := &t.Figures[i]
		if f.Each == "" {
			out = append(out, t.drawing(f, f.Title, t.Records))
			continue
		}
		// More drawings than a page can show are left out as a whole.
		values := t.Distinct(t.Records, f.Each)
		if len(values) > mostDrawings {
			continue
		}
		for _, v := range values {
			out = append(out, t.drawing(f, f.Title+v, t.Select(Where{f.Each, v})))
		}
	}

	return out
}

// drawing draws some of the records.
func (t *Table) drawing(f *Figure, title string, records []Record) Drawing {
	value := t.Column(f.Value)
	d := Drawing{Title: title, Caption: f.Caption, YLabel: value.axis(), Unit: value.Unit, LogX: f.LogX,
		LogY: f.LogY}
	if f.X == "" {
		for _, r := range records {
			v := t.Value(r, f.Value)
			d.Bars = append(d.Bars, Bar{t.print(r, f.By), v.Number, v.Deviation, v.Published})
		}
		return d
	}

	// Curves come in the order of their values and join points with x ascending.
	d.XLabel = t.Column(f.X).axis()
	number := func(r Record, key string) float64 { return t.Value(r, key).Number } // 0 of text
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(number(a, f.By), number(b, f.By)), cmp.Compare(number(a, f.X),
			number(b, f.X)))
	})
	for _, name := range t.Distinct(records, f.By) {
		c := Curve{Name: t.legend(f.By, name)}
		for _, r := range records {
			if t.print(r, f.By) == name {
				v := t.Value(r, f.Value)
				c.X = append(c.X, number(r, f.X))
				c.Y = append(c.Y, v.Number)
				c.Deviation = append(c.Deviation, v.Deviation)
			}
		}
		d.Curves = append(d.Curves, c)
	}

	// The published curve comes last, so that the colours of ours do not depend on it.
	if c := t.publishedCurve(f, records); len(c.X) > 0 {
		d.Curves = append(d.Curves, c)
	}
	return d
}

// legend names a curve of numbers by their column too.
func (t *Table) legend(key, value string) string {
	if c := t.Column(key); c.Kind == Numbers {
		return c.Name + " = " + value
	}
	return value
}

func (t *Table) publishedCurve(f *Figure, records []Record) Curve {
	c := Curve{Name: f.Published, Published: true}
	if f.Published == "" {
		return c
	}

	for _, r := range records {
		x, v := t.Value(r, f.X).Number, t.Value(r, f.Value).Published
		if math.IsNaN(v) || f.Of.Key != "" && t.print(r, f.Of.Key) != f.Of.Is {
			continue
		}
		// A paper may print several figures for one x; the least is drawn.
		if i := slices.Index(c.X, x); i >= 0 {
			c.Y[i] = min(c.Y[i], v)
		} else {
			c.X = append(c.X, x)
			c.Y = append(c.Y, v)
		}
	}

	return c
}
