package page

import (
	"strings"
	"testing"
)

// Names of files and annotators are text on the page, and no words of the page are left in braces.
func TestRender(t *testing.T) {
	out := string(Render(Head{Title: "<i>{file}", File: `"labels".csv`, Annotator: "a&b", Target: 0.05}))
	for _, want := range []string{"<h1>&lt;i&gt;{file}</h1>", "Labels go to &#34;labels&#34;.csv, as a&amp;b;", `data-target="0.05"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not on the page", want)
		}
	}
	if out = string(Render(Head{Title: "t", File: "f"})); strings.Contains(out, "{") || !strings.Contains(out, "Labels go to f;") {
		t.Error("the page without an annotator")
	}
}
