package main

import (
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/simd"
)

// saveJSON writes v to a file that people read too.
func saveJSON(path string, v any) error {
	return npy.Atomically(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

// saveLog writes the run's manifest.json, with its settings and results, and
// log.jsonl, with the events of its progress.
func (a *app) saveLog(dir string, settings, results any) error {
	err := saveJSON(filepath.Join(dir, "manifest.json"),
		map[string]any{"program": "bigfit " + manifest.Program(), "date": manifest.Now(), "kernels": simd.Path(), "settings": settings, "results": results, "stages": a.progress.Stages()})
	if err != nil {
		return err
	}
	return npy.Atomically(filepath.Join(dir, "log.jsonl"), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for _, e := range a.progress.Events() {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		return nil
	})
}
