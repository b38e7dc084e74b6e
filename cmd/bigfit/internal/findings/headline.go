package findings

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/internal/view/report"
)

const (
	// high is the probability from which an answer counts as sure.
	high = 0.9
	// fewOfClass is the number of labels of a class below which the advice is to give more.
	fewOfClass = 5
	// goodShare is the share of right answers, and of answers with a probability of at least high, from
	// which the advice is to use the answers.
	goodShare = 0.95
	// mostNamed is the number of classes that a sentence names.
	mostNamed = 5
)

// headline sums up the report in one sentence, and says where its numbers come from.
func (v *view) headline() report.Block {
	_, all := v.tallies()
	h := &report.Headline{Text: fmt.Sprintf("%s, %s", count(len(v.used.Index), "item"), count(all.labels, "label"))}
	var notes []string
	if v.checked.count() >= calibration.Fewest {
		share, deviation := v.checked.rate()
		h.Text += fmt.Sprintf(": about %s\u00a0%% right (±\u00a0%s)", rounded(share, deviation), rounded(deviation, deviation))
		notes = append(notes, fmt.Sprintf("Right answers are counted among %s %s; ± is one standard error. "+
			"The number holds for items that are like the labeled ones.", thousands(v.checked.count()), v.checked.how))
	} else {
		h.Text += ": how often answers are right is not known yet"
		notes = append(notes, fmt.Sprintf("%s could be checked; at least %d are needed.",
			count(v.checked.count(), "label"), calibration.Fewest))
	}
	if v.Probabilities != nil {
		sure := "none"
		if n := v.atLeast(high); n > 0 {
			sure = thousands(n)
		}
		h.Text += fmt.Sprintf("; %s of them at 90\u00a0%% or more", sure)
		notes = append(notes, v.probabilityNote())
	}
	h.Text += "."
	h.Note = strings.Join(notes, " ")
	return h
}

// probabilityNote says what the probabilities are worth.
func (v *view) probabilityNote() string {
	if v.Calibration != nil && v.Calibration.Rough() {
		return "Probabilities are rough: a rule made them of the scores, and no label checked them."
	}
	return "90 % is the probability that the model gives its answer."
}

// atLeast counts the points whose answer has a certainty of at least p.
func (v *view) atLeast(p float64) int {
	n := 0
	for _, s := range v.sure {
		if s >= p {
			n++
		}
	}
	return n
}

// advice says what to do next; every sentence follows from numbers of the report.
func (v *view) advice() []report.Block {
	var items []report.Item
	add := func(item report.Item, ok bool) {
		if ok {
			items = append(items, item)
		}
	}

	if v.guesses() {
		return []report.Block{&report.List{Title: "What to do next", Items: v.adviseGuesses()}}
	}
	add(v.adviseUse())
	add(v.adviseClasses())
	add(v.adviseSuspects())
	add(v.adviseConfused())
	add(v.adviseComponents())
	add(v.adviseLabels())
	if len(items) == 0 {
		return nil
	}
	return []report.Block{&report.List{Title: "What to do next", Items: items}}
}

// guesses tells whether the checked answers are hardly better than the most frequent class for all.
func (v *view) guesses() bool {
	if v.checked.count() < fewHeld || len(v.known.Classes) < 2 {
		return false
	}
	share, deviation := v.checked.rate()
	return share < v.checked.trivial()+2*deviation
}

// adviseGuesses says what to do with a model that knows hardly more than the shares of the classes: its
// probabilities and its doubts about labels say little.
func (v *view) adviseGuesses() []report.Item {
	share, _ := v.checked.rate()
	items := []report.Item{{Text: fmt.Sprintf("Do not use these answers: %s are right, and the most frequent class for "+
		"all would be right for %s. See whether the labels belong to the points (their order, their ids), whether "+
		"the points hold what the classes are about, and whether another model does better.", shareText(share),
		shareText(v.checked.trivial()))}}
	for _, advise := range []func() (report.Item, bool){v.adviseClasses, v.adviseComponents} {
		if item, ok := advise(); ok {
			items = append(items, item)
		}
	}
	return items
}

// adviseUse says which answers can be used.
func (v *view) adviseUse() (report.Item, bool) {
	if v.Probabilities == nil || v.checked.count() < fewHeld || !v.checked.probable {
		return report.Item{}, false
	}
	n := len(v.sure)
	sure := v.atLeast(high)
	share, _ := v.checked.rate()
	if share >= goodShare && float64(sure) >= goodShare*float64(n) {
		return report.Item{Text: fmt.Sprintf("Good enough for many uses: take the answers, and expect about %s of them "+
			"to be wrong. If that is too many, check the %s below 90 %% by hand.",
			shareText(1-share), count(n-sure, "answer"))}, true
	}

	wrong, of := v.checked.wrongAbove(high)
	if sure == 0 || of == 0 {
		return report.Item{Text: "Do not use the answers without a check: none of them is sure enough."}, sure == 0
	}
	text := fmt.Sprintf("Take the %s at 90 %% or more: of %s such answers %s. ",
		count(sure, "answer"), checkedText(of), wrongText(wrong))
	text += fmt.Sprintf("Leave the other %s to a person, or to a fit with more labels.", thousands(n-sure))
	return report.Item{Text: text}, true
}

// adviseClasses names classes with few labels, and classes whose labels are mostly answered otherwise.
func (v *view) adviseClasses() (report.Item, bool) {
	of, _ := v.tallies()
	var few, weak []string
	for c, t := range of {
		name := v.briefly(int32(c))
		switch {
		case t.labels < fewOfClass:
			few = append(few, fmt.Sprintf("%s (%d)", name, t.labels))
		case t.checked >= fewOfClass && 2*t.missed > t.checked:
			weak = append(weak, fmt.Sprintf("%s (%d of %d)", name, t.missed, t.checked))
		}
	}

	var texts []string
	if len(few) > 0 {
		texts = append(texts, fmt.Sprintf("Label more items of classes with fewer than %d labels: %s.", fewOfClass,
			listed(few)))
	}
	if len(weak) > 0 {
		texts = append(texts, fmt.Sprintf("More than half of the checked labels are answered with another class: %s. "+
			"More labels of these classes help most.", listed(weak)))
	}
	return report.Item{Text: strings.Join(texts, " ")}, len(texts) > 0
}

// adviseSuspects points to labels that may be wrong.
func (v *view) adviseSuspects() (report.Item, bool) {
	if v.Suspects == nil || len(v.Suspects.List) == 0 {
		return report.Item{}, false
	}
	n := len(v.Suspects.List)
	text := fmt.Sprintf("Look at the %s below, the most suspicious first, and correct what is wrong: %s with the "+
		"answer of a fit without them, and about %s wrong by estimate.", count(n, "suspicious label"),
		disagree(n, v.Suspects.Labeled), areWrong(v.Suspects.Wrong))
	return report.Item{Text: text, Commands: v.commands("bigfit suspects %s -o suspects.csv")}, true
}

// adviseConfused names the two classes that are taken for each other most often, if that is a
// large part of the mistakes.
func (v *view) adviseConfused() (report.Item, bool) {
	if v.checked.count() < fewHeld || len(v.known.Classes) < 3 {
		return report.Item{}, false
	}
	table := v.checked.confusion(len(v.known.Classes))
	first, second, most, mistakes := 0, 0, 0, 0
	for a := range table {
		for b := range a {
			n := table[a][b] + table[b][a]
			mistakes += n
			if n > most {
				first, second, most = b, a, n
			}
		}
	}

	// Few mistakes, or mistakes that are spread over all pairs, tell nothing about a pair.
	if most < 5 || 5*most < mistakes {
		return report.Item{}, false
	}
	return report.Item{Text: fmt.Sprintf("%d of %d mistakes take “%s” for “%s” or the other way round. See whether people "+
		"tell the two apart by what the model sees; if not, join them, or give the items other features.", most,
		mistakes, v.briefly(int32(first)), v.briefly(int32(second)))}, true
}

// adviseComponents points to points that no label reaches.
func (v *view) adviseComponents() (report.Item, bool) {
	if v.Unreached == 0 {
		return report.Item{}, false
	}
	return report.Item{Text: fmt.Sprintf("%s in parts of the graph without any label, so nothing is known of them. "+
		"bigfit next asks for one of each such part first.", lie(v.Unreached))}, true
}

// adviseLabels says how many labels to give next.
func (v *view) adviseLabels() (report.Item, bool) {
	_, all := v.tallies()
	n := len(v.used.Index) - all.labels
	// The rules of next need two classes to be unsure between.
	if n == 0 || len(v.known.Classes) < 2 {
		return report.Item{}, false
	}
	// A tenth of the labels changes the answers visibly, and a person labels two hundred in an hour.
	more := min(n, max(10, min(200, (all.labels+50)/100*10)))
	text := fmt.Sprintf("Label %d more items, those that tell the model most: correct the column label of next.csv, then add it to the model.", more)
	if v.checked.count() >= fewHeld {
		if share, deviation := v.checked.rate(); 1-share < 2*deviation {
			text = fmt.Sprintf("More labels would hardly show: the error is within its uncertainty. For a check, "+
				"label %d more items: correct the column label of next.csv, then add it to the model.", more)
		}
	}
	return report.Item{Text: text, Commands: v.commands("bigfit next %s -n "+strconv.Itoa(more)+" -o next.csv",
		"bigfit update %s -y next.csv -o model2.npz")}, true
}

// briefly returns the name of a class for a sentence: a long one is cut in its middle.
func (v *view) briefly(class int32) string {
	const most = 32
	r := []rune(v.known.Name(class))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most/2-1]) + "…" + string(r[len(r)-most/2:])
}

// commands returns command lines with the file of the model; none without a file.
func (v *view) commands(formats ...string) []string {
	if v.Model == "" {
		return nil
	}
	file := v.Model
	if strings.ContainsAny(file, " \t'\"$&;()<>|*?`\\") {
		file = "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
	}
	out := make([]string, len(formats))
	for i, f := range formats {
		out[i] = fmt.Sprintf(f, file)
	}
	return out
}

// count writes a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

// lie begins a sentence on points in a place.
func lie(n int) string {
	if n == 1 {
		return "1 item lies"
	}
	return thousands(n) + " items lie"
}

// disagree says that some labels disagree.
func disagree(n, of int) string {
	if n == 1 {
		return fmt.Sprintf("1 of %s labels disagrees", thousands(of))
	}
	return fmt.Sprintf("%s of %s labels disagree", thousands(n), thousands(of))
}

// areWrong begins a statement on wrong labels.
func areWrong(n int) string {
	if n == 1 {
		return "1 is"
	}
	return thousands(n) + " are"
}

// checkedText and wrongText write the numbers of checked answers and of wrong ones among them.
func checkedText(n int) string { return thousands(n) + " checked" }

func wrongText(n int) string {
	switch n {
	case 0:
		return "none is wrong"
	case 1:
		return "1 is wrong"
	}
	return thousands(n) + " are wrong"
}

// listed joins names; of many it takes the first.
func listed(names []string) string {
	if len(names) > mostNamed {
		return strings.Join(names[:mostNamed], ", ") + fmt.Sprintf(" and %d more", len(names)-mostNamed)
	}
	return strings.Join(names, ", ")
}

// thousands writes a number with a comma behind each thousand.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// rounded writes a share in per cent with as many digits as its standard error allows.
func rounded(share, deviation float64) string {
	digits := 0
	if deviation < 0.005 {
		digits = 1
	}
	return strconv.FormatFloat(100*share, 'f', digits, 64)
}

// shareText writes a share in per cent.
func shareText(share float64) string {
	if share < 0.095 {
		return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(math.Round(100*share), 'f', 0, 64) + " %"
}
