package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// gallery is the page of pictures. Its commands are run, and "made:" stands before the files that they write.
//
//go:embed gallery.md
var gallery string

var (
	shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	madeImage  = regexp.MustCompile(`!\[([^\]]*)\]\(made:([^)#]+)(?:#(\d+))?\)`)
	madeLink   = regexp.MustCompile(`\]\(made:([^)#]+)\)`)
	figure     = regexp.MustCompile(`(?s)<figure.*?</figure>`)
)

// addGallery runs the commands of the gallery and adds its page.
func (s *site) addGallery(ctx context.Context) error {
	dir := filepath.Join(s.work, "gallery")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	// The program is called by its name, whatever its file is called.
	bin := filepath.Join(s.work, "path")
	if err := os.MkdirAll(bin, 0o777); err != nil {
		return err
	}
	if err := os.Symlink(s.program, filepath.Join(bin, "bigfit")); err != nil {
		return err
	}
	for _, m := range shellBlock.FindAllStringSubmatch(gallery, -1) {
		cmd := exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail", "-c", m[1])
		cmd.Dir = dir
		cmd.Env = append(plainEnvironment(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s\n%w\n%s", m[1], err, out)
		}
	}

	// Pictures and reports take the place of their names.
	var faults []error
	text := madeImage.ReplaceAllStringFunc(gallery, func(found string) string {
		m := madeImage.FindStringSubmatch(found)
		out, err := shownPicture(dir, m[1], m[2], m[3])
		faults = append(faults, err)
		return out
	})
	for _, m := range madeLink.FindAllStringSubmatch(gallery, -1) {
		_, err := os.Stat(filepath.Join(dir, m[1]))
		faults = append(faults, err)
	}
	text = madeLink.ReplaceAllString(text, "](site:gallery/$1)")
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return s.add(&page{path: "gallery.html", section: sectionStart, text: text})
}

// shownPicture returns what stands in the page for a picture: an image, or a figure of a report by its number.
func shownPicture(dir, caption, file, number string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return "", err
	}
	if number == "" {
		return fmt.Sprintf("<figure><img src=\"gallery/%s\" alt=\"%s\" loading=\"lazy\"><figcaption><p>%s</p></figcaption></figure>\n",
			file, html.EscapeString(caption), html.EscapeString(caption)), nil
	}
	figures := figure.FindAllString(string(content), -1)
	k, err := strconv.Atoi(number)
	if err != nil || k < 1 || k > len(figures) {
		return "", fmt.Errorf("gallery.md asks for figure %s of %s, which has %d", number, file, len(figures))
	}
	// An empty line would end the HTML.
	return strings.ReplaceAll(figures[k-1], "\n\n", "\n") + "\n", nil
}

// galleryFiles are the files of the gallery that pages show or link to.
func galleryFiles() (out []string) {
	for _, m := range madeImage.FindAllStringSubmatch(gallery, -1) {
		if m[3] == "" {
			out = append(out, m[2])
		}
	}
	for _, m := range madeLink.FindAllStringSubmatch(madeImage.ReplaceAllString(gallery, ""), -1) {
		out = append(out, m[1])
	}
	return out
}

// writeGallery copies the files of the gallery into the folder of the site.
func (s *site) writeGallery(dir string) error {
	for _, file := range galleryFiles() {
		if err := copyFile(filepath.Join(s.work, "gallery", file), filepath.Join(dir, "gallery", path.Clean(file))); err != nil {
			return err
		}
	}
	return nil
}
