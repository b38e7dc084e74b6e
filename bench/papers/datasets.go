package papers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
)

// Options of an experiment's constructor.
type Options struct {
	Dir    string // where the data are
	Best   bool   // our recipe in place of the paper's
	Labels []int  // rows to run; empty means all
	Splits int    // random draws of the labels of a row
	Seed   uint64
	KNN    bool // run the k-nearest-neighbour baseline too
	GNN    bool // run the geodesic baseline too
	// Limit bounds the memory in bytes that reading may take.
	Limit int64
}

// BestPenalty returns the classifier of our recipe for l labels: all eigenvectors
// with the penalty 30·Σ(λ_j/λ₂₀)²a_j², an iterated Laplacian (Belkin & Niyogi
// 2004, section 7.1). Its strength does not depend on the number of labels.
func BestPenalty(labels int) eigenmap.Settings {
	return eigenmap.Settings{Penalty: eigenmap.Iterated, Power: 2, Gamma: 30 / float64(labels)}
}

// BestGraph holds the settings of the graph of our recipe: 10 neighbours, self-tuning
// weights.
var BestGraph = knn.GraphSettings{K: 10, Weights: knn.SelfTuning}

// BestDimensions is the number of principal components of our recipe.
const BestDimensions = 50

// MNIST returns the experiment of section 6.1 and Table 1 of Belkin & Niyogi (2004): the
// 60,000 training images, their first 100 principal components, 8 neighbours, weights
// one, L = D − W. Three graphs are tried: W of weights one, as written; W = A + Aᵀ of the 8 nearest,
// in which an edge that both ends name counts twice; and the same of the 6 nearest. The second and
// the third are fitted to the paper's figures and not found in its text.
func MNIST(o Options) (*Experiment, error) {
	e, _, err := mnistComponents(o)
	return e, err
}

// MNISTWithTest returns the experiment of [MNIST] with the 10,000 test images in the
// principal components of the training images.
func MNISTWithTest(o Options) (e *Experiment, test data.Points, truth *data.Labels, err error) {
	if test, truth, err = ReadMNIST(o, "t10k"); err != nil {
		return nil, nil, nil, err
	}
	e, p, err := mnistComponents(o)
	if err != nil {
		return nil, nil, nil, err
	}
	test, err = p.Apply(test)
	return e, test, truth, err
}

// mnistComponents returns the experiment of [MNIST] and the principal components.
func mnistComponents(o Options) (*Experiment, *pca.Projection, error) {
	x, truth, err := ReadMNIST(o, "train")
	if err != nil {
		return nil, nil, err
	}
	e := &Experiment{Name: "MNIST", Truth: truth, Graph: knn.GraphSettings{K: 8}, Pairs: 1000,
		Rows: mnistTable.experimentRows(), Readings: mnistReadings}
	dimensions := 100
	if o.Best {
		dimensions = BestDimensions
		e.best(mnistTable)
	}

	// The projection keeps the mean of the training images, so that test images can be moved to
	// the same coordinates later.
	p, err := pca.New(context.Background(), x, dimensions)
	if err != nil {
		return nil, nil, err
	}
	if e.X, err = p.Apply(x); err != nil {
		return nil, nil, err
	}
	return e.with(o), p, nil
}

// mnistReadings are graphs that the paper may have had: see [MNIST].
var mnistReadings = []Reading{
	{"8 neighbours either way, as written", 8, sparse.Either},
	{"8 neighbours, W = A + Aᵀ", 8, sparse.Sum},
	{"6 neighbours, W = A + Aᵀ", 6, sparse.Sum},
}

// ReadMNIST reads images and labels; part is train or t10k.
func ReadMNIST(o Options, part string) (data.Points, *data.Labels, error) {
	own := map[string]string{"train": "mnist_train", "t10k": "mnist_test"}[part]
	// The files of this project are tried first, then the names of the original files with either
	// separator, packed or not.
	images, err := Find(o.Dir, mnistOrigin, own+"_images.npz", part+"-images-idx3-ubyte",
		part+"-images-idx3-ubyte.gz",
		part+"-images.idx3-ubyte", part+"-images.idx3-ubyte.gz")
	if err != nil {
		return nil, nil, err
	}
	labels, err := Find(o.Dir, mnistOrigin, own+"_labels.npy", part+"-labels-idx1-ubyte",
		part+"-labels-idx1-ubyte.gz",
		part+"-labels.idx1-ubyte", part+"-labels.idx1-ubyte.gz")
	if err != nil {
		return nil, nil, err
	}
	return Read(images, labels, o.Limit)
}

const mnistOrigin = "the MNIST files were published by Y. LeCun, C. Cortes and C. J. C. Burges at " +
	"yann.lecun.com/exdb/mnist and are mirrored at ossci-datasets.s3.amazonaws.com/mnist; " +
	"download train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz (and the two of t10k) " +
	"and give their folder with --data"

// Newsgroups returns the experiment of section 6.2 and Table 2: messages of 20
// newsgroups as counts of the 6000 most frequent words, empty ones dropped, the
// angle as distance, 8 neighbours either way, weights one, L = D − W. Scaling
// the counts to sum 1, as the paper does, leaves the angles as they are.
func Newsgroups(o Options) (*Experiment, error) {
	counts, err := Find(o.Dir, newsgroupsOrigin, "news20_full_X.npz")
	if err != nil {
		return nil, err
	}
	labels, err := Find(o.Dir, newsgroupsOrigin, "news20_full_y.npz")
	if err != nil {
		return nil, err
	}
	x, truth, err := Read(counts, labels, o.Limit)
	if err != nil {
		return nil, err
	}

	// A message without words has no angle to any other.
	rows := data.Nonzero(x)
	e := &Experiment{Name: "20 Newsgroups", X: data.Select(x, rows), Truth: truth.Select(rows),
		Metric: knn.Angle,
		Graph:  knn.GraphSettings{K: 8}, Pairs: 2000, Rows: newsgroupsTable.experimentRows(),
		Readings: []Reading{{"8 neighbours either way, as written", 8, sparse.Either},
			{"8 neighbours, W = A + Aᵀ", 8, sparse.Sum}}}
	if o.Best {
		e.best(newsgroupsTable)
	}
	return e.with(o), nil
}

const newsgroupsOrigin = "20 Newsgroups was collected by K. Lang (1995); the 19,997 messages are " +
	"20_newsgroups.tar.gz at kdd.ics.uci.edu/databases/20newsgroups; vectorize them as documents × 6000 " +
	"most frequent words, save the counts with scipy.sparse.save_npz as news20_full_X.npz and the groups as " +
	"array y of news20_full_y.npz, and give their folder with --data"

// Phonemes returns an experiment in the form of section 6.3 and Table 3 on other
// data: the 4509 log-periodograms of five phonemes that come with Hastie,
// Tibshirani & Friedman, "The Elements of Statistical Learning", 10 neighbours
// either way, weights one, L = D − W.
func Phonemes(o Options) (*Experiment, error) {
	file, err := Find(o.Dir, phonemesOrigin, "phoneme_esl.npz")
	if err != nil {
		return nil, err
	}
	x, truth, err := Read(file, file, o.Limit)
	if err != nil {
		return nil, err
	}
	e := &Experiment{Name: "ESL phonemes", X: x, Truth: truth, Graph: knn.GraphSettings{K: 10}, Pairs: 1000,
		Rows: phonemesTable.experimentRows(),
		Readings: []Reading{{"10 neighbours either way, as written", 10, sparse.Either},
			{"10 neighbours, W = A + Aᵀ", 10, sparse.Sum}},
		Notes: []string{"the paper's Table 3 is of 13,168 vowels from TIMIT, which is not free; its " +
			"figures do not apply to these 4509 phonemes"}}
	if o.Best {
		e.best(phonemesTable)
	}
	return e.with(o), nil
}

const phonemesOrigin = "the phonemes are the file phoneme.data at hastie.su.domains/ElemStatLearn of " +
	"Hastie, Tibshirani & Friedman, \"The Elements of Statistical Learning\"; save the 256 numbers of each " +
	"as array X and the class number as y of phoneme_esl.npz and give its folder with --data"

// best sets our recipe in the place of the paper's graph and classifiers.
func (e *Experiment) best(t published) {
	e.Graph = BestGraph
	e.Rows = t.bestRows(BestPenalty)
	e.Readings = nil
}

// with fills in what all experiments have in common.
func (e *Experiment) with(o Options) *Experiment {
	e.Labels = o.Labels
	e.Splits = o.Splits
	e.Seed = o.Seed
	e.KNN = o.KNN
	e.GNN = o.GNN
	if o.Best {
		e.Notes = append(e.Notes, "one recipe of ours for all rows in place of the paper's settings; "+
			"a figure in brackets is the best of the paper's row")
	}
	return e
}

// A MissingError says that the data of an experiment are not in their folder.
type MissingError struct {
	Dir    string
	Files  []string // any of them would do
	Origin string   // where to get them
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("papers: %s has none of %s; %s", e.Dir, strings.Join(e.Files, ", "), e.Origin)
}

// Find returns the first of the names that exists in dir.
func Find(dir, origin string, names ...string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("papers: no folder of data is given; set --data or the environment "+
			"variable BIGFIT_DATA. If you do not have the data: %s", origin)
	}

	// A file that exists but cannot be looked at is an error of its own: "missing" would send the
	// user to download it again.
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}

	return "", &MissingError{dir, names, origin}
}

// Read reads points and labels from two files and checks that each point has a label.
// limit bounds the memory in bytes that each of the two may take.
func Read(points, labels string, limit int64) (data.Points, *data.Labels, error) {
	x, err := data.ReadPoints(points, data.ReadOptions{Limit: limit})
	if err != nil {
		return nil, nil, err
	}
	y, err := data.ReadLabels(labels, data.LabelOptions{Limit: limit, NoUnlabeled: true})
	if err != nil {
		return nil, nil, err
	}
	if n, _ := x.Dims(); y.Len() != n {
		return nil, nil, fmt.Errorf("%s holds %d points but %s %d labels", points, n, labels, y.Len())
	}
	return x, y, nil
}
