package pool_test

import (
	"slices"
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/pool"
)

// A member for few labels joins where the labels are harder than the other points, up to its own number of labels.
func TestMemberJoinsLater(t *testing.T) {
	const n = 600
	hard := func(i int) []float64 { // unsure at labels, and wrong at every fourth, but sure elsewhere
		v := right(i)[1]
		switch {
		case i%3 != 0:
			return signed(6 * v)
		case i/3%4 == 0:
			return signed(-0.5 * v)
		}
		return signed(0.6 * v)
	}
	for _, c := range []struct {
		name   string
		first  func(i int) []float64
		most   int // labels a class up to which the second member may join
		joined bool
	}{
		{"harder labels", hard, 100, true},
		{"too many of them", hard, 99, false},
		{"labels like the others", wrongOften(4), 100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := pool.Learner{Name: "auto", Members: []pool.Member{
				{Learner: sayer{name: "first", say: c.first}, Settings: []models.Values{{}}},
				{Learner: sayer{name: "other", say: c.first}, Settings: []models.Values{{}}},
				{Learner: sayer{name: "later", say: right}, Settings: []models.Values{{}}, FewPerClass: 15, HarderPerClass: c.most},
			}}
			m, err := l.Fit(t.Context(), &models.Input{Graph: path(t, n), Targets: classes(t, n, alternating)})
			if err != nil {
				t.Fatal(err)
			}
			choice := m.(*pool.Model).Choice
			at := slices.IndexFunc(choice.Members, func(s pool.MemberScore) bool { return s.Name == "later" })
			if (at >= 0) != c.joined {
				t.Fatalf("joined: %t; %+v", at >= 0, choice)
			}
			if c.joined && !(choice.Members[at].Weight > 0.5) {
				t.Errorf("the member that is always right has the weight %v", choice.Members[at].Weight)
			}
		})
	}
}
