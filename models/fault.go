package models

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/suggest"
	"github.com/bigfit/bigfit/param"
)

// Fault is an error about values of parameters. Its text names them as [param.Name] does.
type Fault interface {
	error
	fault()
}

func (*ParamError) fault()   {}
func (*UnusedError) fault()  {}
func (*MissingError) fault() {}
func (*UnknownError) fault() {}
func (textFault) fault()     {}

// Faults returns the parts of a joined error, none for nil.
func Faults(err error) []error {
	if err == nil {
		return nil
	}
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range several.Unwrap() {
		out = append(out, Faults(e)...)
	}
	return out
}

// ParamError is a value that a parameter cannot have.
type ParamError struct {
	Name, Value string
	// Must says what the value has to be, as "positive".
	Must string
	// Element tells that Value is one of several.
	Element bool
}

// Error names the parameter, the value and what it must be.
func (e *ParamError) Error() string {
	// Numbers stand as they are; anything else is quoted, so that a stray blank shows.
	value := strconv.Quote(e.Value)
	if _, err := strconv.ParseFloat(e.Value, 64); err == nil {
		value = e.Value
	}
	if e.Element {
		return fmt.Sprintf("%s has the value %s; each must be %s", param.Name(e.Name), value, e.Must)
	}
	return fmt.Sprintf("%s is %s; it must be %s", param.Name(e.Name), value, e.Must)
}

// UnusedError is a parameter that does not matter with the others.
type UnusedError struct {
	Name string
	// Value, if not empty, is the only value of the parameter that does not matter.
	Value string
	Only  *Condition
	// Is the value of Only.Param.
	Is string
}

// Error names the parameter, the condition under which it matters, and the value that is
// given instead.
func (e *UnusedError) Error() string {
	what := param.Name(e.Name).String()
	if e.Value != "" {
		what += " " + e.Value
	}
	return fmt.Sprintf("%s is for %s %s, not %s", what, param.Name(e.Only.Param), enum.Or(e.Only.In), e.Is)
}

// UnknownError is a value for a parameter that does not exist.
type UnknownError struct {
	Name  string
	Known []string // the names of all parameters
}

// UnknownParam returns the error for a name that no parameter has.
func UnknownParam(params []Param, name string) error {
	known := make([]string, len(params))
	for i, p := range params {
		known[i] = p.Name
	}
	return &UnknownError{name, known}
}

// Error names the parameter, and the one that may have been meant.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown parameter %q%s", e.Name, suggest.DidYouMean(e.Name, e.Known))
}

// MissingError is a required parameter that is not given.
type MissingError struct{ Param Param }

// Error names the parameter.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is missing, the %s", param.Name(e.Param.Name), e.Param.Doc)
}

// Faultf returns a [Fault] in free words.
func Faultf(format string, args ...any) error { return textFault{fmt.Errorf(format, args...)} }

type textFault struct{ error }

func (e textFault) Unwrap() error { return errors.Unwrap(e.error) }
