package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/simd"
)

// saveLog writes the run's manifest.json, with its settings and results, and
// log.jsonl, with one line a stage.
func (a *app) saveLog(dir string, settings, results any) error {
	err := npy.Atomically(filepath.Join(dir, "manifest.json"), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"program": "bigfit " + version, "kernels": simd.Path(), "settings": settings, "results": results, "stages": a.progress.Stages()})
	})
	if err != nil {
		return err
	}
	return npy.Atomically(filepath.Join(dir, "log.jsonl"), func(w io.Writer) error {
		log := slog.New(slog.NewJSONHandler(w, nil))
		for _, s := range a.progress.Stages() {
			log.Info("stage", "name", s.Name, "seconds", s.Seconds, "note", s.Note)
		}
		return nil
	})
}
