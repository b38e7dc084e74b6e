package active

// bound is an upper bound of the score of a point.
type bound struct {
	point int32
	most  float64
}

// bounds is a heap, the largest bound first, of equals the smallest point.
type bounds []bound

func (b bounds) Len() int { return len(b) }
func (b bounds) Less(i, j int) bool {
	if b[i].most != b[j].most {
		return b[i].most > b[j].most
	}
	return b[i].point < b[j].point
}
func (b bounds) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b *bounds) Push(x any)   { *b = append(*b, x.(bound)) }
func (b *bounds) Pop() any {
	old := *b
	last := old[len(old)-1]
	*b = old[:len(old)-1]
	return last
}
