package shell

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// What -y holds.
const (
	asAuto          = "auto"
	asLabels        = "labels"
	asProbabilities = "probabilities"
)

// SoftOptions say whether labels are probabilities of classes, and how much each label weighs.
type SoftOptions struct {
	As      string
	Classes []string // of the columns of an array
	Weights string   // file
}

// Flags adds the flags; weights only if asked for.
func (o *SoftOptions) Flags(f *pflag.FlagSet, weights bool) {
	f.StringVar(&o.As, "labels-as", asAuto, "`kind` of y: labels, probabilities, or auto: bigfit help soft")
	f.StringSliceVar(&o.Classes, "classes", nil, "`names` of the columns of probabilities in an array (default 0,1,…)")
	if weights {
		f.StringVar(&o.Weights, "label-weights", "", "`file` of the weights of the labels, 0 leaves one out: bigfit help soft")
	}
}

// Check returns an error for values that cannot be.
func (o *SoftOptions) Check() error {
	switch o.As {
	case "", asAuto, asLabels, asProbabilities:
	default:
		return Usagef("--labels-as is %q; it must be %s", o.As, enum.Or([]string{asAuto, asLabels, asProbabilities}))
	}
	if len(o.Classes) > 0 && o.As == asLabels {
		return Usagef("--classes names the columns of probabilities, and --labels-as is labels")
	}
	return nil
}

// Crowd tells whether the file in path is read as labels of several annotators, and says so.
func (o *SoftOptions) Crowd(a *App, path string) bool {
	if path == "" || o.As == asLabels || o.As == asProbabilities || !data.HasAnnotators(path, a.Left()) {
		return false
	}
	a.Note("%s: a label of each annotator and point; --labels-as labels reads one label a point", path)
	return true
}

// ReadCrowd reads the labels that annotators gave to n points.
func (o *LabelOptions) ReadCrowd(a *App, path string, n int) (*data.Annotations, error) {
	opt, err := a.labelOptions(path, o.Unlabeled, n)
	if err != nil {
		return nil, err
	}
	a.Reads(pipeline.HashLabels, path)
	answers, err := data.ReadAnnotations(path, *opt)
	if err != nil {
		return nil, err
	}
	a.Notes(answers.Labels.Read.Notes...)
	a.Warn(answers.Labels.Read.Warnings...)
	a.Note("labels: %d of %s for the points", len(answers.Point), enum.Count(len(answers.Annotators), "annotator"))
	return answers, nil
}

// ReadShares reads the probabilities of the classes of n points, if the file holds some by its contents or by the flag;
// else it returns nil.
func (o *SoftOptions) ReadShares(a *App, label *LabelOptions, path string, n int) (*data.Shares, error) {
	if path == "" || o.As == asLabels {
		return nil, nil
	}
	opt, err := a.labelOptions(path, label.Unlabeled, n)
	if err != nil {
		return nil, err
	}
	s, err := data.ReadShares(path, data.ShareOptions{LabelOptions: *opt, Classes: o.Classes})
	if o.As != asProbabilities {
		// A file that holds no such numbers is left to the other readers, unless its columns have names.
		if err != nil && len(o.Classes) > 0 {
			return nil, err
		}
		if err != nil || !data.LooksLikeShares(s.P) {
			if len(o.Classes) > 0 {
				return nil, Usagef("--classes names the columns of probabilities, and the rows of %s do not look like some; "+
					"say --labels-as probabilities", path)
			}
			return nil, nil
		}
		a.Note("%s: its rows sum to 1, so that they are probabilities of %d classes; --labels-as labels, or --regression, "+
			"reads them as other numbers", path, len(s.Classes))
	}
	if err != nil {
		return nil, err
	}
	a.Reads(pipeline.HashLabels, path)
	a.Notes(s.Read.Notes...)
	a.Warn(s.Read.Warnings...)
	return s, nil
}

// readSoft reads labels that are probabilities, or that several annotators gave; nil if the file holds neither.
func (a *App) readSoft(o *TargetOptions, l models.Learner, n int) (*pipeline.Targets, error) {
	info := l.Info()
	if o.Regression || !info.Learns.Has(models.LearnsClasses) {
		if o.Soft.As == asProbabilities || len(o.Soft.Classes) > 0 {
			return nil, Usagef("--labels-as probabilities is for models of classes")
		}
		return nil, nil
	}
	var t *pipeline.Targets
	switch {
	case o.Soft.Crowd(a, o.Y):
		answers, err := o.Label.ReadCrowd(a, o.Y, n)
		if err != nil {
			return nil, err
		}
		if t, err = pipeline.CrowdTargets(answers); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Y, err)
		}
	default:
		s, err := o.Soft.ReadShares(a, &o.Label, o.Y, n)
		if s == nil {
			return nil, err
		}
		if t, err = pipeline.ShareTargets(s); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Y, err)
		}
		if len(t.Classes) < len(s.Classes) {
			a.Note("%s: %d of %d classes have no share of any point and are left out", o.Y, len(s.Classes)-len(t.Classes),
				len(s.Classes))
		}
		a.saySure(t)
	}
	if o.Labels > 0 {
		return nil, Usagef("--labels draws from labels of one class, and %s holds probabilities or annotators; leave it out", o.Y)
	}
	return t, nil
}

// saySure says how sure soft labels are.
func (a *App) saySure(t *pipeline.Targets) {
	var sure float64
	p := make([]float64, len(t.Classes))
	for q := range t.Labeled {
		top := 0.0
		for _, v := range t.SharesTo(p, q) {
			top = max(top, v)
		}
		sure += top / float64(len(t.Labeled))
	}
	a.Note("labels: probabilities of %d classes for %d of %d points, the largest %.2f on average", len(t.Classes),
		len(t.Labeled), t.Len, sure)
}

// weigh gives labels the weights in a file.
func (a *App) weigh(o *TargetOptions, t *pipeline.Targets) (*pipeline.Targets, error) {
	if o.Soft.Weights == "" {
		return t, nil
	}
	switch {
	case t.Classes == nil:
		return nil, Usagef("--label-weights is for labels of classes")
	case t.Answers != nil:
		return nil, Usagef("--label-weights does not go with labels of several annotators, whose confusion says what they weigh")
	case o.Labels > 0:
		return nil, Usagef("--label-weights does not go with --labels")
	}
	weights, err := a.readWeights(o.Soft.Weights, t.Len)
	if err != nil {
		return nil, err
	}
	out, err := t.Weighted(weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Soft.Weights, err)
	}
	if left := len(t.Labeled) - len(out.Labeled); left > 0 {
		a.Note("%s: %d labels weigh 0 and do not count", o.Soft.Weights, left)
	}
	return out, nil
}

// readWeights reads a number for each of n points, NaN where a table lists none.
func (a *App) readWeights(path string, n int) ([]float64, error) {
	ids, err := a.Points.Identify(a)
	if err != nil {
		return nil, err
	}
	file, key := shards.SplitKey(path)
	if ok, _ := data.HasColumn(file, "weight", a.Left()); ok && key == "" {
		path = file + ":weight"
	}
	how := &data.LabelFile{}
	block, err := data.ReadValues(path, data.ReadOptions{Limit: a.Left(), Points: n, IDs: ids, Coordinates: a.Points.coordinates(),
		File: how})
	if err != nil {
		return nil, err
	}
	a.Notes(how.Notes...)
	a.Warn(how.Warnings...)
	rows, cols := block.Dims()
	if cols != 1 || rows != n {
		return nil, fmt.Errorf("%s: it is %d×%d; it must hold one weight for each of %d points", path, rows, cols, n)
	}
	return mat.Col(nil, 0, block), nil
}

// refuseSoft returns an error if the learner does not take such labels, with the names of those that do.
func refuseSoft(l models.Learner, t *models.Targets) error {
	info := l.Info()
	takers := func(learns models.Learns) string {
		return LearnersThat(func(l models.Learner) bool { return l.Info().Learns.Has(models.LearnsClasses | learns) })
	}
	var missing []string
	need := models.Learns(0)
	if t.Soft {
		need |= models.LearnsShares
		if !info.Learns.Has(models.LearnsShares) {
			missing = append(missing, "probabilities of classes")
		}
	}
	if t.Weights != nil {
		need |= models.LearnsWeights
		if !info.Learns.Has(models.LearnsWeights) {
			missing = append(missing, "weights of labels")
		}
	}
	if missing == nil {
		return nil
	}
	return Usagef("%s takes no %s; %s do", info.Name, strings.Join(missing, " and no "), takers(need))
}

// SayConsensus says what annotators agree on.
func (a *App) SayConsensus(c *models.Consensus) {
	a.Note("annotators: %s", param.Show(c.String(), param.Flag))
}
