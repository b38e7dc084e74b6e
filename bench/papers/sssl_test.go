package papers

import (
	"math"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
)

func TestSSSLOnTheSphere(t *testing.T) {
	x, values := data.Climate(20, 45, 1, 0.1, 1)
	s := &ssslSet{"sphere", x, values}
	d, err := s.draw(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.errors(t.Context(), 9)
	if err != nil {
		t.Fatal(err)
	}
	_, std := meanStd(values)
	for m, v := range e {
		if !(v < 0.05*std*std) {
			t.Errorf("%s: squared error %v of a variance of %v", ssslMethods[m], v, std*std)
		}
	}
	if about := d.describe(); !strings.Contains(about, "eigenfunctions capture") {
		t.Error(about)
	}
}

func TestSSSLMarkdown(t *testing.T) {
	table := &SSSLTables{Notes: []string{"wine: σ"}}
	for _, set := range []string{"wine", "sphere"} {
		for _, percent := range []int{2, 3} {
			for _, m := range ssslMethods {
				r := SSSLResult{Set: set, Percent: percent, Method: m, Mean: 0.6123, Std: 0.02, Paper: Number(math.NaN())}
				if set == "wine" {
					r.Paper = 0.5
				}
				table.Results = append(table.Results, r)
			}
		}
	}
	text := table.Markdown()
	for _, want := range []string{"| wine, squared error | KRR |", "| 3 % | 0.6123 ± 0.02 (0.5) |", "| 2 % | 0.6123 ± 0.02 |", "* wine: σ\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}
