package labelcells

import (
	"slices"
	"strings"
)

// labelNames are names of columns of labels, and idNames of ids, in any case.
var (
	labelNames = []string{"label", "labels", "class", "classes", "target", "targets", "y", "category",
		"species", "value"}
	idNames = []string{"id", "ids", "key", "name", "path", "file", "filename", "file_name", "image",
		"image_path", "uid", "uuid", "index", "row"}
)

// IsLabelName tells whether a column of this name is usually one of labels.
func IsLabelName(name string) bool { return isNamed(name, labelNames) }

// IsIDName tells whether a column of this name is usually one of ids.
func IsIDName(name string) bool { return isNamed(name, idNames) }

func isNamed(name string, list []string) bool {
	return slices.Contains(list, strings.ToLower(strings.TrimSpace(name)))
}

// IsRowName tells whether a column of this name holds numbers of points. Answers without ids have
// such a column.
func IsRowName(name string) bool { return isNamed(name, []string{"row"}) }

// IDColumn returns the column with the most usual name of ids that is not the one of labels;
// empty if there is none.
func IDColumn(columns []string, label string) string {
	// The list is in order of use: id comes before name and path.
	best := len(idNames)
	name := ""
	for _, c := range columns {
		if at := slices.Index(idNames, strings.ToLower(strings.TrimSpace(c))); at >= 0 && at < best &&
			c != label {
			best = at
			name = c
		}
	}
	return name
}

// sureIDNames are the usual names of ids that no column of numbers has for another reason, in any case.
var sureIDNames = []string{"id", "ids", "uid", "uuid", "index"}

// IDColumnOf returns the column that names the rows of a table of points: the one with the most usual name of ids, or
// the only one whose name ends as one does, where it holds text; one of [sureIDNames] with numbers as well. It
// is empty if there is none.
func IDColumnOf(columns []string, text func(column string) bool) string {
	may := func(c string) bool { return text(c) || isNamed(c, sureIDNames) }
	usual := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return !may(c) })
	if name := IDColumn(usual, ""); name != "" {
		return name
	}
	if name := LikelyIDColumn(columns); name != "" && text(name) {
		return name
	}
	return ""
}

// LikelyIDColumn returns the only column whose name ends as one of ids does, as image_id, imageId and
// "image id"; empty if there is none or more than one. Such a column may hold ids of something else than
// the rows.
func LikelyIDColumn(columns []string) string {
	found := ""
	for _, c := range columns {
		name := strings.TrimSpace(c)
		lower := strings.ToLower(name)
		if !strings.HasSuffix(lower, "_id") && !strings.HasSuffix(lower, "-id") && !strings.HasSuffix(lower, " id") &&
			!strings.HasSuffix(name, "Id") {
			continue
		}
		if found != "" {
			return ""
		}
		found = c
	}
	return found
}
