package shell

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// modelName is the value of a flag that names a learner.
type modelName struct{ name *string }

func (v modelName) Set(text string) error { *v.name = text; return nil }

func (v modelName) String() string {
	if v.name == nil {
		return ""
	}
	return *v.name
}

// Type stands for the value in help texts.
func (v modelName) Type() string { return "name" }

// ModelFlag adds --model, which names a learner; its default is the value that it has.
func ModelFlag(f *pflag.FlagSet, model *string, usage string) {
	f.Var(modelName{model}, "model", usage)
}

// ModelHelp makes the help of a command with [ModelFlag] show the flags of the given model
// only. Without a model it shows the flags that all models share.
func ModelHelp(cmd *cobra.Command, p ParamFlags) {
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		f := c.Flags().Lookup("model")
		p.showOnly(c.Flags(), all.Learner(f.Value.String()), f.Changed)
		return c.Parent().UsageFunc()(c)
	})
}

// showOnly hides the flags that are not of a learner or its graph, and all if the learner is
// nil or not given. The other flags are described as of the learner.
func (p ParamFlags) showOnly(f *pflag.FlagSet, l models.Learner, given bool) {
	for name := range p {
		f.Lookup(name).Hidden = l == nil || !given || !HasParam(l, pipeline.GraphParams.Params(), name)
	}
	if l == nil || !given {
		return
	}

	// The texts have the defaults of this model.
	info := l.Info()
	params := l.Params()
	for _, q := range slices.Concat(params, pipeline.GraphParamsOf(&info)) {
		if p[q.Name] != nil {
			f.Lookup(q.Name).Usage = UsageOf(&q)
		}
	}
}

// complete prepares the commands for completion of the command line args by a shell. It
// completes the names of models and values that are one of several names, and offers the
// parameters of one model: the given one, or the default.
func complete(root *cobra.Command, args []string) {
	// The usage strings of pflag have quoted value names, which shells would show with their
	// quotes.
	for _, c := range root.Commands() {
		params := ParamFlags{}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			_, f.Usage = pflag.UnquoteUsage(f)
			if v, ok := f.Value.(*paramValue); ok {
				params[f.Name] = v
				if len(v.Choices) > 0 {
					register(c, f, cobra.FixedCompletions(v.Choices, cobra.ShellCompDirectiveNoFileComp))
				}
			}
		})

		f := c.Flags().Lookup("model")
		if f == nil {
			continue
		}

		// --model of suspects is a plain name and has no flags that depend on it.
		if _, ok := f.Value.(modelName); ok {
			register(c, f, CompleteModels)
			params.showOnly(c.Flags(), all.Learner(modelIn(args, f.DefValue)), true)
		}
	}
}

// register sets how the value of a flag is completed.
func register(c *cobra.Command, f *pflag.Flag, fn cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(f.Name, fn); err != nil {
		panic(err) // the flag has a completion already
	}
}

// modelIn returns the model that a command line names.
func modelIn(args []string, byDefault string) string {
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "--model="); ok {
			return name
		}
		if arg == "--model" && i+2 < len(args) { // the last word is not complete
			return args[i+1]
		}
	}
	return byDefault
}

// CompleteModels lists the models whose names begin with the typed letters, for shells.
func CompleteModels(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, l := range all.Learners {
		if info := l.Info(); strings.HasPrefix(info.Name, typed) {
			out = append(out, cobra.CompletionWithDesc(info.Name, info.Help))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
