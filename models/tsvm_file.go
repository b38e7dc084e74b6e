package models

import (
	"encoding/json"
	"fmt"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/kernel"
)

// fileFit is what the manifest of a transductive machine says of its fit.
type fileFit struct {
	Labeled   int       `json:"labeled"`
	Objective []float64 `json:"objective"`
	Start     []float64 `json:"start"`
	Rounds    int       `json:"rounds"`
}

// fileTSVM is what the manifest of a kernel one says.
type fileTSVM struct {
	TSVMSettings
	Kernel kernel.Kernel `json:"kernel"`
	Gap    float64       `json:"gap"`
	fileFit
}

// fileLinearTSVM is what the manifest of a linear one says.
type fileLinearTSVM struct {
	LinearTSVMSettings
	Iterations int `json:"iterations"`
	fileFit
}

// Save writes the model as a .npz file, whole or not at all: the arrays of
// [KernelMachine.Save], unlabeled (u), the numbers of the points that had no
// label, assigned (u×c), their targets, and the manifest. hashes name what the
// model was made from.
func (m *TSVM) Save(path string, hashes map[string]string) error {
	return saveModel(path, TSVMName, fileTSVM{m.Settings, m.Kernel, m.Gap, m.file(m.Labeled)}, hashes,
		append(m.KernelMachine.entries(), m.Transduced.entries()...))
}

// Save writes the model as a .npz file, whole or not at all: the arrays of
// [Linear.Save], unlabeled and assigned as those of [TSVM.Save], and the
// manifest. hashes name what the model was made from.
func (m *LinearTSVM) Save(path string, hashes map[string]string) error {
	return saveModel(path, TSVMLinearName, fileLinearTSVM{m.Settings, m.Iterations, m.file(m.Labeled)}, hashes,
		append(m.Linear.entries(), m.Transduced.entries()...))
}

func (d *Transduced) file(labeled int) fileFit {
	return fileFit{labeled, d.Objective, d.Start, d.Rounds}
}

func (d *Transduced) entries() []npy.Entry {
	unlabeled := make([]int64, len(d.Unlabeled))
	for p, i := range d.Unlabeled {
		unlabeled[p] = int64(i)
	}
	return []npy.Entry{{Name: "unlabeled", Data: unlabeled}, matrixEntry("assigned", d.Assigned)}
}

// readTransduced is the inverse of file and entries, for a machine of so many
// outputs.
func readTransduced(r *reader, f fileFit, outputs int) (Transduced, error) {
	d := Transduced{Objective: f.Objective, Start: f.Start, Rounds: f.Rounds, Assigned: r.matrix("assigned")}
	numbers := numbers[int64](r, "unlabeled")
	if r.err != nil {
		return d, r.err
	}
	rows, cols := d.Assigned.Dims()
	if rows != len(numbers) || cols != outputs {
		return d, fmt.Errorf("models: assigned is %d×%d for %d points without a label and %d outputs", rows, cols, len(numbers), outputs)
	}
	if len(f.Objective) != outputs || len(f.Start) != outputs {
		return d, fmt.Errorf("models: %d objectives and %d at the start for %d outputs", len(f.Objective), len(f.Start), outputs)
	}
	for p, i := range numbers {
		if i < 0 || p > 0 && i <= numbers[p-1] {
			return d, fmt.Errorf("models: element %d of unlabeled is %d; the numbers must ascend from 0", p, i)
		}
		d.Unlabeled = append(d.Unlabeled, int(i))
		for j, v := range d.Assigned.RawRowView(p) {
			if v != 1 && v != -1 {
				return d, fmt.Errorf("models: row %d, column %d of assigned is %v; it must be −1 or 1", p, j, v)
			}
		}
	}
	return d, nil
}

func loadTSVM(r *reader, settings json.RawMessage) (Model, error) {
	var f fileTSVM
	if err := readSettings(settings, &f); err != nil {
		return nil, err
	}
	machine, err := f.machine().fill()
	if err != nil {
		return nil, err
	}
	m := &TSVM{Settings: f.TSVMSettings}
	if m.KernelMachine, err = readExpansion(r, f.Kernel); err != nil {
		return nil, err
	}
	m.KernelMachine.Settings, m.Labeled, m.Gap = machine, f.Labeled, f.Gap
	if err := m.KernelMachine.check(); err != nil {
		return nil, err
	}
	m.Transduced, err = readTransduced(r, f.fileFit, len(m.Bias))
	return m, err
}

func loadLinearTSVM(r *reader, settings json.RawMessage) (Model, error) {
	var f fileLinearTSVM
	if err := readSettings(settings, &f); err != nil {
		return nil, err
	}
	linear, err := readLinear(r, fileLinear{f.LinearSettings, f.Labeled, f.Iterations})
	if err != nil {
		return nil, err
	}
	m := &LinearTSVM{Linear: linear, Settings: f.LinearTSVMSettings}
	m.Transduced, err = readTransduced(r, f.fileFit, len(m.Intercepts))
	return m, err
}
