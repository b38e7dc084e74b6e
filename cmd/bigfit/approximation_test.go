package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// scaledSummary is the part of fit and info about a machine that is not exact.
type scaledSummary struct {
	Model    string
	Error    *float64
	Settings struct{ Approximation, Sampling string }
	Report   struct {
		Landmarks, Iterations   int
		KernelError             float64 `json:"kernel_error"`
		Change, Flips, Residual float64
	} `json:"approximation_report"`
}

func parseScaled(t *testing.T, text string) (s scaledSummary) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return s
}

// A machine by each approximation goes from points to predictions, with the same bytes on any number
// of threads, and fit and info say the same of it. The numbers are tested in models/kernelmachine.
func TestApproximations(t *testing.T) {
	intoBlobs(t)
	const regularized = "--gamma-a 1e-2 --gamma-i 1e-2 --laplacian normalized --sigma 30"
	for _, c := range []struct{ line, approximation, about string }{
		{"--model laprls --approximation nystrom --landmarks 20 --sampling kmeans++ " + regularized, "nystrom", "20 landmarks (kmeans++), kernel error"},
		{"--model laprls --approximation matrix-free --landmarks 9 " + regularized, "matrix-free", "to a residual of"},
		{"--model lapsvm --features 60 " + regularized, "fourier", "60 Fourier features, kernel error"},
	} {
		t.Run(c.approximation, func(t *testing.T) {
			fit := append([]string{"fit", "-X", "X.npy", "-y", "y.npy", "--labels", "30", "--predictions", "train.npy"}, strings.Fields(c.line)...)
			s := parseScaled(t, succeed(t, append(fit, "--threads", "1", "--json")...))
			if s.Settings.Approximation != c.approximation || s.Error == nil || *s.Error > 7 {
				t.Errorf("fit --json says %+v", s)
			}
			file, train := readFile(t, "model.npz"), readFile(t, "train.npy")
			for _, out := range []string{bigfit(t, append(fit, "--threads", "2")...).stderr, succeed(t, "info", "model.npz")} {
				if !strings.Contains(out, c.about) {
					t.Errorf("no %q in %s", c.about, out)
				}
			}
			if !bytes.Equal(file, readFile(t, "model.npz")) || !bytes.Equal(train, readFile(t, "train.npy")) {
				t.Error("two threads give other bytes")
			}

			info := struct{ Model scaledSummary }{}
			must(t, json.Unmarshal([]byte(succeed(t, "info", "model.npz", "--json")), &info))
			if info.Model.Report != s.Report || info.Model.Settings != s.Settings {
				t.Errorf("info says %+v, fit %+v", info.Model, s)
			}

			succeed(t, "predict", "model.npz", "-X", "X.npy", "-o", "again.npy")
			if !bytes.Equal(train, readFile(t, "again.npy")) {
				t.Error("predict differs from fit --predictions")
			}
			if e := errorOf(t, "predict", "model.npz", "-X", "new.npy", "-y", "newy.npy"); e > 7 {
				t.Errorf("error %v on new points", e)
			}
		})
	}
}

// A number may come from the environment, and says nothing about other models.
func TestApproximationFromEnvironment(t *testing.T) {
	intoBlobs(t)
	t.Setenv("BIGFIT_LANDMARKS", "20")
	fit := []string{"fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "30", "--gamma-a", "1e-2", "--json"}
	if s := parseScaled(t, succeed(t, append(fit, "--model", "rls")...)); s.Settings.Approximation != "nystrom" || s.Report.Landmarks != 20 {
		t.Errorf("%+v", s)
	}
	for _, line := range []string{"--model rls --approximation exact", "--model rls-linear"} {
		if s := parseScaled(t, succeed(t, append(fit, strings.Fields(line)...)...)); s.Settings.Approximation == "nystrom" {
			t.Errorf("%s: %+v", line, s)
		}
	}
}
