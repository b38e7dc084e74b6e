package solvers

// ClassificationQP is the dual of the support vector classifier with bound C, which minimizes ½‖f‖²
// + C Σ max(0, 1 − y_i(f(x_i) + b)) over targets y_i = ±1. The minimum of the program is minus the
// minimum of the classifier. f = Σ v_i k(·, x_i) and b = −Multiplier.
func ClassificationQP(rows Rows, y []float64, c float64) *QP {
	n := len(y)
	p := &QP{Rows: rows, Linear: make([]float64, n), Lower: make([]float64, n), Upper: make([]float64, n)}
	for i, v := range y {
		p.Linear[i] = -v
		p.Lower[i] = min(0, v*c)
		p.Upper[i] = max(0, v*c)
	}
	return p
}

// RegressionQP is the dual of support vector regression, which minimizes ½‖f‖² + C Σ max(0, |z_i −
// f(x_i) − b| − ε). f = Σ v_i k(·, x_i) and b = −Multiplier.
func RegressionQP(rows Rows, z []float64, c, epsilon float64) *QP {
	n := len(z)
	p := &QP{Rows: rows, Linear: make([]float64, n), Epsilon: epsilon, Lower: make([]float64, n),
		Upper: make([]float64, n)}
	for i, v := range z {
		p.Linear[i] = -v
		p.Lower[i] = -c
		p.Upper[i] = c
	}
	return p
}

// OneClassQP is the dual of the one-class machine of all points of rows, which minimizes ½‖f‖² −
// νlρ + Σ max(0, ρ − f(x_i)). ν bounds the share of points outside. f = Σ v_i k(·, x_i) and ρ =
// Multiplier.
func OneClassQP(rows Rows, nu float64) *QP {
	n := rows.Dim()
	p := &QP{Rows: rows, Linear: make([]float64, n), Lower: make([]float64, n), Upper: make([]float64, n),
		Start: make([]float64, n)}
	left := nu * float64(n)
	for i := range n {
		p.Upper[i] = 1
		p.Start[i] = min(1, left)
		left -= p.Start[i]
	}
	return p
}
