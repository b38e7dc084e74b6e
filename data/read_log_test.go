package data_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
)

// Of a file of bigfit label the last row of an annotator counts, and of several annotators what most say.
func TestLabelsOfLog(t *testing.T) {
	for _, c := range []struct{ name, rows, want string }{
		{"changed", "0,x,,T,1.0,one\n1,y,,T,1.0,one\n0,y,,T,1.0,back\n", "y y - -"},
		{"undone", "0,x,,T,1.0,one\n1,y,,T,1.0,one\n0,,,T,0.0,undo\n2,x,,T,1.0,one\n", "- y x -"},
		{"skipped", "3,,,T,1.0,skip\n1,y,,T,1.0,one\n0,x,,T,1.0,one\n", "x y - -"},
		{"most", "0,x,a,T,1.0,one\n0,y,b,T,1.0,twice\n0,x,c,T,1.0,twice\n1,y,a,T,1.0,one\n", "x y - -"},
		{"the last of two", "0,x,a,T,1.0,one\n0,y,b,T,1.0,twice\n1,x,a,T,1.0,one\n", "y x - -"},
		{"one of two has none", "0,x,a,T,1.0,one\n0,,b,T,1.0,unsure\n1,y,b,T,1.0,one\n", "x y - -"},
	} {
		path := filepath.Join(t.TempDir(), "labels.csv")
		text := "id,label,annotator,time,seconds,shown\n" + c.rows
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		y, err := data.ReadLabels(path, data.LabelOptions{Points: 4})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		for _, class := range y.Index {
			name := "-"
			if class != data.Unlabeled {
				name = y.Name(class)
			}
			got = append(got, name)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
