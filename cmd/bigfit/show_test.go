package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestShow shows a column of the metadata with the points of a report: from the points themselves, from
// the table of the ids, from a table that is named, and joined by id.
func TestShow(t *testing.T) {
	intoBlobs(t)
	meta := "id,what,picture\n"
	other := "id,remark\n"
	for i := range blobCount {
		meta += fmt.Sprintf("blob-%d,the text of <%d>,pictures/%d.png\n", i, i, i)
		other += fmt.Sprintf("blob-%d,remark on %d\n", blobCount-1-i, blobCount-1-i)
	}
	writeFile(t, "meta.csv", []byte(meta))
	writeFile(t, "other.csv", []byte(other))
	fit := func(flags ...string) (page, stderr string) {
		o := bigfit(t, append([]string{"fit", "--model", "lgc", "X.npy", "y.npy", "--labels", "20", "--report", "r.html"}, flags...)...)
		if o.code != 0 {
			t.Fatal(o.stderr)
		}
		return string(readFile(t, "r.html")), o.stderr
	}

	page, _ := fit("--ids", "meta.csv", "--show", "what")
	for _, want := range []string{">what</th>", "the text of &lt;", `the text of \u003c`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// Rows in another order are joined by their ids.
	page, _ = fit("--ids", "meta.csv:id", "--show", "other.csv:remark")
	_, row, _ := strings.Cut(page, `<td class="one">blob-`)
	id, row, _ := strings.Cut(row, "</td>")
	if row, _, _ = strings.Cut(row, "</td>"); !strings.HasSuffix(row, ">remark on "+id) {
		t.Errorf("blob-%s has %q", id, row)
	}
	// Missing pictures are said, on the page and on stderr.
	page, stderr := fit("--ids", "meta.csv", "--show", "picture")
	if !strings.Contains(page, "no such file") || !strings.Contains(stderr, "pictures of the report cannot be shown; the first is pictures/") {
		t.Errorf("missing pictures are not said:\n%s", stderr)
	}

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no report": {[]string{"fit", "X.npy", "y.npy", "--show", "what"}, "--report"},
		"no table":  {[]string{"fit", "X.npy", "y.npy", "--show", "what", "--report", "r.html"}, "FILE:COLUMN"},
		"no column": {[]string{"fit", "X.npy", "y.npy", "--ids", "meta.csv", "--show", "wat", "--report", "r.html"}, "there are id, what, picture"},
		"no column in the file": {[]string{"fit", "X.npy", "y.npy", "--show", "meta.csv:wat", "--report", "r.html"},
			`has no column "wat"; its columns are id, what, picture`},
	} {
		t.Run(name, func(t *testing.T) { fail(t, 2, []string{c.want}, c.args...) })
	}
}
