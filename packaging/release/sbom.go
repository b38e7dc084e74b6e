package main

import (
	"encoding/json"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// Types of an SPDX 2.3 document, as far as it is written here.
type (
	spdx struct {
		Version       string             `json:"spdxVersion"`
		DataLicense   string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID        string         `json:"SPDXID"`
		Name      string         `json:"name"`
		Version   string         `json:"versionInfo"`
		Location  string         `json:"downloadLocation"`
		Analyzed  bool           `json:"filesAnalyzed"`
		Concluded string         `json:"licenseConcluded"`
		Declared  string         `json:"licenseDeclared"`
		Copyright string         `json:"copyrightText"`
		Comment   string         `json:"comment,omitempty"`
		Checksums []spdxChecksum `json:"checksums,omitempty"`
		Refs      []spdxRef      `json:"externalRefs"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Kind string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

// unknown is what SPDX calls a field that nobody looked into. The texts of the licences are in
// NOTICES.txt.
const unknown = "NOASSERTION"

// sbom lists what is in the program: the modules of its build information, and Go.
func (b *built) sbom() (name string, data []byte, err error) {
	base := b.base() + "-" + b.target.os + "-" + b.target.arch
	sum := digest(b.program)
	doc := spdx{Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: base,
		Namespace: b.download(base + "-" + sum),
		Creation:  spdxCreation{b.time.Format(time.RFC3339), []string{"Tool: bigfit-release-" + b.Version}}}

	main := describe(&debug.Module{Path: b.info.Main.Path, Version: "v" + b.Version})
	main.Declared = b.License.Text
	main.Comment = "commit " + b.commit + ", " + b.target.String()
	main.Checksums = []spdxChecksum{{"SHA256", sum}}
	doc.Packages = append(doc.Packages, main)
	doc.Relationships = append(doc.Relationships, spdxRelationship{doc.ID, "DESCRIBES", main.ID})

	modules := append([]*debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(b.info.GoVersion, "go")}}, b.info.Deps...)
	for _, m := range modules {
		if m.Replace != nil {
			m = m.Replace
		}
		p := describe(m)
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, spdxRelationship{main.ID, "DEPENDS_ON", p.ID})
	}

	data, err = json.MarshalIndent(&doc, "", "  ")
	return base + ".spdx.json", append(data, '\n'), err
}

// outside matches what an SPDX identifier cannot hold.
var outside = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// describe returns the package of a module.
func describe(m *debug.Module) spdxPackage {
	p := spdxPackage{ID: "SPDXRef-" + outside.ReplaceAllString(m.Path+"-"+m.Version, "-"), Name: m.Path, Version: m.Version,
		Location: unknown, Concluded: unknown, Declared: unknown, Copyright: unknown,
		Refs: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}}}
	if m.Sum != "" {
		p.Comment = "go.sum " + m.Sum
	}
	return p
}
