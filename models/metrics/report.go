package metrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Report says how good predicted classes are. Shares are in [0, 1]; figures that are not defined
// are NaN, null in JSON.
type Report struct {
	Points  int     `json:"points"`
	Error   float64 `json:"error"` // share of wrong predictions
	MacroF1 float64 `json:"macro_f1"`
	MicroF1 float64 `json:"micro_f1"`
	// MacroPRBEP and MacroAUC are means over the classes for which they are
	// defined; nil without scores.
	MacroPRBEP *Number       `json:"macro_prbep,omitempty"`
	MacroAUC   *Number       `json:"macro_auc,omitempty"`
	Classes    []ClassReport `json:"classes"` // ascending
	// Positive is the class that was asked for, if one was.
	Positive  *ClassReport `json:"positive,omitempty"`
	Confusion *Confusion   `json:"confusion"`
}

// ClassReport says how good the predictions are for one class against all others.
type ClassReport struct {
	Class     int64   `json:"-"`
	Name      any     `json:"class"`     // Class, or its name after [Report.SetNames]
	Points    int     `json:"points"`    // that are of the class
	Predicted int     `json:"predicted"` // to be of it
	Precision Number  `json:"precision"`
	Recall    Number  `json:"recall"`
	F1        float64 `json:"f1"`
	PRBEP     *Number `json:"prbep,omitempty"` // nil without scores
	AUC       *Number `json:"auc,omitempty"`
}

// NewReport measures n predicted classes against n true ones. Errors are those
// of [NewConfusion].
func NewReport(truth, predicted []int64) (*Report, error) {
	m, err := NewConfusion(truth, predicted)
	if err != nil {
		return nil, err
	}
	r := &Report{Points: len(truth), Error: m.Error(), MacroF1: m.MacroF1(), MicroF1: m.MicroF1(),
		Confusion: m}
	for c, class := range m.Classes {
		_, support, guessed := m.tally(c)
		r.Classes = append(r.Classes, ClassReport{Class: class, Name: class, Points: support,
			Predicted: guessed,
			Precision: Number(m.Precision(c)), Recall: Number(m.Recall(c)), F1: m.F1(c)})
	}
	return r, nil
}

// SetNames gives class c the name names[c], in JSON and text.
func (r *Report) SetNames(names []string) {
	var all []string
	for i := range r.Classes {
		name := names[r.Classes[i].Class]
		r.Classes[i].Name = name
		all = append(all, name)
	}
	r.Confusion.Names = all
}

// AddScores adds PRBEP and AUC of the classes that have a column in scores, n×c: columns[j] is the
// class of column j. Classes without a column stay without them, and columns of classes that nobody
// has or is predicted to have are left out. Errors are the same as for [PRBEP].
func (r *Report) AddScores(truth []int64, scores *mat.Dense, columns []int64) error {
	if _, c := scores.Dims(); c != len(columns) {
		return fmt.Errorf("metrics: scores have %d columns for %d classes", c, len(columns))
	}
	var prbeps, aucs []float64
	positive := make([]bool, len(truth))
	for i := range r.Classes {
		k := &r.Classes[i]
		j := slices.Index(columns, k.Class)
		if j < 0 {
			continue
		}
		// One class against the others.
		for p, c := range truth {
			positive[p] = c == k.Class
		}
		column := mat.Col(nil, j, scores)
		prbep, err := PRBEP(column, positive)
		if err != nil {
			return fmt.Errorf("column %d: %w", j, err)
		}

		auc, err := AUC(column, positive)
		if err != nil {
			return err
		}
		k.PRBEP = (*Number)(&prbep)
		k.AUC = (*Number)(&auc)
		prbeps = append(prbeps, prbep)
		aucs = append(aucs, auc)
	}

	// Classes without positive points have no figures and do not count.
	r.MacroPRBEP = meanDefined(prbeps)
	r.MacroAUC = meanDefined(aucs)
	return nil
}

// meanDefined returns the mean of those values that are not NaN.
func meanDefined(x []float64) *Number {
	var sum, count float64
	for _, v := range x {
		if !math.IsNaN(v) {
			sum += v
			count++
		}
	}
	mean := Number(sum / count)
	return &mean
}

// SetPositive makes class the one that Positive tells of. It is an error if it
// is neither a true nor a predicted class of any point.
func (r *Report) SetPositive(class int64) error {
	for i := range r.Classes {
		if r.Classes[i].Class == class {
			r.Positive = &r.Classes[i]
			return nil
		}
	}
	return fmt.Errorf("metrics: no point is of class %d or predicted to be; the classes are %v", class,
		r.Confusion.Classes)
}

// mostInTable is the number of classes up to which String prints the confusion
// matrix.
const mostInTable = 30

// String is the report as text: the error, a table with a line a class, and the
// confusion matrix if it is not too large. Shares are in percent.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "error %.2f %% of %d points; macro F1 %.2f %%, micro F1 %.2f %%\n", 100*r.Error, r.Points,
		100*r.MacroF1, 100*r.MicroF1)
	if r.MacroPRBEP != nil {
		fmt.Fprintf(&b, "macro PRBEP %s %%, macro AUC %s %%\n", percent(*r.MacroPRBEP), percent(*r.MacroAUC))
	}
	if p := r.Positive; p != nil {
		fmt.Fprintf(&b, "class %v: precision %s %%, recall %s %%, F1 %.2f %%", p.Name, percent(p.Precision),
			percent(p.Recall), 100*p.F1)
		if p.PRBEP != nil {
			fmt.Fprintf(&b, ", PRBEP %s %%, AUC %s %%", percent(*p.PRBEP), percent(*p.AUC))
		}
		b.WriteString("\n")
	}

	// A line a class, then the confusion matrix.
	rows := [][]string{{"class", "points", "predicted", "precision", "recall", "F1"}}
	if r.MacroPRBEP != nil {
		rows[0] = append(rows[0], "PRBEP", "AUC")
	}
	for _, k := range r.Classes {
		row := []string{fmt.Sprint(k.Name), fmt.Sprint(k.Points), fmt.Sprint(k.Predicted),
			percent(k.Precision), percent(k.Recall), percent(Number(k.F1))}
		if k.PRBEP != nil {
			row = append(row, percent(*k.PRBEP), percent(*k.AUC))
		}
		rows = append(rows, row)
	}

	b.WriteString("\n" + alignRight(rows))
	// More columns than this do not fit on a page.
	if len(r.Classes) > mostInTable {
		return b.String()
	}
	rows = [][]string{{"true \\ predicted"}}
	for i := range r.Confusion.Classes {
		name := fmt.Sprint(r.Classes[i].Name)
		rows[0] = append(rows[0], name)
		row := []string{name}
		for _, v := range r.Confusion.Counts[i] {
			row = append(row, fmt.Sprint(v))
		}
		rows = append(rows, row)
	}

	return b.String() + "\n" + alignRight(rows)
}

// percent writes a share in percent, a dash if it is not defined.
func percent(x Number) string {
	if math.IsNaN(float64(x)) {
		return "–"
	}
	return fmt.Sprintf("%.2f", 100*float64(x))
}

// alignRight writes rows of cells as columns two blanks apart.
func alignRight(rows [][]string) string {
	var width []int
	for _, row := range rows {
		for j, cell := range row {
			if j == len(width) {
				width = append(width, 0)
			}
			width[j] = max(width[j], len([]rune(cell)))
		}
	}

	var b strings.Builder
	for _, row := range rows {
		for j, cell := range row {
			b.WriteString(strings.Repeat(" ", 2*min(j, 1)+width[j]-len([]rune(cell))) + cell)
		}
		b.WriteString("\n")
	}

	return b.String()
}

// ValueReport says how good predicted numbers are.
type ValueReport struct {
	Points int     `json:"points"` // numbers that were compared, of all columns
	RMSE   float64 `json:"rmse"`
	MAE    float64 `json:"mae"`
	R2     Number  `json:"r2"` // NaN if all true values are equal; of several columns the mean
	// Columns are the reports of the columns of several values a point, and Names their names; nil if they have none. The
	// report of a column without a true value has zero points.
	Columns []*ValueReport `json:"columns,omitempty"`
	Names   []string       `json:"names,omitempty"`
}

// NewValueReport measures n predicted numbers against n true ones. Errors are the same as for
// [RMSE], and values that are not finite.
func NewValueReport(truth, predicted []float64) (*ValueReport, error) {
	for _, v := range []struct {
		what string
		x    []float64
	}{{"true value", truth}, {"prediction", predicted}} {
		for i, e := range v.x {
			if math.IsNaN(e) || math.IsInf(e, 0) {
				return nil, fmt.Errorf("metrics: %s %d is %v", v.what, i, e)
			}
		}
	}

	rmse, err := RMSE(truth, predicted)
	if err != nil {
		return nil, err
	}
	mae, err := MAE(truth, predicted)
	if err != nil {
		return nil, err
	}
	r2, err := R2(truth, predicted)
	return &ValueReport{Points: len(truth), RMSE: rmse, MAE: mae, R2: Number(r2)}, err
}

// AddColumn adds the report of the next one of several columns. R² becomes the mean over the columns that have one: about the
// mean of all columns together it says little where their units differ.
func (r *ValueReport) AddColumn(c *ValueReport) {
	r.Columns = append(r.Columns, c)
	sum, count := 0.0, 0.0
	for _, c := range r.Columns {
		if v := float64(c.R2); !math.IsNaN(v) {
			sum += v
			count++
		}
	}
	r.R2 = Number(sum / count)
}

// String is the report as text: a line, and a table with a line a column if there are several.
func (r *ValueReport) String() string {
	text := fmt.Sprintf("RMSE %.6g, mean absolute error %.6g", r.RMSE, r.MAE)
	if !math.IsNaN(float64(r.R2)) {
		text += fmt.Sprintf(", R² %.6g", float64(r.R2))
	}
	if r.Columns == nil {
		return fmt.Sprintf("%s on %d points", text, r.Points)
	}
	rows := [][]string{{"column", "RMSE", "mean absolute error", "R²", "points"}}
	for j, c := range r.Columns {
		name := strconv.Itoa(j)
		if r.Names != nil {
			name = r.Names[j]
		}
		cells := []string{name, "", "", "", strconv.Itoa(c.Points)}
		if c.Points > 0 {
			cells = []string{name, fmt.Sprintf("%.6g", c.RMSE), fmt.Sprintf("%.6g", c.MAE), "", strconv.Itoa(c.Points)}
			if !math.IsNaN(float64(c.R2)) {
				cells[3] = fmt.Sprintf("%.4f", float64(c.R2))
			}
		}
		rows = append(rows, cells)
	}
	return fmt.Sprintf("%s on %d values of %d columns\n\n%s", text, r.Points, len(r.Columns), alignRight(rows))
}
