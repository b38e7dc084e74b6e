package runs

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	command := []string{"go", "run", "x", "--data", "/secret", "--seed", "1"}
	r := New(t.TempDir(), command)
	r.Tables = []Table{{Header: []string{"a"}, Rows: [][]string{{"1"}}}}
	if r.Command != "go run x --data DIR --seed 1" || command[4] != "/secret" || r.Commit != "" || r.Kernels == "" {
		t.Errorf("%+v", r)
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && r.CPU == "" {
		t.Error("the processor has no name")
	}
	path := filepath.Join(t.TempDir(), "run.json")
	text, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{{string(text), ""}, {"{}", "no table"}, {"[", "run.json"}} {
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
		if err == nil && !reflect.DeepEqual(got, r) {
			t.Errorf("%+v, want %+v", got, r)
		}
	}
}
