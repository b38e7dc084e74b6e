package shell

import (
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// SaveJSON writes v to a file that people read too.
func SaveJSON(path string, v any) error {
	return atomicfile.Atomically(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

// SaveLog writes the run's manifest.json, with its settings and results, and
// log.jsonl, with the events of its progress.
func (a *App) SaveLog(dir string, settings, results any) error {
	err := SaveJSON(filepath.Join(dir, "manifest.json"),
		map[string]any{"program": "bigfit " + archive.Program(), "date": archive.Now(),
			"kernels": simd.Path(), "settings": settings, "results": results, "stages": a.Progress.Stages()})
	if err != nil {
		return err
	}
	return atomicfile.Atomically(filepath.Join(dir, "log.jsonl"), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for _, e := range a.Progress.Events() {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		return nil
	})
}
