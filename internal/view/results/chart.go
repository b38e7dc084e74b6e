package results

import (
	"fmt"
	"math"
	"strings"

	"github.com/bigfit/bigfit/internal/view/chart"
)

// A Picture is drawn besides the figures of a table.
type Picture struct {
	Title, Caption string
	Charts         []chart.Chart
}

// Chart draws the figure.
func (d *Drawing) Chart() chart.Chart {
	if d.Bars != nil {
		return d.bars()
	}
	return d.lines()
}

func (d *Drawing) lines() *chart.Lines {
	out := &chart.Lines{XLabel: d.XLabel, YLabel: d.YLabel, XLog: d.LogX, YLog: d.LogY}
	for _, c := range d.Curves {
		out.Series = append(out.Series, chart.Series{Name: c.Name, X: c.X, Y: c.Y, Err: c.Deviation,
			Dashed: c.Published})
	}
	return out
}

// bars draws amounts with the published figures behind them.
func (d *Drawing) bars() *chart.Bars {
	out := &chart.Bars{Unit: d.Unit}
	for _, b := range d.Bars {
		bar := chart.Bar{Name: b.Name, Value: b.Value}
		if b.Deviation > 0 {
			bar.Deviation = b.Deviation
		}
		if !math.IsNaN(b.Published) {
			bar.Note = "(" + strings.TrimSpace(fmt.Sprintf("paper %g %s", b.Published, d.Unit)) + ")"
		}
		out.Rows = append(out.Rows, bar)
	}
	return out
}
