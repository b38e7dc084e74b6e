package handwriting

// skeleton is one class of digit: strokes over knots, each stroke the control
// polygon of a quadratic B-spline (see Pen.trace), and morphs that move knots.
type skeleton struct {
	knots   []vec
	strokes [][]int // numbers of knots
	morphs  [][]shift
}

// shift moves a knot at full weight of its morph.
type shift struct {
	knot   int
	dx, dy float64
}

// skeletons are the ten classes. Knots that coincide make a corner, and a
// stroke of length zero hides in another one, until a morph pulls them apart.
var skeletons = [10]skeleton{
	{ // 0
		knots: []vec{{50, 0}, {16, 0}, {16, 100}, {84, 100}, {84, 0}, {52, 0}},
		strokes: [][]int{
			{0, 1, 2, 3, 4, 5},
		},
		morphs: [][]shift{
			{{1, 14, 0}, {2, 14, 0}, {3, -14, 0}, {4, -14, 0}}, // narrow
			{{0, 8, -2}, {4, -6, 2}, {5, -14, 10}},             // ends cross at the top
		},
	},
	{ // 1
		knots: []vec{{52, 0}, {50, 50}, {50, 100}, {52, 0}, {50, 98}, {50, 98}},
		strokes: [][]int{
			{0, 1, 2}, {0, 3}, {4, 5},
		},
		morphs: [][]shift{
			{{3, -24, 22}},            // serif
			{{4, -22, 0}, {5, 22, 0}}, // foot
		},
	},
	{ // 2
		knots: []vec{{22, 26}, {26, 0}, {78, -6}, {82, 34}, {54, 62}, {20, 97}, {20, 97}, {20, 97}, {52, 97},
			{82, 96}},
		strokes: [][]int{
			{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		},
		morphs: [][]shift{
			{{5, 4, 10}, {6, -14, -8}, {7, 8, -28}, {8, 4, 2}, {9, 2, -4}}, // loop
			{{0, 4, -12}, {1, 4, 2}, {3, -8, -6}},                          // small head
		},
	},
	{ // 3
		knots: []vec{{22, 14}, {32, -6}, {80, -4}, {78, 40}, {46, 46}, {46, 46}, {86, 46}, {86, 103},
			{36, 106}, {16, 80}},
		strokes: [][]int{
			{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		},
		morphs: [][]shift{
			{{0, 2, -10}, {1, 26, 8}, {2, -4, 6}, {3, -6, -26}}, // flat head
			{{4, -6, 4}, {5, -2, -6}},                           // waist with a loop
			{{3, 0, -6}, {4, 0, -8}, {5, 0, -8}, {6, 0, -8}},    // large belly
		},
	},
	{ // 4
		knots: []vec{{30, 4}, {22, 58}, {22, 58}, {84, 58}, {66, 10}, {62, 100}},
		strokes: [][]int{
			{0, 1, 2, 3}, {4, 5},
		},
		morphs: [][]shift{
			{{0, 32, -2}, {1, -4, 6}, {2, -4, 6}, {3, 2, 4}, {4, -3, -8}}, // closed
			{{3, -14, -2}}, // short bar
		},
	},
	{ // 5
		knots: []vec{{78, 4}, {34, 4}, {34, 4}, {27, 48}, {27, 48}, {44, 35}, {88, 36}, {82, 103}, {42, 104},
			{20, 92}},
		strokes: [][]int{
			{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		},
		morphs: [][]shift{
			{{2, -6, 10}, {3, 2, -2}, {4, 10, -2}, {5, 10, 4}, {6, -4, 4}}, // round like an S
			{{0, -16, 2}}, // short flag
		},
	},
	{ // 6
		knots: []vec{{70, 2}, {34, 12}, {14, 70}, {24, 104}, {82, 106}, {84, 52}, {40, 44}, {24, 76}},
		strokes: [][]int{
			{0, 1, 2, 3, 4, 5, 6, 7},
		},
		morphs: [][]shift{
			{{0, -20, -4}, {1, -8, 2}},                          // upright
			{{4, -6, 0}, {5, -8, 14}, {6, -2, 14}, {7, -2, 10}}, // small belly
		},
	},
	{ // 7
		knots: []vec{{20, 5}, {80, 4}, {80, 4}, {56, 50}, {44, 100}, {58, 52}, {58, 52}, {20, 5}},
		strokes: [][]int{
			{0, 1, 2, 3, 4}, {5, 6}, {0, 7},
		},
		morphs: [][]shift{
			{{5, -20, 2}, {6, 20, -2}},                       // bar
			{{7, 0, 16}},                                     // serif
			{{2, -4, 12}, {3, -2, 0}},                        // round corner
			{{0, 10, 8}, {7, 10, 8}, {1, -6, 0}, {2, -6, 0}}, // narrow, rising head
		},
	},
	{ // 8
		knots: []vec{{74, 18}, {66, -6}, {20, -6}, {18, 40}, {80, 54}, {88, 106}, {14, 106}, {18, 56},
			{78, 44}, {76, 16}},
		strokes: [][]int{
			{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		},
		morphs: [][]shift{
			{{0, -2, 8}, {1, -4, 4}, {9, 8, -14}},                                     // open top
			{{3, 4, -8}, {4, -2, -8}, {7, 2, -8}, {8, -4, -8}, {5, 2, 0}, {6, -2, 0}}, // large belly
			{{5, -12, 0}, {6, 10, 0}, {2, 2, 0}},                                      // narrow belly
		},
	},
	{ // 9
		knots: []vec{{76, 20}, {66, -4}, {20, -6}, {18, 54}, {66, 56}, {78, 12}, {78, 12}, {75, 60},
			{72, 100}, {72, 100}},
		strokes: [][]int{
			{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		},
		morphs: [][]shift{
			{{7, 2, 12}, {8, -6, 6}, {9, -42, -4}},                     // curved tail
			{{0, -6, -8}, {1, -6, 6}, {2, 4, 4}, {3, 2, 6}, {4, 4, 4}}, // open, angular head
		},
	},
}
