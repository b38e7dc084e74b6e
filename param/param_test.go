package param_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bigfit/bigfit/param"
)

func ExampleShow() {
	err := fmt.Errorf("points.npy: %w", fmt.Errorf("leave %s out, or take fewer %s", param.Name("parts"), param.Name("neighbors")))
	fmt.Println(err)
	fmt.Println(param.Show(err.Error(), func(name string) string { return "--" + name }))
	// Output:
	// points.npy: leave ‹parts› out, or take fewer ‹neighbors›
	// points.npy: leave --parts out, or take fewer --neighbors
}

func TestShow(t *testing.T) {
	upper := func(name string) string { return "[" + name + "]" }
	for text, want := range map[string]string{
		"":                             "",
		"no names":                     "no names",
		"‹class-mass›":                 "[class-mass]",
		"give ‹X› and ‹y›":             "give [X] and [y]",
		"‹several words› are no name":  "‹several words› are no name",
		"‹unclosed":                    "‹unclosed",
		"‹› is empty, ‹-a› begins odd": "‹› is empty, ‹-a› begins odd",
		"‹‹nested››":                   "‹[nested]›",
	} {
		if got := param.Show(text, upper); got != want {
			t.Errorf("Show(%q) is %q, not %q", text, got, want)
		}
	}
	if got := param.Plain(errors.Join(fmt.Errorf("a %s", param.Name("t")), fmt.Errorf("b %v", param.Name("k"))).Error()); got != "a t\nb k" {
		t.Errorf("Plain gives %q", got)
	}
}

func TestUnmarked(t *testing.T) {
	cause := errors.New("cause")
	err := param.Unmarked(fmt.Errorf("%s is 0: %w", param.Name("alpha"), cause))
	if err.Error() != "alpha is 0: cause" || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}
