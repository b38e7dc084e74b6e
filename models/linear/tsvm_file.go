package linear

import (
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/models"
)

// Save writes the model as a .npz file, whole or not at all: the arrays of
// [Model.Save], unlabeled and assigned as those of [kernelmachine.TSVM.Save], and the
// manifest. hashes name what the model was made from.
func (m *TSVM) Save(path string, hashes map[string]string) error {
	return models.SaveFile(path, TSVMName, fileTSVM{m.Settings, m.Iterations, m.File(m.Labeled)}, hashes,
		append(m.Model.entries(), m.Transduced.Entries()...))
}

func (d *Transduced) File(labeled int) FileFit {
	return FileFit{labeled, d.Objective, d.Start, d.Rounds}
}

func (d *Transduced) Entries() []npy.Entry {
	unlabeled := make([]int64, len(d.Unlabeled))
	for p, i := range d.Unlabeled {
		unlabeled[p] = int64(i)
	}
	return []npy.Entry{{Name: "unlabeled", Data: unlabeled}, models.MatrixEntry("assigned", d.Assigned)}
}
