package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// describe prints the public names of the Python package with their docstrings, as JSON.
//
//go:embed describe.py
var describe string

// A module of the Python package.
type module struct {
	Name, Doc string
	Members   []member
}

// A member is a class or a function of a module.
type member struct {
	Name, Kind, Signature, Doc string
	Methods                    []member
}

// addPython adds a page for each module of the Python package. Without a Python that can import it the pages are left
// out, which a note on the console and on a page says.
func (s *site) addPython(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, s.python, "-B", "-c", describe, filepath.Join(s.root, "python", "src"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		why := strings.TrimSpace(stderr.String())
		if why == "" {
			why = err.Error()
		}
		why = why[strings.LastIndex(why, "\n")+1:]
		fmt.Fprintf(s.notes, "Python         left out: %s cannot import the package: %s\n", s.python, why)
		return s.addReference("Python", "modules", "# Modules\n\nThis copy of the documentation was made without NumPy, SciPy and "+
			"scikit-learn, which the package needs to tell of itself. `pydoc3 bigfit` shows its docstrings.\n")
	}

	var modules []module
	if err := json.Unmarshal(out, &modules); err != nil {
		return fmt.Errorf("docstrings: %w", err)
	}
	for i := range modules {
		m := &modules[i]
		if err := s.addReference("Python", m.short(), m.markdown()); err != nil {
			return err
		}
		for _, c := range m.Members {
			if err := s.addReference("Python", c.Name, c.markdown(m)); err != nil {
				return err
			}
		}
	}
	return nil
}

// short is the name without that of the package.
func (m *module) short() string { return m.Name[strings.LastIndex(m.Name, ".")+1:] }

// markdown is the page of a module.
func (m *module) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s", m.Name, docstring(m.Doc))
	b.WriteString("| | |\n|---|---|\n")
	for _, c := range m.Members {
		first, _, _ := strings.Cut(c.Doc, "\n")
		fmt.Fprintf(&b, "| [`%s`](site:reference/python/%s.html) | %s |\n", c.Name, c.Name, strings.ReplaceAll(inline(first), "|", "\\|"))
	}
	return b.String()
}

// markdown is the page of a class or function.
func (c *member) markdown(m *module) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", escaped(c.Name))
	b.WriteString("```python\nfrom " + m.importedFrom() + " import " + c.Name + "\n" + wrapSignature(c.Name, c.Signature) + "\n```\n\n" + docstring(c.Doc))
	for _, f := range c.Methods {
		fmt.Fprintf(&b, "## %s {#%s}\n\n", escaped(f.Name), f.Name)
		b.WriteString("```python\n" + wrapSignature(f.Name, f.Signature) + "\n```\n\n" + docstring(f.Doc))
	}
	return b.String()
}

// importedFrom is where users import the names of the module from. The package itself has all but these two.
func (m *module) importedFrom() string {
	if short := m.short(); short == "graph" || short == "datasets" {
		return m.Name
	}
	return "bigfit"
}

// mostColumns is how many letters of code stand beside each other in a page.
const mostColumns = 76

// wrapSignature is a call with its parameters, on several lines where it is long.
func wrapSignature(name, signature string) string {
	if len(name)+len(signature) <= mostColumns {
		return name + signature
	}
	inside := strings.TrimSuffix(strings.TrimPrefix(signature, "("), ")")
	var b strings.Builder
	b.WriteString(name + "(")
	column := 1000
	for _, p := range strings.SplitAfter(inside, ", ") {
		if column+len(p) > mostColumns {
			b.WriteString("\n    ")
			column = 4
		}
		b.WriteString(p)
		column += len(p)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n") + ")"
}

var (
	underline = regexp.MustCompile(`^-{3,}$`)
	role      = regexp.MustCompile(":[a-z]+:`~?([^`]+)`")
	literal   = regexp.MustCompile("``([^`]+)``")
	entry     = regexp.MustCompile(`^(\*{0,2}[\w., *\\]+?)(?: : (.*))?$`)
)

// docstring is a docstring of numpydoc as Markdown: sections with underlined titles, in which entries begin at the
// margin and their texts are set in.
func docstring(doc string) string {
	var b strings.Builder
	lines := strings.Split(doc, "\n")
	inSection, set := false, false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if i+1 < len(lines) && underline.MatchString(strings.TrimSpace(lines[i+1])) && strings.TrimSpace(line) != "" {
			fmt.Fprintf(&b, "\n**%s**\n\n", line)
			inSection = true
			i++
			continue
		}

		trimmed := strings.TrimSpace(line)
		indented := strings.HasPrefix(line, " ")
		m := entry.FindStringSubmatch(line)
		switch {
		case trimmed == "":
			b.WriteString("\n")
			set = false
		case inSection && !indented && m != nil:
			kind := ""
			if m[2] != "" {
				kind = " : " + inline(m[2])
			}
			fmt.Fprintf(&b, "\n- %s%s  \n", code(m[1]), kind)
		case inSection:
			b.WriteString("  " + inline(trimmed) + "\n")
		case strings.HasPrefix(trimmed, ">>>") || set:
			if !set {
				b.WriteString("\n")
			}
			set = true
			b.WriteString("    " + line + "\n")
		default:
			b.WriteString(inline(trimmed) + "\n")
		}
	}
	return strings.TrimSpace(b.String()) + "\n\n"
}

// inline is a line of reStructuredText as Markdown.
func inline(line string) string {
	line = role.ReplaceAllString(line, "`$1`")
	line = literal.ReplaceAllString(line, "`$1`")
	parts := strings.Split(line, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = escaped(parts[i])
	}
	return strings.Join(parts, "`")
}
