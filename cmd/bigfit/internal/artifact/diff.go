package artifact

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/archive"
)

// Difference lists the differences of two files. Equal parts are left out.
type Difference struct {
	A string `json:"a"`
	B string `json:"b"`
	// Kind names the kind of both files.
	Kind string `json:"kind"`
	// Equal tells that nothing differs except the versions, the dates and the names of inputs
	// with equal hashes, which do not count.
	Equal bool `json:"equal"`

	Origin   []Change `json:"origin,omitempty"` // version and date; does not count
	Settings []Change `json:"settings,omitempty"`
	Results  []Change `json:"results,omitempty"` // of the computation, as the manifests have them
	Inputs   []Change `json:"inputs,omitempty"`  // hashes
	Names    []Change `json:"names,omitempty"`   // of inputs; does not count
	Classes  []Change `json:"classes,omitempty"`
	Arrays   []Change `json:"arrays,omitempty"`

	Answers *Answers `json:"answers,omitempty"`
	Graph   *Graph   `json:"graph,omitempty"`
	Eigs    *Eigs    `json:"eigenpairs,omitempty"`
}

// Change holds two values of one thing; a value is empty if that file does not have the thing.
type Change struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Compare compares two models, graphs, files of eigenpairs, or files of answers in any
// formats. Files of different kinds are an error. A positive limit bounds the memory in
// bytes that one of them may take.
func Compare(a, b string, limit int64) (*Difference, error) {
	var infos [2]*Info
	for i, path := range []string{a, b} {
		var err error
		if infos[i], err = Inspect(path, limit); err != nil {
			return nil, err
		}
		// A folder can be compared only if it is a graph.
		if infos[i].Kind != archive.Graph && (infos[i].Files != nil || infos[i].Format == "json" ||
			infos[i].Kind == "folder") {
			return nil, fmt.Errorf("%s: it is a %s; models, graphs, eigenpairs and answers are compared",
				path, infos[i].Format)
		}
	}

	kinds := [2]string{infos[0].kind(), infos[1].kind()}
	if kinds[0] != kinds[1] {
		return nil, fmt.Errorf("%s is a file of %s, %s one of %s; only files of one kind are compared", a,
			kinds[0], b, kinds[1])
	}
	// Manifests are cheap to compare; the contents follow by kind.
	d := &Difference{A: a, B: b, Kind: kinds[0]}
	if err := d.manifests(infos[0], infos[1]); err != nil {
		return nil, err
	}
	var err error
	switch d.Kind {
	case "model":
		err = d.models(limit)
	case "graph":
		err = d.graphs(limit)
	case "eigenpairs":
		err = d.eigenpairs(limit)
	case "factor": // the settings have the hash of its numbers
	default:
		err = d.answers(infos, limit)
	}

	d.Equal = d.Settings == nil && d.Results == nil && d.Inputs == nil && d.Classes == nil &&
		d.Arrays == nil &&
		(d.Answers == nil || d.Answers.equal()) && (d.Graph == nil || d.Graph.equal()) &&
		(d.Eigs == nil || d.Eigs.equal())
	return d, err
}

// kind returns the kind of artifact that a file is, for a comparison.
func (i *Info) kind() string {
	has := func(name string) bool { return i.Array(name, "") != nil && i.Array(name, "").Name == name }
	// Eigenpairs of another program have no manifest; two arrays tell them.
	switch {
	case i.Kind == archive.Model:
		return "model"
	case i.Kind == archive.Graph || i.Extents != nil:
		return "graph"
	case i.Kind == archive.Eigs || has("values") && has("vectors"):
		return "eigenpairs"
	case i.Kind == archive.Factor:
		return "factor"
	}
	return "answers"
}

// says reports whether a file says how it was made: those of other programs, and graphs of edges, do not.
func (i *Info) says() bool { return i.Kind != "" && len(i.Manifest) > 0 }

// manifests compares settings and inputs.
func (d *Difference) manifests(a, b *Info) error {
	var m [2]archive.Manifest
	var settings [2]map[string]string
	for i, info := range []*Info{a, b} {
		settings[i] = map[string]string{}
		if !info.says() {
			continue
		}
		if err := archive.Unmarshal(info.Manifest, &m[i]); err != nil {
			return fmt.Errorf("%s: the manifest: %w", info.Path, err)
		}
		// Settings are flattened to paths like fit.gamma-a, so that any kind of file is compared
		// alike.
		var v any
		if len(m[i].Settings) > 0 {
			if err := json.Unmarshal(m[i].Settings, &v); err != nil {
				return fmt.Errorf("%s: the settings in the manifest: %w", info.Path, err)
			}
		}
		flatten("", v, settings[i])
	}

	if !a.says() || !b.says() {
		return nil
	}
	d.Origin = changes(map[string]string{"version": m[0].Program, "date": m[0].Date},
		map[string]string{"version": m[1].Program, "date": m[1].Date})
	for _, c := range changes(settings[0], settings[1]) {
		switch {
		case strings.HasPrefix(c.What, "arrays."): // compared as arrays
		// follow from the settings
		case strings.HasPrefix(c.What, "neighborhood."), c.What == "fit.neighborhood.lists":
		// as classes
		case strings.HasPrefix(c.What, "output.classes"), strings.HasPrefix(c.What, "output.names"):
		case strings.HasPrefix(c.What, "certificate."), strings.HasPrefix(c.What, "fit.") &&
			!strings.HasPrefix(c.What, "fit.neighborhood."):
			d.Results = append(d.Results, c)
		default:
			d.Settings = append(d.Settings, c)
		}
	}

	d.Inputs = changes(m[0].Hashes, m[1].Hashes)
	d.Names = changes(m[0].Files, m[1].Files)
	return nil
}

// flatten writes the leaves of a JSON value into out, named by their way.
func flatten(way string, v any, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			flatten(strings.TrimPrefix(way+"."+k, "."), x, out)
		}
	case nil:
	default:
		text, _ := json.Marshal(v) // it was JSON
		out[way] = strings.Trim(string(text), `"`)
	}
}

// changes lists what differs between two maps, in order.
func changes(a, b map[string]string) []Change {
	// The union of the keys: a key that one side lacks has the empty value there.
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	var out []Change
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if a[k] != b[k] {
			out = append(out, Change{k, a[k], b[k]})
		}
	}
	return out
}

// classChanges compares lists of classes.
func classChanges(a, b any) []Change {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []Change{{"classes", fmt.Sprint(a), fmt.Sprint(b)}}
}

// String is the difference for people.
func (d *Difference) String() string {
	var b strings.Builder
	if d.Equal {
		fmt.Fprintf(&b, "%s and %s: equal (%s)\n", d.A, d.B, d.Kind)
	} else {
		fmt.Fprintf(&b, "%s and %s differ (%s)\n", d.A, d.B, d.Kind)
	}

	// The order goes from how the files were made to what they hold.
	for _, part := range []struct {
		name    string
		changes []Change
	}{{"made by", d.Origin}, {"setting", d.Settings}, {"result", d.Results}, {"input", d.Inputs},
		{"name of input", d.Names}, {"", d.Classes}, {"array", d.Arrays}} {
		for _, c := range part.changes {
			fmt.Fprintf(&b, "  %s: %s | %s\n", strings.TrimSpace(part.name+" "+c.What), short(c.A),
				short(c.B))
		}
	}

	if d.Answers != nil {
		b.WriteString(d.Answers.String())
	}
	if d.Graph != nil {
		b.WriteString(d.Graph.String())
	}
	if d.Eigs != nil {
		b.WriteString(d.Eigs.String())
	}
	return b.String()
}

// short cuts a long value, such as a hash, to 60 runes.
func short(s string) string {
	if s == "" {
		return "–"
	}
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
