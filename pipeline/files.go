package pipeline

import (
	"fmt"
	"os"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// The keys of hashes in manifests.
const (
	HashPoints  = "points"
	HashGraph   = "graph"
	HashLabels  = "labels"
	HashOutputs = "outputs" // of the graph of a model's outputs
	HashQuery   = "query"   // of the points whose neighbours were found
)

// Hashes are SHA-256 of what an artifact was made from, by key.
type Hashes map[string]string

// Agree returns an error if made, the hashes in the manifest of file, names another
// content for key than hash, that of the file other. Where one of them is not known
// there is nothing to compare.
func (made Hashes) Agree(key, hash, file, other string) error {
	if made[key] == "" || hash == "" || made[key] == hash {
		return nil
	}
	return fmt.Errorf("%s was not made from the %s in %s: its manifest says %s %.12s…, the file "+
		"holds %.12s…; make it again", file, key, other, key, made[key], hash)
}

// GraphFile is a graph that was read.
type GraphFile struct {
	Graph
	// Made has the hashes of its manifest; nil if another program wrote it.
	Made Hashes

	path   string
	kept   models.RawState   // the neighbourhood that the file holds; nil without
	arrays map[string]string // type and shape of its arrays
}

// graphManifest are the settings of the manifest of a graph. The arrays of its
// neighbourhood, which has no points, are those of model files.
type graphManifest struct {
	GraphSettings
	Neighborhood models.RawState `json:"neighborhood,omitempty"`
	// Arrays are type and shape of those of the neighbourhood.
	Arrays map[string]string `json:"arrays,omitempty"`
}

// OpenGraph reads and checks a graph that bigfit or SciPy saved, or that lies in a folder of
// .npy files. A graph of another program has the given settings.
func OpenGraph(path string, memory int64, s *GraphSettings) (*GraphFile, error) {
	w, err := sparse.Read(path, memory)
	if err != nil {
		return nil, err
	}
	if err := w.CheckGraph(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	g := &GraphFile{Graph: Graph{Graph: *models.NewGraph(w)}, path: path}
	if s != nil {
		g.Settings = *s.filled()
	}
	text, err := sparse.ReadManifest(path)
	if err != nil {
		return nil, err
	}

	// The manifest of this program says how the graph was made; other programs say nothing.
	if text != nil {
		m, err := archive.Parse(text, archive.Graph, path)
		if err != nil {
			return nil, err
		}
		var made graphManifest
		if err := archive.Unmarshal(m.Settings, &made); err != nil {
			return nil, fmt.Errorf("%s: the settings in the manifest: %w", path, err)
		}
		g.Settings = made.GraphSettings
		g.kept = made.Neighborhood
		g.arrays = made.Arrays
		g.Made = m.Hashes
		if g.Made == nil {
			g.Made = Hashes{}
		}
	}

	g.describe()
	return g, nil
}

// Folder returns the folder that the graph was read from, "" for a file.
func (g *GraphFile) Folder() string {
	if sparse.IsFolder(g.path) {
		return g.path
	}
	return ""
}

// ReadKept reads the lists of neighbours, the principal components and the state of the
// index that the file holds; one of SciPy or of before version 0.2 holds none.
func (g *GraphFile) ReadKept(memory int64) error {
	if g.kept == nil {
		return nil
	}
	h, err := models.ReadNeighborhood(g.path, memory, g.kept, g.arrays, g.W.Rows)
	if err != nil {
		return err
	}
	if h.Lists != nil && h.Lists.K != g.Settings.Graph.K ||
		h.Index != nil && h.Index.Method != g.Settings.Method || h.PCA == nil != (g.Settings.PCA == 0) {
		return fmt.Errorf("%s: what it holds of its neighbours is not what its settings say; make "+
			"the graph again", g.path)
	}

	// The file holds neither degrees nor points, which follow from the graph.
	h.Degrees = g.Degrees
	g.Neighborhood = h
	g.describe()
	return nil
}

// describe lets new points join as the settings say.
func (g *Graph) describe() {
	g.Metric, g.Method, g.Edges = g.Settings.Metric, g.Settings.Method, g.Settings.Graph
}

// SaveGraph writes a graph with its settings in the form of scipy.sparse.save_npz. Other
// arrays, which SciPy ignores, hold what is costly to find again: the lists of neighbours
// (neighbor_indices and neighbor_distances, n×k), the state of the index (index_order, …)
// and the principal components (pca_mean, …), but not the points.
//
// A path that ends with a separator names a folder of mapped .npy files
// ([sparse.WriteFolder]), which holds the matrix and the manifest alone.
func SaveGraph(path string, g *Graph, hashes Hashes, files ...archive.Files) error {
	h := g.Neighborhood
	if IsFolderName(path) {
		h = models.Neighborhood{}
	}
	h.Points = nil
	h.Degrees = nil
	kept, arrays, err := h.Encode()
	if err != nil {
		return err
	}

	// Then there is nothing that new points could use.
	if h.Lists == nil && h.Index == nil && h.PCA == nil { // of an experiment
		kept = nil
	}
	m, err := archive.New(archive.Graph, graphManifest{g.Settings, kept, models.DescribeArrays(arrays)},
		hashes, files...)
	if err != nil {
		return err
	}
	text, err := m.Bytes()
	if err != nil {
		return err
	}
	if IsFolderName(path) {
		return sparse.WriteFolder(path, g.W, text)
	}
	return sparse.WriteNPZ(path, g.W, text, arrays...)
}

// IsFolderName reports whether a name of an output means a folder.
func IsFolderName(path string) bool { return path != "" && os.IsPathSeparator(path[len(path)-1]) }

// EigsFile holds eigenpairs that were read, with the graph they belong to, whose
// weights are missing if the file alone was given.
type EigsFile struct {
	Pairs *lanczos.Result
	Graph Graph
	// Settings of the pairs, and the hashes of their manifest; nil if another
	// program wrote them.
	Settings *EigsSettings
	Made     Hashes
}

// OpenEigs reads the smallest eigenpairs of a Laplacian. g, read from graphPath, is
// the graph they belong to, or nil if the file says enough itself; its settings are
// those of the manifest where the pairs have one.
func OpenEigs(path string, memory int64, g *Graph, graphPath string) (*EigsFile, error) {
	f, err := lanczos.Load(path, memory)
	if err != nil {
		return nil, err
	}
	if err := lanczos.CheckVectors(f.Result.Vectors); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	n, _ := f.Result.Vectors.Dims()
	e := &EigsFile{Pairs: f.Result}
	if f.Manifest != nil {
		e.Made = f.Manifest.Hashes
		e.Settings = &EigsSettings{}
		if err := archive.Unmarshal(f.Manifest.Settings, e.Settings); err != nil {
			return nil, fmt.Errorf("%s: the settings in the manifest: %w", path, err)
		}
		if e.Settings.Largest {
			return nil, fmt.Errorf("%s holds the largest eigenpairs, a fit needs the smallest; make "+
				"it again without %s", path, param.Name("largest"))
		}
	}

	// Eigenpairs of another graph would give answers without any error.
	switch {
	case g != nil && n != g.W.Rows:
		return nil, fmt.Errorf("%s: eigenvectors of %d points, but the graph has %d", path, n, g.W.Rows)
	case g != nil:
		if err := e.Made.Agree(HashGraph, data.HashPoints(g.W), path, graphPath); err != nil {
			return nil, err
		}
		e.Graph = *g
	case f.Components == nil || f.Degrees == nil:
		return nil, fmt.Errorf("%s: holds no components and degrees, so the graph is needed too; "+
			"give it with %s", path, param.Name("graph"))
	default:
		e.Graph.Components, e.Graph.Degrees = f.Components, f.Degrees
	}

	// The manifest of the pairs also says how the graph was made.
	if e.Settings != nil {
		e.Graph.Settings = e.Settings.Graph
	}
	e.Graph.describe()
	return e, nil
}

// SaveEigs writes eigenpairs of a graph with their settings.
func SaveEigs(path string, r *lanczos.Result, g *models.Graph, s *EigsSettings, hashes Hashes,
	files ...archive.Files) error {
	m, err := archive.New(archive.Eigs, s, hashes, files...)
	if err != nil {
		return err
	}
	f := &lanczos.File{Result: r, Components: g.Components, Degrees: g.Degrees, Manifest: m}
	return f.Save(path)
}
