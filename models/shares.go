package models

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/param"
)

// shareTolerance is the largest difference of a sum of shares from 1, for shares that were rounded to percents.
const shareTolerance = 0.0101

// OrderShares returns v with the numbers of parameters that are [Param.Named] ascending by class, where v gives them by
// the names of classes in t, as in a:0.8,b:0.2. If a single class is missing and the others are shares below 1, it gets
// the rest. Other values stay as they are.
//
// Numbers that are all below 1 are shares, and their sum must be 1, to within 0.01; others are sizes up to a factor. A
// class that is unknown, missing or named twice, and all zeros, are errors.
func OrderShares(params []Param, v Values, t *Targets) (Values, error) {
	for _, p := range params {
		text, ok := v[p.Name]
		if !ok || !p.Named || p.Check(text) != nil || t == nil || t.Classes == nil {
			continue // the check of the parameter says what is wrong
		}
		shares, err := orderShares(p.Name, text, t)
		if err != nil {
			return nil, err
		}
		v = v.With(Values{p.Name: textOf(&shares)})
	}
	return v, nil
}

// SharesOf returns v with the numbers of parameters that are [Param.Named] for the classes of part alone, where v has them
// for the classes all, ascending: the training part of a split may lack classes. Other values stay as they are.
func SharesOf(params []Param, v Values, all, part []int64) Values {
	if len(part) == len(all) {
		return v
	}
	for _, p := range params {
		numbers := strings.Split(v[p.Name], ",")
		if !p.Named || len(numbers) != len(all) {
			continue
		}
		var kept []string
		for c, class := range all {
			if slices.Contains(part, class) {
				kept = append(kept, numbers[c])
			}
		}
		v = v.With(Values{p.Name: strings.Join(kept, ",")})
	}
	return v
}

// Shared tells whether v has a parameter that is [Param.Named].
func (v Values) Shared(params []Param) bool {
	return slices.ContainsFunc(params, func(p Param) bool { return p.Named && v[p.Name] != "" })
}

// orderShares returns the numbers of a text, one for each class of t.
func orderShares(parameter, text string, t *Targets) ([]float64, error) {
	name := param.Name(parameter)
	classes := make([]string, len(t.Classes))
	for c := range classes {
		classes[c] = data.ClassName(t.Classes, t.Names, int32(c))
	}
	list := strings.Join(classes, ", ")
	parts := strings.Split(text, ",")

	// By class: each with a name, or none.
	shares := slices.Repeat([]float64{math.NaN()}, len(classes))
	named := strings.Contains(text, ":")
	if !named && len(parts) != len(classes) {
		return nil, Faultf("%s has %d numbers for the %d classes %s; give one for each, or by class as in %s:0.8,…",
			name, len(parts), len(classes), list, classes[0])
	}
	for k, part := range parts {
		c := k
		number := strings.TrimSpace(part)
		if named {
			at := strings.LastIndex(number, ":")
			if at < 0 {
				return nil, Faultf("%s gives %s without a class beside others with one; write CLASS:%s", name, number, number)
			}
			class := strings.TrimSpace(number[:at])
			number = number[at+1:]
			if c = slices.Index(classes, class); c < 0 {
				return nil, Faultf("%s names the class %q; the classes of the labels are %s", name, class, list)
			}
			if shares[c] == shares[c] {
				return nil, Faultf("%s names the class %q twice", name, class)
			}
		}

		// The check of the parameter has read the number.
		shares[c], _ = strconv.ParseFloat(strings.TrimSpace(number), 64)
	}
	return completeShares(name, shares, classes)
}

// completeShares gives the rest to a single class without a share, and checks the sum.
func completeShares(name param.Name, shares []float64, classes []string) ([]float64, error) {
	var sum, most float64
	var missing []int
	for c, v := range shares {
		if v != v {
			missing = append(missing, c)
			continue
		}
		sum += v
		most = max(most, v)
	}

	below := most < 1
	switch {
	case len(missing) == 1 && below && sum < 1:
		shares[missing[0]] = 1 - sum
		return shares, nil
	case len(missing) > 0:
		names := make([]string, len(missing))
		for k, c := range missing {
			names[k] = classes[c]
		}
		return nil, Faultf("%s has no share of %s; give every class one, 0 to one without points", name,
			strings.Join(names, ", "))
	case sum == 0:
		return nil, Faultf("%s are all 0; a class must have a share", name)
	case below && math.Abs(sum-1) > shareTolerance:
		return nil, Faultf("%s add up to %.4g; shares below 1 must add up to 1, and sizes of classes, whose unit does "+
			"not matter, are not all below 1", name, sum)
	}
	return shares, nil
}
