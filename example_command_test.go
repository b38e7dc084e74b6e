package bigfit_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bigfit/bigfit"
	"github.com/bigfit/bigfit/data"
)

// label does in a Go program what four commands do:
//
//	bigfit fit X.csv labels.csv -o model.npz
//	bigfit next model.npz -n 20 -o next.csv
//	bigfit suspects model.npz -o suspects.csv
//	bigfit predict model.npz new.csv -o answers.csv
func label(ctx context.Context, dir string) error {
	read := func(name string) (bigfit.Points, error) {
		x, err := data.ReadPoints(filepath.Join(dir, name), data.ReadOptions{})
		return bigfit.FromData(x), err
	}
	x, err := read("X.csv")
	if err != nil {
		return err
	}
	y, err := data.ReadLabels(filepath.Join(dir, "labels.csv"), data.LabelOptions{})
	if err != nil {
		return err
	}
	m, err := bigfit.Fit(ctx, x, bigfit.FromLabels(y), nil)
	if err != nil {
		return err
	}
	if err := m.Save(filepath.Join(dir, "model.npz")); err != nil {
		return err
	}

	choices, err := m.Next(ctx, 20, nil)
	if err != nil {
		return err
	}
	next := [][]string{{"row", "label", "p"}}
	for _, c := range choices {
		next = append(next, []string{strconv.Itoa(c.Point), c.Name, fmt.Sprint(c.Probability)})
	}

	found, err := m.Suspects(ctx, nil)
	if err != nil {
		return err
	}
	suspects := [][]string{{"row", "label", "suggested", "score"}}
	for _, s := range found {
		suspects = append(suspects, []string{strconv.Itoa(s.Point), s.Given, s.Suggested, fmt.Sprint(s.Score)})
	}

	fresh, err := read("new.csv")
	if err != nil {
		return err
	}
	p, err := m.Predict(ctx, fresh)
	if err != nil {
		return err
	}
	answers := [][]string{{"row", "label", "p"}}
	for i := range p.Len() {
		answers = append(answers, []string{strconv.Itoa(i), p.Name(i), fmt.Sprint(p.Probability(i))})
	}

	for name, rows := range map[string][][]string{"next.csv": next, "suspects.csv": suspects, "answers.csv": answers} {
		if err := writeCSV(filepath.Join(dir, name), rows); err != nil {
			return err
		}
	}
	return nil
}

func writeCSV(path string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		return err
	}
	return f.Close()
}

// The road of the command, from files to files, in the lines of one function.
func Example_files() {
	dir, err := os.MkdirTemp("", "bigfit")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	writeFiles(dir)

	if err := label(context.Background(), dir); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"model.npz", "next.csv", "suspects.csv", "answers.csv"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			log.Fatal(name, err)
		}
	}
	m, err := bigfit.Load(filepath.Join(dir, "model.npz"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Name(), m.Classes())
	// Output: auto [ash birch cedar]
}

// writeFiles writes 300 points with the labels of 40, and 50 new points.
func writeFiles(dir string) {
	x, trees := blobs(300, 1)
	fresh, _ := blobs(50, 2)
	labels := make([][]string, len(x))
	for i := range labels {
		labels[i] = []string{"?"} // no label
		if i < 40 {
			labels[i] = []string{trees[i]}
		}
	}
	for name, rows := range map[string][][]string{"X.csv": cells(x), "labels.csv": labels, "new.csv": cells(fresh)} {
		if err := writeCSV(filepath.Join(dir, name), rows); err != nil {
			log.Fatal(err)
		}
	}
}

// cells writes numbers as text.
func cells(x [][]float64) [][]string {
	out := make([][]string, len(x))
	for i, row := range x {
		for _, v := range row {
			out[i] = append(out[i], strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return out
}
