package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/internal/suggest"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
)

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC|MODEL]",
		Short: "Help about a command, a topic or a model",
		Long: `Print the help of a command or a topic, as --help does, or of a model: what it is,
what it learns and needs, and its flags, which bigfit fit and bigfit tune take.

  bigfit help fit
  bigfit help data
  bigfit help lgc`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			out, how := shell.CompleteModels(cmd, args, typed)
			for _, c := range cmd.Root().Commands() {
				if strings.HasPrefix(c.Name(), typed) && !c.Hidden {
					out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return out, how
		},
		// Help is there whatever the other flags and the environment say.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 1 {
				if l := all.Learner(args[0]); l != nil {
					info := describeLearner(l)
					return a.Print(info, info.help())
				}
			}

			// Cobra adds these flags when a command runs, so help asks for them by hand.
			about, _, err := root.Find(args)
			if err != nil {
				return fmt.Errorf("no command, topic or model has the name %q%s", args[0],
					suggest.DidYouMean(args[0], append(shell.CommandNames(root), shell.ModelNames()...)))
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// help is the page of a model.
func (d learnerInfo) help() string {
	var b strings.Builder
	for line := range strings.Lines(d.about()) {
		b.WriteString(wrapped(line, shell.Width))
	}
	fmt.Fprintf(&b, "\nUsage:\n  bigfit fit --model %s X.npy… y.npy -o model.npz [flags]\n", d.Name)
	if !d.Learns.Has(models.LearnsInside) {
		fmt.Fprintf(&b, "  bigfit tune --model %s X.npy… y.npy [flags]\n", d.Name)
	}
	for _, list := range d.lists("Flags of the model", "Flags of its graph") {
		// A flag set of its own, because the same parameter has another text for each model.
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		shell.ParamFlags{}.Add(flags, list.params, false)
		for i := range list.params {
			p := &list.params[i]
			flags.Lookup(p.Name).Usage = fullUsage(p)
		}
		fmt.Fprintf(&b, "\n%s:\n%s", list.title, flags.FlagUsagesWrapped(shell.Width))
	}

	b.WriteString("\nbigfit fit --help lists the flags of the data and of the files, which are those " +
		"of all models.\n")
	return b.String()
}

// wrapped breaks a line between words before a width, with more space before what follows.
func wrapped(line string, width int) string {
	var out strings.Builder
	column := 0
	for word := range strings.SplitAfterSeq(line, " ") {
		n := utf8.RuneCountInString(word)
		if column > 0 && column+n > width {
			out.WriteString("\n    ")
			column = 4
		}
		out.WriteString(word)
		column += n
	}

	return out.String()
}

// Topics of help that belong to several commands.

func dataTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "data",
		Short: "How points and labels are read",
		Long: `Points X are ` + enum.Or(data.Formats(false)) + `,
where a .npz is the array "X", or file.npz:key, or a sparse matrix of SciPy.
` + enum.And(data.Formats(true)) + ` may be compressed with
gzip or zstd. .npy files are mapped into memory and may be larger than it.

X and y are arguments, y the last one, or -X and -y. One set of points may be in several
files: a pattern in quotes ('emb/*.npy'), a folder, or a .txt or .list with the name of a
file on each line. Files are taken in the order of the numbers in their names. Tables
beside .npy files, one a file or one for the whole folder, name the points by a column
of ids.

Classes in y are integers, or names, which the model keeps. −1, no text, "nan", "null"
and "?" mark points without a label. In a y of floats NaN does, and −1 only where no
value is NaN. --unlabeled names other values. A y of numbers that are not all integers
makes it a regression, if the model can do that. How y was read is printed before work
begins, with a warning where another reading is plausible. --labels N uses a random
subset of the labels and prints the error on the others.

y may be a table (` + strings.Join(table.Formats, ", ") + `) of the labels of some points. Its ids
are compared with those in --ids FILE, or in the column --id of a table X; without it, in
the column of X with a usual name of ids, which is said. If the points have no ids, they
are numbers of points from 0. Columns are found by usual names (id,
path, name, …; label, class, target, …), that of ids also by the id of a point in its
first row, or named as y.csv:LABEL or y.csv:ID,LABEL.
Labels may also be a column of X: --label. Columns of X that are no coordinates must be
left out with --drop, or the coordinates named with --columns. A model keeps the names of
its columns: of a new table these are read, in their order, and others are left out.

csv is read as pandas, R and Excel write it: commas, semicolons, tabs or blanks between
the columns, decimal commas between semicolons, quotes, UTF-8 or UTF-16. A first column
without a name is an index: X leaves it out (--id 0 takes it), and y takes it for ids.
Lines above the first row that begin with # and a blank are comments; all other lines
are rows. Labels with a leading zero, such as 007, are names.

If points may have several labels, y has a column for each label: 1 where a point has it,
0 or −1 where it has not, NaN where nobody knows. Or y is svmlight with lists of labels
("1,5,7"; nan for a point without any). With --regression the columns hold values. The
answers are scores, positive for the labels of a point.`,
	}
}

func softTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "soft",
		Short: "Labels that are probabilities, weigh, come from several annotators, or are wrong",
		Long: `Probabilities. y may hold a probability for each class, from a crowd or another program.
It is an n×c array of floats, whose columns --classes a,b,c names, or a table with ids and
a column for each class, which has the name of the class. Each row sums to 1. A point has
no label if its row is NaN or zeros, or if the table does not list it. A y whose rows are
such fractions is read as probabilities, and the command says so. --labels-as
probabilities reads an array of 0 and 1 as probabilities too. --labels-as labels and
--regression read fractions as labels and as values.

Weights. --label-weights FILE holds a number for each point, or is a table with ids and a
column weight. A weight of 2 counts like two labels of the point, and 0 like none.

Annotators. y may be a table with ids, labels and a column annotator (or worker, rater, …;
or named as FILE:ID,LABEL,ANNOTATOR) that lists a point several times. The fit estimates a
confusion matrix for each annotator and from these the probabilities of the classes (Dawid
& Skene 1979). For a model with a graph the prior of a point's class comes from its
neighbours. The accuracy of each annotator is printed. The model keeps the answers, and
bigfit update adds more.

Noise. --label-noise 0.05 says that five labels in a hundred are wrong at random.
--label-noise estimate estimates that share. Each label then becomes probabilities
p ∝ q·0.95 of its class and q·0.05/(c−1) of the others, where q comes from the neighbours.
The answer for a point may then differ from its label.

These models take probabilities:
` + wrapped(takers(models.LearnsShares), shell.Width) + `

These models take weights:
` + wrapped(takers(models.LearnsWeights), shell.Width) + `

The error that a fit estimates is then an expected error: the share of wrong answers if
labels were drawn from the probabilities, each label counted by its weight.`,
	}
}

func kernelsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "kernels",
		Short: "What models with a norm of functions minimize, and ways to fit large ones",
		Long: `A model with an intrinsic norm minimizes, where l of all points are labeled,

  1/l Σ V(f(x), y) + γ_A ‖f‖² + γ_I fᵀLᵖf

V is the squared loss or the hinge, and L the Laplacian of a graph. The graph joins the
nearest neighbours among X, or is given with --graph. γ_I = 0 needs no graph.

L is D − W by default. --laplacian normalized takes the normalized Laplacian, with which
Belkin, Niyogi & Sindhwani (2006, Remark 3) made their experiments; docs/models.md compares
both. --penalty-coefficients replaces Lᵖ by a polynomial of L, for all these models. Exact
kernel machines also take exp(tL) (--heat), the Hessian energy (--hessian), or the norm of
a sharp kernel, which needs no graph (--intrinsic-sigma).

An exact kernel machine holds n² kernel values for n points; without γ_I only the labeled
points count. --approximation takes another way, and beyond 5000 points the default does so
where that takes less time:

  nystrom      an expansion over m of the points (--landmarks m), n·m values
  fourier      random Fourier features (--features D)
  matrix-free  conjugate gradients with products of the whole kernel, which is never
               held; for least squares

With an approximation the hinge is squared. The cost of the choice of m is printed. bigfit
help MODEL lists the approximations of a model.

--pca changes the points for the graph alone: linear models and kernel machines work on X
as it is.`,
	}
}

func choicesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "choices",
		Short: "What is chosen by the labels: the model, its weights, its probabilities",
		Long: `Weights γ_A and γ_I that are not given are chosen by cross-validation on the labels, on
the model's grid (bigfit models NAME). With too few labels a fixed rule gives them: fewer
than 20 labels of classes that have two or more. What was chosen is printed.

The default model, auto, is a weighted mean of lgc, tikhonov and rls with several
settings, and with few labels of poisson-mbo. Cross-validation on the labels gives the
weights; with fewer than two labels a class they are fixed. The choice is printed with its
estimated error. The graph of auto has 10 neighbours and self-tuning weights. It is made
of 50 principal components where X has more than 100 columns, and by the angle where X is
sparse. Where few columns of X hold nearly all of the variance, as those in larger units,
each column is first divided by its standard deviation. Flags of the graph replace these.
auto does not take several labels a point: take vvmr.

A fit learns how probable a class is, or how wide an interval must be, from answers for
labels that were held out. Probabilities and intervals are for --proba, --reject and
--interval of bigfit predict. --calibrate N holds labels out in N more fits. The
default, --calibrate auto, takes the answers that the fit has already, else formulas,
else a few folds, else a rule, and so costs little. --calibrate none leaves
probabilities out.`,
	}
}

// takers lists the models of classes that take such labels.
func takers(learns models.Learns) string {
	return shell.LearnersThat(func(l models.Learner) bool { return l.Info().Learns.Has(models.LearnsClasses | learns) })
}
