package shell

import (
	"path/filepath"
	"strings"

	"github.com/bigfit/bigfit/internal/view/report"
)

// CheckReport returns an error unless path can be the value of --report.
func (a *App) CheckReport(path string) error {
	if (path != "" || a.Given["report"]) && !strings.EqualFold(filepath.Ext(path), ".html") {
		return Usagef("--report is %q; its name must end in .html", path)
	}
	return nil
}

// Timings returns a chart and a table of the stages of the run.
func (a *App) Timings() []report.Block {
	var stages []report.Timing
	for _, t := range a.Progress.Stages() {
		stages = append(stages, report.Timing(t))
	}
	return report.Timings(stages)
}
