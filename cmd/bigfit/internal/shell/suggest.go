package shell

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/internal/suggest"
	"github.com/bigfit/bigfit/models/all"
)

// formerFlag is the beginning of the annotation of a command that says what to write in
// place of a flag that it does not have.
const formerFlag = "former flag "

// Former says what to write in place of a flag that a command does not have.
func Former(cmd *cobra.Command, flag, instead string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[formerFlag+flag] = instead
}

// flagError says which flags may have been meant by one that a command does not have.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	// A flag of an earlier release has a sentence of its own about its replacement.
	name := unknown.GetSpecifiedName()
	group := unknown.GetSpecifiedShortnames()
	if instead := cmd.Annotations[formerFlag+name]; instead != "" {
		return errors.New(instead)
	}
	if group != "" { // -k, or a long name with one dash
		if f := cmd.Flags().Lookup(group); f != nil && len(group) > 1 {
			return fmt.Errorf("%w; did you mean --%s?", err, group)
		}
		return fmt.Errorf("%w%s", err, ownersOf(cmd,
			func(f *pflag.FlagSet) bool { return f.ShorthandLookup(name) != nil }))
	}

	// --k for -k.
	if cmd.Flags().ShorthandLookup(name[:1]) != nil && len(name) == 1 {
		return fmt.Errorf("%w; did you mean -%s?", err, name)
	}
	if near := suggest.Prefixed("--", name, flagNames(cmd)); near != "" {
		return fmt.Errorf("%w%s", err, near)
	}
	return fmt.Errorf("%w%s", err, ownersOf(cmd,
		func(f *pflag.FlagSet) bool { return f.Lookup(name) != nil }))
}

// flagNames lists the flags of a command.
func flagNames(cmd *cobra.Command) []string {
	var out []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { out = append(out, f.Name) })
	return out
}

// ownersOf is the end of an error about a flag that only some other commands have.
func ownersOf(cmd *cobra.Command, has func(*pflag.FlagSet) bool) string {
	var owners []string
	for _, c := range cmd.Root().Commands() {
		if has(c.Flags()) {
			owners = append(owners, c.Name())
		}
	}
	if len(owners) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s has none, but %s", cmd.Name(), strings.Join(owners, ", "))
}

// CommandNames lists the commands and topics of help.
func CommandNames(root *cobra.Command) []string {
	var out []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			out = append(out, c.Name())
		}
	}
	return out
}

// ModelNames lists the learners.
func ModelNames() []string { return all.Names() }

// formerCommands says what to do in place of a command that bigfit does not have any more.
var formerCommands = map[string]string{
	"reproduce": "the papers' experiments are run by go run ./bench/reproduce in a checkout of the source",
}

// unknownCommand words the error of a first word that is no command.
func unknownCommand(root *cobra.Command, name string) error {
	if all.Learner(name) != nil {
		return fmt.Errorf("%s is a model, not a command; write bigfit fit --model %s, and see bigfit help %s",
			name, name, name)
	}
	if instead := formerCommands[name]; instead != "" {
		return fmt.Errorf("%s is not a command of bigfit; %s", name, instead)
	}
	return fmt.Errorf("unknown command %q%s", name, suggest.DidYouMean(name, CommandNames(root)))
}
