package bigfit

import (
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// Usable tells whether err comes with a result that falls short of what was asked, as an
// iteration that did not converge or a search that missed its recall; nil is usable.
func Usable(err error) bool { return models.Usable(err) }

// plainError is an error of the packages below, which mark the names of parameters in its text,
// without the marks.
type plainError struct{ err error }

func (e plainError) Error() string { return named(e.err.Error()) }

func (e plainError) Unwrap() error { return e.err }

// named writes the names of parameters in text as keys of [Parameters], and --calibrate and --ids of the command as
// their counterparts here.
func named(text string) string {
	return param.Show(text, func(name string) string {
		switch name {
		case "calibrate":
			return "Folds"
		case "ids":
			return "Points.WithIDs"
		}
		return name
	})
}

// plain leaves the marks out of the text of *err, if there is one; it is for defer.
func plain(err *error) {
	if *err != nil {
		*err = plainError{*err}
	}
}
