package papers

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/bigfit/bigfit/internal/view/results"
)

// checkJSON compares the JSON of a table with another, apart from white space and the
// order of keys.
func checkJSON(t *testing.T, table *results.Table, want string) {
	t.Helper()
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got %s, want %s", text, want)
	}
}
