package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/bench/figures"
	"github.com/bigfit/bigfit/bench/multilabel"
	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/sssl"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn/choice"
)

// experiment is an experiment that can be run, or the reason why it cannot.
type experiment struct {
	name  string
	paper string
	shows string   // its table or figure
	needs []string // files of the data
	// minutes is the time on two cores. The list shows it so that users can choose.
	minutes float64
	// other says why the data differ from the paper's data. If run is nil, it says why
	// there are no data.
	other string
	fixed []string // flags that the experiment does not have
	// ownDraws says that the number of draws has a default of its own.
	ownDraws bool
	run      func(*app, context.Context, papers.Options) (*reproduction, error)
}

// The flags that an experiment does not have, for its field fixed.
var (
	fixedRows    = []string{"labels", "recipe", "baselines"}           // rows and methods are fixed
	fixedSubsets = []string{"recipe", "baselines"}                     // methods are fixed
	fixedAll     = []string{"labels", "splits", "recipe", "baselines"} // draws are fixed, too
)

const (
	paper2004 = "Belkin & Niyogi 2004"
	paper2005 = "Sindhwani, Niyogi & Belkin 2005"
	paper2006 = "Belkin, Niyogi & Sindhwani 2006"
	paper2011 = "Minh & Sindhwani 2011"
	paper2012 = "Ji et al. 2012"
)

// experiments lists all experiments. No other code knows an experiment by its name.
var experiments = []experiment{
	{name: "curve", paper: paper2004, shows: "Figure 1: two classes on a curve", minutes: 0.01,
		fixed: fixedRows, run: pictured(figures.Curve)},
	{name: "mnist", paper: paper2004, shows: "Table 1 and Figure 2: MNIST", minutes: 2.2,
		needs: []string{"mnist_train_images.npz", "mnist_train_labels.npy"}, run: eigenmaps(papers.MNIST)},
	{name: "recipe", paper: "no paper", shows: "choice of --recipe best on the test images of MNIST", minutes: 3,
		needs: []string{"mnist_test_images.npz", "mnist_test_labels.npy"},
		fixed: fixedRows, run: machines(papers.Recipe)},
	{name: "newsgroups", paper: paper2004, shows: "Table 2 and Figure 3: 20 Newsgroups", minutes: 4,
		needs: []string{"news20_full_X.npz", "news20_full_y.npz"}, run: eigenmaps(papers.Newsgroups)},
	{name: "phonemes", paper: paper2004, shows: "form of Table 3 and Figure 4: phonemes", minutes: 0.5,
		needs: []string{"phoneme_esl.npz"}, run: eigenmaps(papers.Phonemes),
		other: "4509 phonemes of Hastie, Tibshirani & Friedman in place of 13,168 vowels of TIMIT"},
	{name: "mnist-subsets", paper: paper2004,
		shows: "Figures 2, 5 and 6: subsets of MNIST, geodesic neighbours, held-out points", minutes: 4,
		needs: []string{"mnist_train_images.npz", "mnist_train_labels.npy", "mnist_test_images.npz",
			"mnist_test_labels.npy"}, fixed: fixedSubsets, run: subsets(figures.MNISTSubsets)},
	{name: "newsgroups-subsets", paper: paper2004, shows: "Figure 3: subsets of 20 Newsgroups", minutes: 4,
		needs: []string{"news20_full_X.npz", "news20_full_y.npz"}, fixed: fixedSubsets,
		run: subsets(figures.NewsgroupsSubsets)},
	{name: "phonemes-subsets", paper: paper2004, shows: "form of Figure 4: subsets of phonemes", minutes: 0.3,
		needs: []string{"phoneme_esl.npz"}, fixed: fixedSubsets, run: subsets(figures.PhonemesSubsets),
		other: "4509 phonemes of Hastie, Tibshirani & Friedman in place of 13,168 vowels of TIMIT"},
	{name: "timit", paper: paper2004, shows: "Table 3 and Figure 4: vowels of TIMIT",
		other: "TIMIT is sold by the LDC and not public; phonemes has the same form on free data"},
	{name: "propagation", paper: "Zhou et al. 2004, Calder et al. 2020",
		shows: "graph regularization on MNIST, 1 to 5 labels a class", minutes: 50,
		needs: []string{"mnist_train_images.npz", "mnist_train_labels.npy"}, fixed: fixedRows,
		run: (*app).propagation,
		other: "principal components in place of the features of an autoencoder that the published " +
			"graph is made of"},
	{name: "few-labels", paper: "Calder et al. 2020",
		shows:   "Table 1: MNIST, 1 to 5 labels a class of the published draws, the default beside methods with sizes",
		minutes: 90, needs: []string{"mnist_train_images.npz", "mnist_train_labels.npy", "mnist_test_images.npz",
			"mnist_test_labels.npy", "mnist70k_few_labels.npz"}, fixed: fixedSubsets, run: (*app).fewLabels,
		other: "principal components in place of the features of an autoencoder that the published " +
			"graph is made of"},
	{name: "webkb", paper: paper2006, shows: "Table 5, and three columns of 2005: course pages", minutes: 2,
		needs: []string{"webkb_sindhwani_page_X.npz", "webkb_sindhwani_link_X.npz", "webkb_sindhwani_y.npy"},
		fixed: fixedRows, run: (*app).webkb},
	{name: "point-cloud", paper: paper2005, shows: "table of g50c, coil20, uspst (also 2006, Table 3) and mac-windows",
		minutes: 10,
		needs: []string{"sindhwani_g50c.npz", "coil20.npz", "sindhwani_uspst.npz", "sindhwani_text1_X.npz",
			"sindhwani_text1_y_splits.npz"},
		fixed: fixedAll, run: machines(papers.PointCloud)},
	{name: "out-of-sample", paper: paper2005,
		shows:   "last figure: errors on points left out of the graph, four folds of the same sets",
		minutes: 0.7,
		needs: []string{"sindhwani_g50c.npz", "coil20.npz", "sindhwani_uspst.npz", "sindhwani_text1_X.npz",
			"sindhwani_text1_y_splits.npz"},
		fixed: fixedAll, run: machines(papers.OutOfSample)},
	{name: "usps", paper: paper2006, shows: "section 5.2: pairs of digits", minutes: 0.1,
		needs: []string{"usps_X.npz", "usps_y.npy"}, fixed: fixedAll, run: machines(papers.DigitPairs)},
	{name: "usps-labels", paper: paper2006, shows: "Figure 5: pairs of digits by the number of labels",
		minutes: 1,
		needs:   []string{"usps_X.npz", "usps_y.npy"}, fixed: fixedAll,
		run: machines(papers.DigitPairLabels)},
	{name: "webkb-labels", paper: paper2006, shows: "Figure 8: course pages by the number of labels",
		minutes: 1,
		needs: []string{"webkb_sindhwani_page_X.npz", "webkb_sindhwani_link_X.npz",
			"webkb_sindhwani_y.npy"},
		fixed: fixedRows, run: machines(papers.WebKBLabels)},
	{name: "isolet", paper: paper2006, shows: "Table 4: spoken letters", minutes: 0.7,
		needs: []string{"isolet.npz"}, fixed: fixedAll, run: machines(papers.Isolet)},
	{name: "speakers", paper: paper2006, shows: "Figures 6 and 7: spoken letters by the labeled speaker",
		minutes: 1,
		needs:   []string{"isolet.npz"}, fixed: fixedAll, run: pictured(papers.Speakers)},
	{name: "moons", paper: paper2006, shows: "Figure 2: two moons", minutes: 0.02,
		needs: []string{"sindhwani_2moons.npz"}, fixed: fixedAll, run: moons},
	{name: "boundaries", paper: paper2006, shows: "Figure 3: decision surfaces of SVM, TSVM and LapSVM",
		minutes: 0.1,
		needs:   []string{"sindhwani_2moons.npz"}, fixed: fixedAll, run: pictured(figures.Boundaries)},
	{name: "clustering", paper: paper2006, shows: "Figures 9 and 10: regularized spectral clustering",
		minutes: 0.02,
		needs:   []string{"sindhwani_2moons.npz"}, fixed: fixedAll, run: pictured(figures.Clustering)},
	{name: "ssl-book", paper: "Chapelle, Schölkopf & Zien 2006", shows: "chapter 21: the sets of the book",
		minutes: 3,
		needs:   []string{"sslbook_*.npz"}, fixed: fixedAll, run: machines(papers.SSLBook)},
	{name: "landmarks", paper: paper2006, shows: "section 7: LapRLS on all of MNIST by 4000 landmarks",
		minutes: 6,
		needs: []string{"mnist_train_images.npz", "mnist_train_labels.npy", "mnist_test_images.npz",
			"mnist_test_labels.npy"}, fixed: fixedAll, run: machines(papers.Landmarks)},
	{name: "sssl", paper: paper2012, shows: "Tables 2 and 3: insurance and wine; a made-up climate",
		minutes: 7,
		needs:   []string{"wine_white.npz", "insurance_coil2000.npz"}, fixed: fixedAll,
		run: machines(sssl.SSSL)},
	{name: "decay", paper: paper2012, shows: "Figure 1: decay of the kernel's eigenvalues", minutes: 1,
		needs: []string{"wine_white.npz", "insurance_coil2000.npz"}, fixed: fixedAll,
		run: pictured(figures.Decay)},
	{name: "temperature", paper: paper2012, shows: "Table 4: temperatures of the earth",
		other: "the measured climate is not public in the form of the paper; sssl has a made-up " +
			"field on the sphere in its place"},
	{name: "scene", paper: paper2011, shows: "Figures 1 and 2: images with several labels", minutes: 0.3,
		needs: []string{"scene_multilabel.npz"}, fixed: fixedRows, ownDraws: true,
		run: multiLabel(multilabel.Scene)},
	{name: "rcv1", paper: paper2011, shows: "Figures 1 and 2: messages with several labels", minutes: 3,
		needs: []string{"rcv1subset1_binary944_X.npz", "rcv1subset1_binary944_Y.npz"}, fixed: fixedRows,
		ownDraws: true, run: multiLabel(multilabel.RCV1),
		other: "which of 944 words occur, in place of 2900 words with weights: RCV1 is not public in that form"},
}

// named returns the names of the experiments that can be run.
func named() []string {
	var out []string
	for _, e := range experiments {
		if e.run != nil {
			out = append(out, e.name)
		}
	}
	return out
}

// find returns the experiment of a name that can be run.
func find(name string) *experiment {
	return &experiments[slices.IndexFunc(experiments,
		func(e experiment) bool { return e.name == name && e.run != nil })]
}

// helpList returns the list of experiments for the help.
func helpList() string {
	var b strings.Builder
	for _, e := range experiments {
		if e.run != nil {
			fmt.Fprintf(&b, "  %-12s %s: %s\n", e.name, e.paper, e.shows)
		}
	}
	return b.String()
}

// listTable returns the table of --list.
func listTable() *results.Table {
	t := &results.Table{
		Columns: []results.Column{
			{Key: "experiment", Name: "experiment"},
			{Key: "paper", Name: "paper"},
			{Key: "shows", Name: "table or figure"},
			{Key: "needs", Name: "files in --data"},
			{Key: "seconds", Name: "time on two cores", Kind: results.Numbers,
				Format: results.Format{Number: "%.0f"}},
			// The reason why the data differ from the paper's, or are not there.
			{Key: "other_data", Kind: results.Remarks, About: []string{"experiment"}, OmitEmpty: true},
		},
		Views: []results.View{{Show: []string{"experiment", "paper", "shows", "needs", "seconds"}}},
	}

	for _, e := range experiments {
		seconds := results.Number(60 * e.minutes)
		seconds.Text = choice.Duration(seconds.Number)
		// An experiment that cannot be run has no time.
		if e.run == nil {
			seconds = results.Value{Text: "not run", Number: math.NaN()}
		}
		t.Add(results.Text(e.name), results.Text(e.paper), results.Text(e.shows),
			results.Text(strings.Join(e.needs, ", ")), seconds, results.Text(e.other))
	}

	return t
}
