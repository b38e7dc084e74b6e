// Command service fits a model, and answers requests with it. It is the example of
// docs/guide/5-service.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == "fit":
		err = fit(context.Background(), os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) == 4 && os.Args[1] == "serve":
		err = serve(os.Args[2], os.Args[3])
	default:
		err = errors.New("usage: service fit X Y MODEL, or service serve MODEL SOCKET")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// fit fits a model to the points and labels in files and writes it.
func fit(ctx context.Context, pointsFile, labelsFile, modelFile string) error {
	x, err := data.ReadPoints(pointsFile, data.ReadOptions{})
	if err != nil {
		return err
	}
	y, err := data.ReadLabels(labelsFile, data.LabelOptions{})
	if err != nil {
		return err
	}
	t, err := models.ClassTargets(y)
	if err != nil {
		return err
	}

	// A model takes its parameters as text; parameters that are not given have defaults.
	in := &models.Input{Points: x, Targets: t, Values: models.Values{"alpha": "0.9"}}
	graph := &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 3}}
	m, err := (&pipeline.Pipeline{}).Fit(ctx, all.Learner("lgc"), in, graph)
	if err != nil {
		return err
	}
	return models.Save(modelFile, m, nil)
}

// serve answers requests on a socket.
func serve(modelFile, socket string) error {
	model, _, err := all.Load(modelFile, 1<<30) // at most a GiB of arrays
	if err != nil {
		return err
	}

	// A socket of the file system needs no port, and its folder says who may connect.
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}

	mux := http.NewServeMux()
	mux.Handle("POST /answers", answers(model))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	return server.Serve(listener)
}

// An answer is the label of one point, with the scores of all classes.
type answer struct {
	Label  string    `json:"label"`
	Scores []float64 `json:"scores"`
}

// answers takes a list of points in JSON and returns a list of answers. A model is
// immutable: requests share it without locks.
func answers(model models.Model) http.HandlerFunc {
	output := model.Output()
	return func(w http.ResponseWriter, r *http.Request) {
		x, err := points(http.MaxBytesReader(w, r.Body, 16<<20), model.Dim())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		// The context ends the work when the client is gone.
		p := &pipeline.Pipeline{Memory: 1 << 30}
		prediction, err := p.Predict(r.Context(), model, x, models.PredictSettings{}, true)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		var out []answer
		for i, c := range prediction.Classes {
			out = append(out, answer{data.ClassName(output.Classes, output.Names, c), prediction.Scores.RawRowView(i)})
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(out); err != nil {
			log.Print(err)
		}
	}
}

// points reads points with the given number of columns.
func points(body io.Reader, columns int) (data.Points, error) {
	var rows [][]float64
	if err := json.NewDecoder(body).Decode(&rows); err != nil {
		return nil, err
	}

	if len(rows) == 0 {
		return nil, errors.New("no points")
	}

	// Rows of another length would shift all values behind them.
	x := data.NewDense[float64](len(rows), columns)
	for i, row := range rows {
		if len(row) != columns {
			return nil, fmt.Errorf("point %d has %d columns; the model takes %d", i, len(row), columns)
		}
		copy(x.Row(i), row)
	}
	return x, nil
}
