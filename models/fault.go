package models

import (
	"fmt"
	"strconv"

	"github.com/bigfit/bigfit/internal/suggest"
)

// Fault is an error about parameters, whose names depend on where they are given:
// flags have dashes before them, environment variables are in capitals.
type Fault interface {
	error
	// Words is the text of the error with the names that show gives parameters.
	Words(show func(name string) string) string
}

func plain(name string) string { return name }

// Faults returns the parts of a joined error; none of nil.
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
func (e *ParamError) Error() string { return e.Words(plain) }

// Words implements [Fault].
func (e *ParamError) Words(show func(string) string) string {
	value := strconv.Quote(e.Value)
	if _, err := strconv.ParseFloat(e.Value, 64); err == nil {
		value = e.Value
	}
	if e.Element {
		return fmt.Sprintf("%s has the value %s; each must be %s", show(e.Name), value, e.Must)
	}
	return fmt.Sprintf("%s is %s; it must be %s", show(e.Name), value, e.Must)
}

// UnusedError is a parameter that does not matter with the others.
type UnusedError struct {
	Name string
	Only *Condition
	// Is the value of Only.Param.
	Is string
}

// Error names the parameter, where it would matter and what is there instead.
func (e *UnusedError) Error() string { return e.Words(plain) }

// Words implements [Fault].
func (e *UnusedError) Words(show func(string) string) string {
	return fmt.Sprintf("%s is for %s %s, not %s", show(e.Name), show(e.Only.Param), OneOf(e.Only.In), e.Is)
}

// UnknownError is a value for a parameter that there is none of.
type UnknownError struct {
	Name  string
	Known []string // the names that there are
}

// UnknownParam returns the error of a name that no parameter has.
func UnknownParam(params []Param, name string) error {
	known := make([]string, len(params))
	for i, p := range params {
		known[i] = p.Name
	}
	return &UnknownError{name, known}
}

// Error names the parameter, and the one that may have been meant.
func (e *UnknownError) Error() string { return e.Words(plain) }

// Words implements [Fault].
func (e *UnknownError) Words(func(string) string) string {
	return fmt.Sprintf("unknown parameter %q%s", e.Name, suggest.DidYouMean("", e.Name, e.Known))
}

// MissingError is a required parameter that is not given.
type MissingError struct{ Param Param }

// Error names the parameter.
func (e *MissingError) Error() string { return e.Words(plain) }

// Words implements [Fault].
func (e *MissingError) Words(show func(string) string) string {
	return fmt.Sprintf("%s is missing, the %s", show(e.Param.Name), e.Param.Doc)
}

// ParamName is an argument of [Faultf] that names a parameter.
type ParamName string

// Faultf returns a [Fault] in free words.
func Faultf(format string, args ...any) error { return &textFault{format, args} }

type textFault struct {
	format string
	args   []any
}

func (e *textFault) Error() string { return e.Words(plain) }

func (e *textFault) Words(show func(string) string) string {
	args := make([]any, len(e.args))
	for i, a := range e.args {
		if name, ok := a.(ParamName); ok {
			a = show(string(name))
		}
		args[i] = a
	}
	return fmt.Sprintf(e.format, args...)
}
