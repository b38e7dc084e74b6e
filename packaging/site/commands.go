package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// A command is one of bigfit's commands or topics of help, as its help tells of it.
type command struct{ name, short string }

// listed matches a line of the lists of commands and topics.
var listed = regexp.MustCompile(`^  (?:bigfit )?([a-z][a-z-]*) +(\S.*)$`)

// A helpWriter writes help texts as Markdown. It knows the pages that a text may name.
type helpWriter struct{ known map[string]bool }

// named matches flags and commands in a text.
var named = regexp.MustCompile(`--[a-z][a-z0-9-]*[a-z0-9]|bigfit (?:help )?([a-z][a-z-]*)`)

// text is a line of a help with its flags and commands as code, and commands as links to their pages.
func (h *helpWriter) text(line string) string {
	var b strings.Builder
	last := 0
	for _, m := range named.FindAllStringSubmatchIndex(line, -1) {
		b.WriteString(escaped(line[last:m[0]]))
		last = m[1]
		found := line[m[0]:m[1]]
		switch {
		case m[2] < 0:
			b.WriteString(code(found))
		case h.known[line[m[2]:m[3]]]:
			fmt.Fprintf(&b, "[%s](site:reference/commands/%s.html)", code(found), line[m[2]:m[3]])
		default:
			b.WriteString(escaped(found))
		}
	}
	b.WriteString(escaped(line[last:]))
	return b.String()
}

// addCommands adds a page for each command and topic, and the list of them.
func (s *site) addCommands(ctx context.Context) error {
	text, err := s.run(ctx, "--help")
	if err != nil {
		return err
	}
	help := splitHelp(string(text))
	commands, topics := help.list("Available Commands:"), help.list("Additional help topics:")
	if len(commands) < 10 || len(topics) == 0 {
		return fmt.Errorf("bigfit --help lists %d commands and %d topics", len(commands), len(topics))
	}

	w := &helpWriter{known: map[string]bool{}}
	for _, c := range append(commands, topics...) {
		w.known[c.name] = true
	}
	var index strings.Builder
	index.WriteString("# Commands\n\nMade from the help of the program. `bigfit COMMAND --help` prints the same.\n\n")
	put := func(title, call string, list []command) {
		fmt.Fprintf(&index, "## %s\n\n| | |\n|---|---|\n", title)
		for _, c := range list {
			fmt.Fprintf(&index, "| [`%s%s`](site:reference/commands/%s.html) | %s |\n", call, c.name, c.name, escaped(c.short))
		}
		index.WriteString("\n")
	}
	put("Commands", "bigfit ", commands)
	put("Topics of help", "bigfit help ", topics)
	index.WriteString("## bigfit\n\n" + w.markdown(help))
	if err := s.addReference("Commands", "index", index.String()); err != nil {
		return err
	}

	for _, c := range commands {
		if err := s.addHelp(ctx, w, c.name, "bigfit "+c.name, c.name, "--help"); err != nil {
			return err
		}
	}
	for _, c := range topics {
		if err := s.addHelp(ctx, w, c.name, "bigfit help "+c.name, "help", c.name); err != nil {
			return err
		}
	}
	return nil
}

// addReference adds a page of a group of the reference.
func (s *site) addReference(group, name, text string) error {
	return s.add(&page{path: "reference/" + strings.ToLower(strings.ReplaceAll(group, " ", "-")) + "/" + name + ".html",
		section: sectionRef, group: group, text: text})
}

// addHelp adds the page of a command or topic: what bigfit prints with the arguments.
func (s *site) addHelp(ctx context.Context, w *helpWriter, name, title string, args ...string) error {
	text, err := s.run(ctx, args...)
	if err != nil {
		return err
	}
	return s.addReference("Commands", name, fmt.Sprintf("# %s\n\n%s", title, w.markdown(splitHelp(string(text)))))
}

// A help is what a command prints of itself: a text, and parts below a title.
type help struct {
	text  []string
	parts []helpPart
}

type helpPart struct {
	title string
	lines []string
}

// partTitles are the titles that cobra writes.
var partTitles = []string{"Usage:", "Aliases:", "Examples:", "Available Commands:", "Flags:", "Global Flags:", "Additional help topics:"}

// splitHelp cuts a help at the titles of its parts.
func splitHelp(text string) *help {
	h := &help{}
	into := &h.text
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		for _, title := range partTitles {
			if line == title {
				h.parts = append(h.parts, helpPart{title: title})
			}
		}
		if n := len(h.parts); n > 0 {
			into = &h.parts[n-1].lines
		}
		if strings.HasPrefix(line, `Use "bigfit`) {
			continue
		}
		*into = append(*into, line)
	}
	return h
}

// list returns the commands of a part.
func (h *help) list(title string) (out []command) {
	for _, p := range h.parts {
		if p.title != title {
			continue
		}
		for _, line := range p.lines {
			if m := listed.FindStringSubmatch(line); m != nil {
				out = append(out, command{m[1], m[2]})
			}
		}
	}
	return out
}

// markdown is a help as a page has it.
func (w *helpWriter) markdown(h *help) string {
	var b strings.Builder
	b.WriteString(w.prose(h.text))
	for _, p := range h.parts {
		switch p.title {
		case "Usage:":
			b.WriteString("## Usage\n\n" + block("", p.lines[1:]))
		case "Flags:":
			b.WriteString("## Flags\n\n" + w.flags(p.lines[1:]))
		case "Global Flags:":
			b.WriteString("## Flags of all commands\n\n" + w.flags(p.lines[1:]))
		}
	}
	return b.String()
}

// prose is the text of a help: lines that begin with spaces stay as they are.
func (w *helpWriter) prose(lines []string) string {
	var b strings.Builder
	for len(lines) > 0 {
		k := 0
		set := strings.HasPrefix(lines[0], "  ")
		for k < len(lines) && (strings.HasPrefix(lines[k], "  ") == set || set && lines[k] == "" && k+1 < len(lines) && strings.HasPrefix(lines[k+1], "  ")) {
			k++
		}
		if set {
			b.WriteString(block("", lines[:k]))
		} else {
			for _, line := range lines[:k] {
				b.WriteString(w.text(line) + "\n")
			}
			b.WriteString("\n")
		}
		lines = lines[k:]
	}
	return b.String()
}

// block is lines as fenced code, without the space that all have in front.
func block(kind string, lines []string) string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	indent := -1
	for _, line := range lines {
		if space := len(line) - len(strings.TrimLeft(line, " ")); line != "" && (indent < 0 || space < indent) {
			indent = space
		}
	}
	var b strings.Builder
	b.WriteString("```" + kind + "\n")
	for _, line := range lines {
		b.WriteString(strings.TrimRight(line[min(max(indent, 0), len(line)):], " \n") + "\n")
	}
	b.WriteString("```\n\n")
	return b.String()
}

// flagLine matches the first line of a flag: short and long name, kind, meaning.
var flagLine = regexp.MustCompile(`^  (?:(-\w), |    )(--[\w-]+)(?: (\S+))?  +(\S.*)$`)

// flags is the list of flags as a table.
func (w *helpWriter) flags(lines []string) string {
	var rows [][3]string
	for _, line := range lines {
		if m := flagLine.FindStringSubmatch(line); m != nil {
			name := code(m[2])
			if m[1] != "" {
				name = code(m[1]) + ", " + name
			}
			rows = append(rows, [3]string{name, m[3], m[4]})
		} else if strings.TrimSpace(line) != "" && len(rows) > 0 {
			rows[len(rows)-1][2] += " " + strings.TrimSpace(line)
		}
	}
	var b strings.Builder
	b.WriteString("| flag | value | meaning |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r[0], escaped(r[1]), w.text(r[2]))
	}
	return b.String() + "\n"
}
