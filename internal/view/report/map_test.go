package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/view/browsertest"
)

// fourPoints are the corners of a square in two classes, one without a class, and one without a place.
func fourPoints() *Map {
	return &Map{Title: "Map", X: []float64{0, 1, 0, 1, math.NaN()}, Y: []float64{0, 0, 2, 2, 1},
		Names: []string{"south <west>", "south-east", "north-west", "north-east", "nowhere"},
		Notes: []string{"</script><script>alert(1)</script>", "", "", "", ""}, Marked: []int{1, 4}, MarkedName: "label given",
		Views: []View{{Name: "answer", Class: []int{0, 1, 0, -1, 1}, Classes: []string{"red & blue", "green"}},
			{Name: "certainty", Class: []int{0, 1, 2, 3, 4}, Classes: []string{"a", "b", "c", "d", "e"}, Scale: true}}}
}

func TestMapData(t *testing.T) {
	d := fourPoints().data()
	want := &mapData{X: []int{0, steps, 0, steps}, Y: []int{steps, steps, 0, 0},
		Names: []string{"south <west>", "south-east", "north-west", "north-east"},
		Notes: []string{"</script><script>alert(1)</script>", "", "", ""}, Marked: []int{1},
		Views: []viewData{{Name: "answer", Class: []int{0, 1, 0, -1}, Classes: []string{"red & blue", "green"}},
			{Name: "certainty", Class: []int{0, 1, 2, 3}, Classes: []string{"a", "b", "c", "d", "e"}, Scale: true}}}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got %+v, want %+v", d, want)
	}
	if d := (&Map{X: []float64{3, 3}, Y: []float64{1, 1}}).data(); d.X[0] != steps/2 || d.Y[1] != steps/2 {
		t.Errorf("points in one place: %+v", d)
	}
}

func TestMapPage(t *testing.T) {
	page := blocks(t, fourPoints())
	for _, want := range []string{"script-src &#39;sha256-", `<script>"use strict";`, `\u003c/script\u003e`, `data-class="-1"`,
		"Coloured by certainty", "Points that are not finite are left out (1)."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "alert(1)<") || strings.Count(page, "<script>") != 1 {
		t.Error("text of a point became markup")
	}
	if plain := blocks(t, Paragraph("no map")); !strings.Contains(plain, "script-src &#39;none&#39;") || strings.Contains(plain, "<script") {
		t.Error("a page without a map runs scripts")
	}

	// Faults in the values are errors.
	m := fourPoints()
	m.Names = m.Names[:2]
	var b bytes.Buffer
	if err := Write(&b, &Report{Sections: []Section{{Blocks: []Block{m}}}}); err == nil || b.Len() > 0 {
		t.Errorf("too few names: %v", err)
	}
}

// TestMapInBrowser uses the map as a reader does, at two widths.
func TestMapInBrowser(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "map.html"), []byte(blocks(t, fourPoints())), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{500, 1100} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			found := browsertest.Run(t, dir, "map.html", width, `
const canvas = doc.querySelector("canvas"), tip = doc.querySelector(".tip"), found = [];
const box = () => canvas.getBoundingClientRect();
const point = (u, v) => {
  const r = box();
  canvas.dispatchEvent(new win.PointerEvent("pointermove", {clientX: r.left + u * r.width, clientY: r.top + v * r.height}));
  return tip.hidden ? "nothing" : [...tip.children].map(e => e.textContent).join(" | ");
};
const button = name => [...doc.querySelectorAll(".map button")].find(b => b.textContent.trim() === name);
const near = 14 / box().width, far = 1 - near, low = 1 - 14 / box().height, high = 14 / box().height;
found.push("overflow " + (doc.documentElement.scrollWidth > doc.documentElement.clientWidth));
found.push(point(near, low), point(0.5, 0.5), point(far, high));
button("red & blue").click();
found.push("filtered: " + point(far, low), point(near, low));
button("red & blue").click();
found.push("all again: " + point(far, low));
button("+").click();
found.push("zoomed: " + point(near, low));
button("all").click();
found.push("back: " + point(near, low));
button("by certainty").click();
found.push([...doc.querySelectorAll(".view")].map(v => v.hidden).join());
const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
found.push("drawn " + pixels.some(v => v > 0));
return found;`)
			south := "south <west> | answer: red & blue | </script><script>alert(1)</script>"
			want := []string{"overflow false", south, "nothing", "north-east", "filtered: nothing", south,
				"all again: south-east | answer: green", "zoomed: nothing", "back: " + south, "true,false", "drawn true"}
			if !reflect.DeepEqual(found, want) {
				t.Errorf("found\n%q, want\n%q", found, want)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	page := blocks(t, &Headline{Text: "a < b", Note: "note"}, &List{Title: "l", Items: []Item{{"do", []string{"x -y <z>"}}}},
		&Matrix{Title: "m", Rows: "label", Columns: "answer", Names: []string{"a", "b"}, Counts: [][]int{{3, 1}, {0, 0}}},
		&Table{Header: []string{"p"}, Rows: [][]string{{"a.png"}}, Pictures: []Picture{{Type: "image/png", Data: []byte("png"), Width: 4,
			Height: 5, Alt: "a"}}})
	for _, want := range []string{`<p class="headline">a &lt; b</p>`, "<code>x -y &lt;z&gt;</code>", `<td class="t4 on">3</td>`,
		`<td class="t2">1</td>`, `<td class="on"></td>`, `<img class="thumb" src="data:image/png;base64,cG5n" width="4" height="5" alt="a">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, &Report{Sections: []Section{{Blocks: []Block{&Matrix{Names: []string{"a"}, Counts: [][]int{{1, 2}}}}}}}); err == nil {
		t.Error("a matrix that is not square")
	}
}
