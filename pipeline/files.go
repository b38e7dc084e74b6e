package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	HashOutputs = "outputs" // graph of a model's outputs
	// HashOutputNorm is of the matrices of the outputs in the intrinsic norm.
	HashOutputNorm = "output norm"
	HashQuery      = "query" // points that neighbours were found for
)

// Hashes holds the SHA-256 of the inputs of an artifact, by key.
type Hashes map[string]string

// Agree compares two hashes for key: made holds the hashes in the manifest of file, and hash is
// the hash of the file other. It returns an error if they differ, and nil if they agree or if
// one is not known.
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
	kept   models.RawState   // neighbourhood in the file; nil if there is none
	arrays map[string]string // type and shape of its arrays
}

// graphManifest holds the settings in the manifest of a graph. Its neighbourhood has no points;
// its arrays have the names and shapes of model files.
type graphManifest struct {
	GraphSettings
	Neighborhood models.RawState `json:"neighborhood,omitempty"`
	// Arrays holds type and shape of the arrays of the neighbourhood.
	Arrays map[string]string `json:"arrays,omitempty"`
}

// OpenGraph reads and checks a graph that bigfit or SciPy saved, in a .npz file or a folder of
// .npy files. A graph of another program gets the given settings.
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
	g.Foreign = text == nil
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

// ReadKept reads the lists of neighbours, the principal components and the state of the index
// from the file. Files of SciPy, and of bigfit before version 0.2, have none.
func (g *GraphFile) ReadKept(memory int64) error {
	if g.kept == nil {
		return nil
	}
	h, err := models.ReadNeighborhood(g.path, memory, g.kept, g.arrays, g.W.Rows)
	if err != nil {
		return err
	}
	// A graph of lists in a file knows how their points were projected, and not the projection, which Join makes anew.
	projected := g.Settings.PCA > 0 || g.Settings.Standardize
	if h.Lists != nil && h.Lists.K != g.Settings.Graph.K ||
		h.Index != nil && h.Index.Method != g.Settings.Method || h.PCA != nil && !projected || h.PCA == nil && projected && h.Index != nil {
		return fmt.Errorf("%s: what it holds of its neighbours is not what its settings say; make "+
			"the graph again", g.path)
	}

	// The file holds neither degrees nor points, which follow from the graph.
	h.Degrees = g.Degrees
	g.Neighborhood = h
	g.describe()
	return nil
}

// describe copies the settings by which new points join to the neighbourhood.
func (g *Graph) describe() {
	g.Metric = g.Settings.Metric
	g.Method = g.Settings.Method
	g.Edges = g.Settings.Graph
}

// SaveGraph writes a graph with its settings in the form of scipy.sparse.save_npz. Further
// arrays, which SciPy ignores, hold the parts that are costly to find again, but not the points:
//
//	graph.npz
//	├── indptr, indices, data, shape, format  the weights W: see [sparse.WriteNPZ]
//	├── manifest            uint8    bytes    JSON in UTF-8: archive.Manifest, and in it graphManifest
//	├── neighbor_indices    int32    n×k      neighbours that the edges were made of
//	├── neighbor_distances  float64  n×k      their distances, ascending in a row
//	├── index_…                               state of the index: see [models.Neighborhood.Encode]
//	└── pca_…                                 principal components: see [models.PointEntries]
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

	// Without lists, index and projection there is nothing that new points could use.
	if h.Lists == nil && h.Index == nil && h.PCA == nil {
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

// VertexFile returns the file beside a graph with the ids of its vertices: graph.ids.csv of graph.npz and of graph/.
func VertexFile(graph string) string {
	if IsFolderName(graph) {
		return filepath.Clean(graph) + ".ids.csv"
	}
	return strings.TrimSuffix(graph, filepath.Ext(graph)) + ".ids.csv"
}

// EigsFile holds eigenpairs that were read, with the graph that they belong to. The graph has
// no weights if the file alone was given.
type EigsFile struct {
	Pairs *lanczos.Result
	Graph Graph
	// Settings of the pairs, and the hashes of their manifest; nil if another
	// program wrote them.
	Settings *EigsSettings
	Made     Hashes
}

// OpenEigs reads the smallest eigenpairs of a Laplacian. g, read from graphPath, is the graph
// that they belong to, or nil if the file says enough itself. If the pairs have a manifest, the
// graph gets the settings in it.
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
		e.Graph.Components = f.Components
		e.Graph.Degrees = f.Degrees
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
