package queue

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bigfit/bigfit/data"
)

// Agreement is how far annotators agree.
type Agreement struct {
	// Alpha is Krippendorff's α for classes: 1 where all agree, 0 where they agree as by chance.
	Alpha float64 `json:"alpha"`
	Pairs int     `json:"points"` // points that two or more labeled
	// People lists each annotator, by name.
	People []Person `json:"annotators,omitempty"`
}

// Person is an annotator beside the others.
type Person struct {
	Name   string `json:"name"`
	Labels int    `json:"labels"` // points with a label of this annotator
	Shared int    `json:"shared"` // of these, points that others labeled, too
	Differ int    `json:"differ"` // of these, points where the label of most others is another
	// Confusions are the most frequent differences.
	Confusions []Confusion `json:"confusions,omitempty"`
}

// Confusion counts the points that an annotator gives one label and most others another.
type Confusion struct {
	Label  string `json:"label"`
	Others string `json:"others"`
	Points int    `json:"points"`
}

// A rating is a label of one annotator.
type rating struct {
	annotator string
	class     int32
}

// ratings returns the labels that annotators gave each point, points ascending.
func (q *Queue) ratings() [][]rating {
	points := slices.Sorted(maps.Keys(q.marks))
	out := make([][]rating, 0, len(points))
	for _, i := range points {
		var of []rating
		for _, m := range q.marks[i] {
			if m.class != data.Unlabeled {
				of = append(of, rating{m.annotator, m.class})
			}
		}
		if len(of) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// Agreement compares the annotators.
func (q *Queue) Agreement() Agreement {
	q.mu.Lock()
	defer q.mu.Unlock()
	ratings := q.ratings()
	a := agreement(ratings)
	a.People = people(ratings, q.classes)
	return a
}

// agree returns the agreement without the people. It is computed anew after further labels.
func (q *Queue) agree() Agreement {
	if q.agreedAt != q.read || q.agreedOf != q.generation {
		q.agreement = agreement(q.ratings())
		q.agreedAt = q.read
		q.agreedOf = q.generation
	}
	return q.agreement
}

// agreement is Krippendorff's α for nominal data (Krippendorff, Content Analysis, section 11.3): with o_ck the
// ordered pairs of labels c and k of one point, each weighted by 1/(m − 1) of the point's m labels, and n_c = Σ_k o_ck,
//
//	α = 1 − (n − 1) Σ_{c≠k} o_ck / Σ_{c≠k} n_c n_k,   n = Σ n_c.
func agreement(ratings [][]rating) Agreement {
	var a Agreement
	total := map[int32]float64{}
	n := 0.0
	differ := 0.0
	for _, of := range ratings {
		if len(of) < 2 {
			continue
		}
		a.Pairs++
		for p, x := range of {
			total[x.class]++
			n++
			for q, y := range of {
				if p != q && x.class != y.class {
					differ += 1 / float64(len(of)-1)
				}
			}
		}
	}

	chance := n * n
	for _, v := range total {
		chance -= v * v
	}
	a.Alpha = 1
	if chance > 0 {
		a.Alpha = 1 - (n-1)*differ/chance
	}
	return a
}

// mostConfusions bounds the differences that are listed of a person.
const mostConfusions = 5

// people compares each annotator with the others.
func people(ratings [][]rating, classes []string) []Person {
	of := map[string]*Person{}
	differ := map[string]map[[2]int32]int{}
	for _, list := range ratings {
		for at, r := range list {
			p := of[r.annotator]
			if p == nil {
				p = &Person{Name: r.annotator}
				of[r.annotator] = p
				differ[r.annotator] = map[[2]int32]int{}
			}
			p.Labels++
			if len(list) < 2 {
				continue
			}
			p.Shared++
			if most := others(list, at); most != r.class {
				p.Differ++
				differ[r.annotator][[2]int32{r.class, most}]++
			}
		}
	}

	var out []Person
	for _, name := range slices.Sorted(maps.Keys(of)) {
		p := of[name]
		for pair, points := range differ[name] {
			p.Confusions = append(p.Confusions, Confusion{classes[pair[0]], classes[pair[1]], points})
		}
		slices.SortFunc(p.Confusions, func(a, b Confusion) int {
			return cmp.Or(b.Points-a.Points, cmp.Compare(a.Label, b.Label), cmp.Compare(a.Others, b.Others))
		})
		p.Confusions = p.Confusions[:min(len(p.Confusions), mostConfusions)]
		out = append(out, *p)
	}
	return out
}

// others returns the class that most of the others give, of equally many the smallest.
func others(list []rating, except int) int32 {
	votes := map[int32]int{}
	for at, r := range list {
		if at != except {
			votes[r.class]++
		}
	}
	best := data.Unlabeled
	for _, c := range slices.Sorted(maps.Keys(votes)) {
		if best == data.Unlabeled || votes[c] > votes[best] {
			best = c
		}
	}
	return best
}
