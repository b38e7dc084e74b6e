package shards

import (
	"fmt"
	"slices"
	"testing"
)

func TestBeside(t *testing.T) {
	var twelve, tables []string
	for i := range 12 {
		twelve = append(twelve, fmt.Sprintf("emb/emb_%d.npy", i))
		tables = append(tables, fmt.Sprintf("emb/meta_%d.csv", i))
	}
	two := []string{"emb/img_emb_2.npy", "emb/img_emb_10.npy"}
	list := func(paths ...string) [][]string { return [][]string{paths} }
	for name, c := range map[string]struct {
		files, given, except []string
		want                 [][]string
	}{
		"none":               {two, two, nil, nil},
		"one for two":        {append(two[:2:2], "emb/m_2.parquet"), two, nil, nil},
		"zeros":              {append(two[:2:2], "emb/m_2.parquet", "emb/m_0010.parquet", "emb/m_3.parquet", "emb/notes_2.txt"), two, nil, list("emb/m_2.parquet", "emb/m_0010.parquet")},
		"twelve in order":    {append(twelve[:12:12], tables...), []string{"emb"}, nil, [][]string{tables}},
		"twelve by name":     {append(twelve[:12:12], tables...), twelve, nil, [][]string{tables}},
		"compressed":         {append(two[:2:2], "emb/m_2.csv.gz", "emb/m_10.csv.gz"), []string{"emb"}, nil, list("emb/m_2.csv.gz", "emb/m_10.csv.gz")},
		"constant number":    {[]string{"emb/vit14_0.npy", "emb/vit14_1.npy", "emb/m_0.csv", "emb/m_1.csv"}, []string{"emb"}, nil, list("emb/m_0.csv", "emb/m_1.csv")},
		"one for all":        {append(two[:2:2], "emb/meta.csv"), []string{"emb"}, nil, list("emb/meta.csv")},
		"pattern":            {append(two[:2:2], "emb/meta.csv"), []string{"emb/*.npy"}, nil, nil},
		"labels":             {append(two[:2:2], "emb/labels.csv"), []string{"emb"}, []string{"emb/../emb/labels.csv"}, nil},
		"each before all":    {append(two[:2:2], "emb/answers.csv", "emb/m_2.csv", "emb/m_10.csv"), []string{"emb"}, nil, [][]string{{"emb/m_2.csv", "emb/m_10.csv"}, {"emb/answers.csv"}}},
		"two kinds":          {append(two[:2:2], "emb/m_2.jsonl", "emb/m_10.jsonl", "emb/c_2.csv", "emb/c_10.csv"), []string{"emb"}, nil, [][]string{{"emb/c_2.csv", "emb/c_10.csv"}, {"emb/m_2.jsonl", "emb/m_10.jsonl"}}},
		"answers of a day":   {[]string{"day_1.npy", "day_1.csv"}, []string{"day_1.npy"}, nil, nil},
		"parquet of a day":   {[]string{"day_1.npy", "m_1.parquet"}, []string{"day_1.npy"}, nil, list("m_1.parquet")},
		"no numbers":         {[]string{"X.npy", "y.csv"}, []string{"X.npy"}, nil, nil},
		"text":               {[]string{"a_2.csv", "m_2.jsonl"}, []string{"a_2.csv"}, nil, nil},
		"two kinds of files": {append(two[:2:2], "b_3.npy", "m_2.csv", "m_10.csv"), append(two[:2:2], "b_3.npy"), nil, nil},
		"namesakes":          {[]string{"emb/train.npy", "emb/test.npy", "emb/train.csv", "emb/test.csv.gz"}, []string{"emb"}, nil, list("emb/test.csv.gz", "emb/train.csv")},
		"namesakes, pattern": {[]string{"emb/train.npy", "emb/test.npy", "emb/train.csv", "emb/test.csv"}, []string{"emb/*.npy"}, nil, list("emb/test.csv", "emb/train.csv")},
		"one namesake":       {[]string{"emb/train.npy", "emb/test.npy", "emb/train.csv"}, []string{"emb/*.npy"}, nil, nil},
		"namesakes, labels":  {[]string{"emb/train.npy", "emb/test.npy", "emb/train.csv", "emb/test.csv"}, []string{"emb/*.npy"}, []string{"emb/train.csv"}, nil},
		"one number twice":   {[]string{"a_2.npy", "a_02.npy", "m_2.csv", "m_3.csv"}, []string{"a_2.npy", "a_02.npy"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, c.files...)
			f, err := Find(c.given)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Beside(c.except...); !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}
