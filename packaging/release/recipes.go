package main

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// recipes are the files for package managers, in the folder packaging of a release, and the templates
// that they are made from.
var recipes = []struct{ name, template string }{
	{"packaging/homebrew/bigfit.rb", "bigfit.rb.tmpl"},
	{"packaging/conda/meta.yaml", "meta.yaml.tmpl"},
	{"packaging/docker/Dockerfile", "Dockerfile.tmpl"},
}

// recipe is what the templates get.
type recipe struct {
	Name, Version, Description, Homepage, License string
	Archives                                      map[string]download // by os-arch
}

// download is an archive of the release on the web.
type download struct{ Name, URL, SHA256 string }

// writeRecipes writes the recipes, with the sums of the archives that were written.
func (p *project) writeRecipes(w *writer) error {
	r := recipe{p.Name, p.Version, p.Description, p.URLs["Homepage"], p.License.Text, map[string]download{}}
	for i := range targets {
		t := &targets[i]
		platform := t.os + "-" + t.arch
		for _, s := range w.sums {
			if strings.HasPrefix(s.Name, p.base()+"-"+platform+".") && !strings.HasSuffix(s.Name, ".json") {
				r.Archives[platform] = download{s.Name, p.download(s.Name), s.SHA256}
			}
		}
		if r.Archives[platform].Name == "" {
			return fmt.Errorf("there is no archive for %v, which recipes name", t)
		}
	}

	all, err := template.New("").Option("missingkey=error").ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return err
	}
	for _, recipe := range recipes {
		var b bytes.Buffer
		if err := all.ExecuteTemplate(&b, recipe.template, r); err != nil {
			return err
		}
		if err := w.write(recipe.name, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
