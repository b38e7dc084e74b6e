package models

import "fmt"

// WithNames returns m with names for its classes, or m itself if names is nil. Learners
// know classes as integers only: the names stand around their models, in Output and in
// model files, and [Unnamed] takes them off. It is an error if there is not one name a
// class, or one is there twice.
func WithNames(m Model, names []string) (Model, error) {
	if names == nil {
		return m, nil
	}
	if have := len(m.Output().Classes); have != len(names) {
		return nil, fmt.Errorf("models: %d names for %d classes", len(names), have)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("models: two classes have the name %q", name)
		}
		seen[name] = true
	}
	if t, ok := m.(Trained); ok {
		return namedTrained{t, names}, nil
	}
	return named{m, names}, nil
}

// Unnamed returns the learner's own model, which has no names.
func Unnamed(m Model) Model {
	switch m := m.(type) {
	case named:
		return m.Model
	case namedTrained:
		return m.Trained
	}
	return m
}

// named is a model whose classes have names.
type named struct {
	Model
	names []string
}

func (m named) Output() Output { return withNames(m.Model.Output(), m.names) }

// namedTrained is the same of a model that keeps its answers.
type namedTrained struct {
	Trained
	names []string
}

func (m namedTrained) Output() Output { return withNames(m.Trained.Output(), m.names) }

func withNames(o Output, names []string) Output {
	o.Names = names
	return o
}
