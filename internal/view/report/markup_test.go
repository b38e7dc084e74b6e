package report

import "testing"

// Texts never become elements or attributes, and links never run.
func TestMarkup(t *testing.T) {
	var b builder
	b.put(`<a title="%s">%s</a>%s%d`, `" onclick="x`, "<script>&'", markup("<b>"), 3)
	if want := `<a title="&#34; onclick=&#34;x">&lt;script&gt;&amp;&#39;</a><b>3`; b.String() != want {
		t.Errorf("%s", b.String())
	}
	for link, want := range map[string]string{
		"a.html#s1":               "a.html#s1",
		"b c/é.html":              "b%20c/%c3%a9.html",
		"https://example.org/?a":  "https://example.org/?a",
		"dir/a:b.html":            "dir/a:b.html",
		"javascript:alert(1)":     "#",
		"JavaScript:alert(1)":     "#",
		" javascript:alert(1)":    "#",
		"java\tscript:x":          "#",
		"data:text/html,<script>": "#",
		`"><script>`:              "%22%3e%3cscript%3e",
	} {
		if got := address(link); got != want {
			t.Errorf("%q leads to %q, not %q", link, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a value of another type is taken")
		}
	}()
	b.put("%s", struct{ text string }{"<"})
}
