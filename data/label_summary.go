package data

import (
	"fmt"
	"slices"
	"strings"
)

// LabelSummary counts labels.
type LabelSummary struct {
	Points  int `json:"points"`
	Labeled int `json:"labeled"`
	Classes int `json:"classes"` // with a label
	// Fewest and Most are the numbers of labels of the classes that have one.
	Fewest int `json:"fewest"`
	Most   int `json:"most"`
	// Unlabeled are the values that marked points without label in the file.
	Unlabeled []string `json:"unlabeled"`
	// Used are the labels that are used, if they are not all.
	Used *LabelSummary `json:"used,omitempty"`
}

// Summary counts the labels.
func (l *Labels) Summary() LabelSummary {
	counts := make([]int, len(l.Classes))
	s := LabelSummary{Points: len(l.Index), Unlabeled: []string{}}
	for _, c := range l.Index {
		if c != Unlabeled {
			counts[c]++
			s.Labeled++
		}
	}

	// Classes without a label do not count.
	for _, n := range counts {
		if n == 0 {
			continue
		}
		if s.Classes++; s.Classes == 1 || n < s.Fewest {
			s.Fewest = n
		}
		s.Most = max(s.Most, n)
	}

	if l.Read != nil && l.Read.Marks != nil {
		s.Unlabeled = l.Read.Marks
	}
	return s
}

// String is the summary as a line: "130 of 20000 points, 26 classes, 5 a class;
// unlabeled: −1".
func (s LabelSummary) String() string {
	text := fmt.Sprintf("%d of %d points, %s", s.Labeled, s.Points, s.classes())
	if len(s.Unlabeled) > 0 {
		marks := slices.Clone(s.Unlabeled)
		for i, m := range marks {
			if digits, ok := strings.CutPrefix(m, "-"); ok {
				marks[i] = "−" + digits
			}
		}
		text += "; unlabeled: " + strings.Join(marks, ", ")
	}

	if s.Used != nil {
		text += fmt.Sprintf("; used: %d, %s", s.Used.Labeled, s.Used.classes())
	}
	return text
}

// classes writes the number of classes and of labels in each.
func (s LabelSummary) classes() string {
	text := fmt.Sprintf("%d classes", s.Classes)
	if s.Classes == 1 {
		text = "1 class"
	}
	switch {
	case s.Classes == 0:
		return text
	case s.Fewest == s.Most:
		return fmt.Sprintf("%s, %d a class", text, s.Most)
	}

	return fmt.Sprintf("%s, %d to %d a class", text, s.Fewest, s.Most)
}
