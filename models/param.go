package models

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/enum"
)

// A Param describes one parameter of a learner. Flags of the command, axes of a
// grid, the settings in manifests and the check of values are all made from it.
type Param struct {
	// Name in flags, grids and manifests: lower case, words joined by dashes.
	Name string `json:"name"`
	// Doc is one line without the default.
	Doc  string    `json:"doc"`
	Unit string    `json:"unit,omitempty"`
	Kind ParamKind `json:"kind"`
	// Default is the value that counts if none is given, as text, or the way in which the
	// value is found ("by cross-validation").
	Default string `json:"default,omitempty"`
	// Required parameters have no default: Fit needs a value. They have a Grid and
	// Few, so that commands can choose one.
	Required bool `json:"required,omitempty"`
	// Grid lists the values that cross-validation compares if none is given, in ascending
	// order of numbers. Only an Axis has one. See selection.DefaultGrid.
	Grid []string `json:"grid,omitempty"`
	// Few is the value of a required parameter if there are too few labels for
	// cross-validation. See selection.Rule.
	Few string `json:"few,omitempty"`
	// Range holds the numbers that are allowed; nil allows all finite ones.
	Range *Range `json:"range,omitempty"`
	// Choices are the names that are allowed; for a number, the names that are allowed in
	// its place.
	Choices []string `json:"choices,omitempty"`
	// Why explains the range or the choices in the error about another value.
	Why string `json:"-"`
	// Only is the condition under which the parameter matters; nil means always.
	Only *Condition `json:"only,omitempty"`
	// Axis tells whether a grid may list several values. Among settings with equal scores
	// the larger value is the stronger regularization, or the smaller value if Smaller is
	// true.
	Axis    bool `json:"axis,omitempty"`
	Smaller bool `json:"-"`
	// Named says that numbers of a List are for the classes, ascending, and may be given by
	// class, as in a:0.8,b:0.2: see [OrderShares].
	Named bool `json:"named,omitempty"`
}

// ParamKind is the type of a parameter's values.
type ParamKind string

// The kinds of parameters.
const (
	Float  ParamKind = "number"
	Int    ParamKind = "integer"
	Bool   ParamKind = "boolean"
	Choice ParamKind = "choice"
	List   ParamKind = "numbers" // several numbers with commas between them
)

// Range is an interval of numbers.
type Range struct {
	Low, High float64 // High may be +Inf
	// OpenLow and OpenHigh exclude the ends.
	OpenLow, OpenHigh bool
}

// Positive excludes 0 and has no upper end.
func Positive() *Range { return &Range{High: math.Inf(1), OpenLow: true} }

// NotNegative allows 0 as well.
func NotNegative() *Range { return AtLeast(0) }

// AtLeast has no upper end.
func AtLeast(low float64) *Range { return &Range{Low: low, High: math.Inf(1)} }

// Between excludes both ends.
func Between(low, high float64) *Range { return &Range{low, high, true, true} }

// Within includes both ends.
func Within(low, high float64) *Range { return &Range{Low: low, High: high} }

// Contains tells whether the range holds the finite number v.
func (r *Range) Contains(v float64) bool {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return false
	case r == nil:
		return true
	case v < r.Low || v == r.Low && r.OpenLow:
		return false
	}
	return v < r.High || v == r.High && !r.OpenHigh
}

// String says which numbers are allowed, to follow "must be".
func (r *Range) String() string {
	switch {
	case r == nil:
		return "finite"
	case math.IsInf(r.High, 1) && r.Low == 0 && r.OpenLow:
		return "positive"
	case math.IsInf(r.High, 1) && r.OpenLow:
		return fmt.Sprintf("greater than %g", r.Low)
	case math.IsInf(r.High, 1):
		return fmt.Sprintf("at least %g", r.Low)
	case r.Low == 0 && r.OpenLow && !r.OpenHigh:
		return fmt.Sprintf("positive and at most %g", r.High)
	case r.OpenLow && r.OpenHigh:
		return fmt.Sprintf("between %g and %g", r.Low, r.High)
	}

	return fmt.Sprintf("from %g to %g", r.Low, r.High)
}

// MarshalJSON writes the ends, null for none, and the text.
func (r Range) MarshalJSON() ([]byte, error) {
	high := any(r.High)
	if math.IsInf(r.High, 1) {
		high = nil
	}
	return json.Marshal(map[string]any{"low": r.Low, "high": high, "open_low": r.OpenLow,
		"open_high": r.OpenHigh, "text": r.String()})
}

// Condition holds where another parameter has one of some values.
type Condition struct {
	Param string `json:"param"`
	// In lists the values; empty means any number but 0.
	In []string `json:"in,omitempty"`
}

// Holds tells whether v, completed by the defaults of params, meets the
// condition; a nil condition always holds.
func (c *Condition) Holds(v Values, params []Param) bool {
	if c == nil {
		return true
	}
	value := c.value(v, params)
	if len(c.In) > 0 {
		return slices.Contains(c.In, value)
	}
	x, err := strconv.ParseFloat(value, 64)
	return err == nil && x != 0
}

// value returns the value of the other parameter, or its default.
func (c *Condition) value(v Values, params []Param) string {
	if value, ok := v[c.Param]; ok {
		return value
	}
	if i := slices.IndexFunc(params, func(p Param) bool { return p.Name == c.Param }); i >= 0 {
		return params[i].Default
	}
	return ""
}

// String completes "is for".
func (c *Condition) String() string {
	if len(c.In) == 0 {
		return "a positive " + c.Param
	}
	return c.Param + " " + enum.Or(c.In)
}

// Values are parameters by name, as text. Those that are missing have their
// defaults.
type Values map[string]string

// FormatFloat writes a number as short as it can be read back.
func FormatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// FormatFloats writes the value of a [List].
func FormatFloats(values []float64) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = FormatFloat(v)
	}
	return strings.Join(parts, ",")
}

// With returns a copy of v in which the values of other take precedence.
func (v Values) With(other Values) Values {
	out := maps.Clone(v)
	if out == nil {
		out = Values{}
	}
	maps.Copy(out, other)
	return out
}

// Float returns the number called name, or 0.
func (v Values) Float(name string) float64 {
	x, err := strconv.ParseFloat(v[name], 64)
	if err != nil {
		return 0
	}
	return x
}

// String lists the values in the order of their names.
func (v Values) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		parts = append(parts, name+" "+v[name])
	}
	return strings.Join(parts, ", ")
}

// MarshalJSON writes numbers and booleans as such and everything else as text.
func (v Values) MarshalJSON() ([]byte, error) {
	out := map[string]json.RawMessage{}
	// json.Valid alone would let pass "null" and texts in quotes.
	for name, text := range v {
		raw := json.RawMessage(text)
		if c := (text + " ")[0]; !(c == '-' || c >= '0' && c <= '9') && text != "true" && text != "false" ||
			!json.Valid(raw) {
			raw, _ = json.Marshal(text)
		}
		out[name] = raw
	}
	return json.Marshal(out)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (v *Values) UnmarshalJSON(text []byte) error {
	var raw map[string]json.RawMessage
	if err := archive.Unmarshal(text, &raw); err != nil {
		return err
	}
	*v = Values{}
	for name, r := range raw {
		var s string
		if json.Unmarshal(r, &s) != nil {
			s = string(r)
		}
		(*v)[name] = s
	}

	return nil
}

// Check returns an error unless text is a value of the parameter.
func (p *Param) Check(text string) error {
	fault := func(must string) error {
		if p.Why != "" {
			must += ": " + p.Why
		}
		return &ParamError{Name: p.Name, Value: text, Must: must}
	}
	switch p.Kind {
	case Bool:
		if _, err := strconv.ParseBool(text); err != nil {
			return fault("true or false")
		}
	case Choice:
		if !slices.Contains(p.Choices, text) {
			return fault(enum.Or(p.Choices))
		}
	case List:
		// Every element is checked as a number of its own.
		for part := range strings.SplitSeq(text, ",") {
			number := Param{Name: p.Name, Kind: Float, Range: p.Range, Why: p.Why}
			if at := strings.LastIndex(part, ":"); p.Named && at >= 0 {
				part = part[at+1:]
			}
			if err := number.CheckElement(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
	default:
		return p.checkNumber(text, fault)
	}

	return nil
}

// checkNumber returns a fault unless text is an allowed number, or one of the names that are
// allowed in its place.
func (p *Param) checkNumber(text string, fault func(must string) error) error {
	if slices.Contains(p.Choices, text) {
		return nil
	}
	must := p.Range.String()
	if len(p.Choices) > 0 {
		must += ", or " + enum.Or(p.Choices)
	}

	// Whole numbers may be written as 1e6, but not beyond the exact ones of float64.
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case p.Kind == Int && (err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53):
		return fault("a whole number, " + must)
	case err != nil:
		return fault("a number, " + must)
	case !p.Range.Contains(v):
		return fault(must)
	}

	return nil
}

// CheckElement is Check for one of several values.
func (p *Param) CheckElement(text string) error {
	err := p.Check(text)
	if value, ok := err.(*ParamError); ok {
		value.Element = true
	}
	return err
}

// Checker is a learner with parameters that depend on each other in ways that a [Condition]
// cannot say.
type Checker interface {
	Learner
	// Check returns all faults of v at once.
	Check(v Values) error
}

// CheckFor returns all faults of v as the parameters of a learner.
func CheckFor(l Learner, v Values) error {
	if c, ok := l.(Checker); ok {
		return c.Check(v)
	}
	return CheckValues(l.Params(), v)
}

// CheckValues returns all faults of v at once: names that params lack, values
// that are not allowed, required parameters that are missing, and parameters that
// do not matter with the others.
func CheckValues(params []Param, v Values) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(v)) {
		i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
		if i < 0 {
			faults = append(faults, UnknownParam(params, name))
			continue
		}

		// A flag that is false is as good as not given.
		p := &params[i]
		if err := p.Check(v[name]); err != nil {
			faults = append(faults, err)
		} else if off := p.Kind == Bool && p.Same(v[name], "false"); !off && p.Only != nil &&
			len(p.Only.In) > 0 && !p.Only.Holds(v, params) {
			faults = append(faults, &UnusedError{Name: p.Name, Only: p.Only, Is: p.Only.value(v, params)})
		}
	}

	for _, p := range params {
		if _, ok := v[p.Name]; !ok && p.Required {
			faults = append(faults, &MissingError{p})
		}
	}
	return errors.Join(faults...)
}

// Field ties a parameter to its place in settings of type S.
type Field[S any] struct {
	Param
	// At returns a pointer into the settings: *float64, *int, *bool, *string,
	// *[]float64, or a name that marshals as text.
	At func(*S) any
}

// Table lists the parameters of settings of type S.
type Table[S any] []Field[S]

// name is an enumeration.
type name interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// Params returns the parameters. A parameter without a kind gets the kind of its place.
func (t Table[S]) Params() []Param {
	out := make([]Param, len(t))
	var s S
	for i, f := range t {
		out[i] = f.Param
		if out[i].Kind != "" {
			continue
		}

		switch f.At(&s).(type) {
		case *float64:
			out[i].Kind = Float
		case *int:
			out[i].Kind = Int
		case *bool:
			out[i].Kind = Bool
		case *[]float64:
			out[i].Kind = List
		default:
			out[i].Kind = Choice
		}
	}

	return out
}

// Decode returns settings with the given values, or all faults that [CheckValues] finds.
// Places of missing values are zero.
func (t Table[S]) Decode(v Values) (S, error) {
	var s S
	if err := CheckValues(t.Params(), v); err != nil {
		return s, err
	}

	// CheckValues has accepted every text: an error here is a name that Choices lists and
	// its type does not know.
	for _, f := range t {
		text, ok := v[f.Name]
		if !ok {
			continue
		}
		var err error
		switch at := f.At(&s).(type) {
		case *float64:
			*at, err = strconv.ParseFloat(text, 64)
		case *int:
			var x float64
			x, err = strconv.ParseFloat(text, 64)
			*at = int(x)
		case *bool:
			*at, err = strconv.ParseBool(text)
		case *string:
			*at = text
		case *[]float64:
			for _, part := range strings.Split(text, ",") {
				var x float64
				if x, err = strconv.ParseFloat(strings.TrimSpace(part), 64); err == nil {
					*at = append(*at, x)
				}
			}
		case name:
			err = at.UnmarshalText([]byte(text))
		default:
			panic(fmt.Sprintf("models: parameter %s at a %T", f.Name, at))
		}

		if err != nil {
			// Numbers by class are put into the order of the classes before: see OrderShares.
			return s, &ParamError{Name: f.Name, Value: text, Must: "a value of its kind"}
		}
	}

	return s, nil
}

// Check returns all faults of settings at once, so that a range is written in the table alone.
// A place that is zero stands for the default and has no fault, unless the parameter is
// required. Check does not ask whether a value matters with the others: see [CheckValues].
func (t Table[S]) Check(s *S) error {
	var faults []error
	params := t.Params()
	for i, f := range t {
		at := f.At(s)
		if isZero(at) && !f.Required {
			continue
		}
		if err := params[i].Check(textOf(at)); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// isZero tells whether a place holds no value; an enumeration always has one.
func isZero(at any) bool {
	switch at := at.(type) {
	case *float64:
		return *at == 0
	case *int:
		return *at == 0
	case *bool:
		return !*at
	case *string:
		return *at == ""
	case *[]float64:
		return len(*at) == 0
	}
	return false
}

// textOf writes the value at the place of a parameter.
func textOf(at any) string {
	switch at := at.(type) {
	case *float64:
		return FormatFloat(*at)
	case *int:
		return strconv.Itoa(*at)
	case *bool:
		return strconv.FormatBool(*at)
	case *string:
		return *at
	case *[]float64:
		return FormatFloats(*at)
	case name:
		if text, err := at.MarshalText(); err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(at) // no value of its kind
}

// Encode returns the values of settings that are not zero and matter with the others. Decode
// reads them back.
func (t Table[S]) Encode(s *S) Values {
	all := Values{}
	zero := map[string]bool{}
	for _, f := range t {
		at := f.At(s)
		all[f.Name] = textOf(at)
		zero[f.Name] = isZero(at) && !f.Required
	}

	// A condition may ask for the zero value of another parameter, so it looks at all values.
	out := Values{}
	params := t.Params()
	for i := range params {
		p := &params[i]
		if !zero[p.Name] && p.Only.Holds(all, params) {
			out[p.Name] = all[p.Name]
		}
	}

	return out
}

// Part makes a table of settings S from a table t of the settings that S contains at a place.
func Part[S, T any](t Table[T], at func(*S) *T) Table[S] {
	out := make(Table[S], len(t))
	for i, f := range t {
		out[i] = Field[S]{Param: f.Param, At: func(s *S) any { return f.At(at(s)) }}
	}
	return out
}

// Change returns a copy of t in which fn has changed the parameter called name.
func (t Table[S]) Change(name string, fn func(*Param)) Table[S] {
	out := slices.Clone(t)
	i := slices.IndexFunc(out, func(f Field[S]) bool { return f.Name == name })
	fn(&out[i].Param)
	return out
}

// Without returns t without the named parameters.
func (t Table[S]) Without(names ...string) Table[S] {
	return slices.DeleteFunc(slices.Clone(t), func(f Field[S]) bool { return slices.Contains(names, f.Name) })
}

// Same tells whether two texts are the same value of the parameter.
func (p *Param) Same(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
