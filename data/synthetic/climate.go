package synthetic

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
)

const (
	streamClimate    = 0x636c696d6174 // "climat"
	climateRegions   = 12
	climateSharpness = 6.0 // κ of a region: exp(κ(cos − 1)) has a half width of about 28°
)

// Climate makes a field like the temperature of one month (1 to 12) on a grid of
// rows latitudes, from 82.5° south to 82.5° north, and columns longitudes. The
// points x, (rows·columns)×3, are on the unit sphere,
//
//	(cos φ cos θ, cos φ sin θ, sin φ)  for latitude φ and longitude θ,
//
// and the values, in degrees Celsius,
//
//	28 − 50 sin²φ + 14 sin φ·cos(2π(month − 7)/12) + Σ_r a_r exp(6(xᵀc_r − 1)) + noise·ε
//
// are the fall towards the poles, the seasons, and twelve warm or cold regions with
// centres c_r uniform on the sphere and a_r normal of standard deviation 6; ε is
// standard normal, one for each point. Climate panics unless rows ≥ 2, columns ≥ 1
// and noise is finite and not negative.
func Climate(rows, columns, month int, noise float64, seed uint64) (x *data.Dense[float64],
	values []float64) {
	if rows < 2 || columns < 1 || !validNoise(noise) {
		panic(fmt.Sprintf("synthetic: Climate on %d×%d points with noise %v", rows, columns, noise))
	}

	// Regions: directions from normal vectors are uniform on the sphere.
	rng := pointRand(seed, streamClimate, -1)
	var centre [climateRegions][3]float64
	var height [climateRegions]float64
	for r := range centre {
		var size float64
		for j := range centre[r] {
			centre[r][j] = rng.NormFloat64()
			size = math.Hypot(size, centre[r][j])
		}
		for j := range centre[r] {
			centre[r][j] /= size
		}
		height[r] = 6 * rng.NormFloat64()
	}

	// Each point draws its own noise, so that the field does not depend on the threads.
	season := math.Cos(2 * math.Pi * float64(month-7) / 12)
	x = data.NewDense[float64](rows*columns, 3)
	values = make([]float64, rows*columns)
	par.For(rows, 1, func(lo, hi int) {
		for i := lo * columns; i < hi*columns; i++ {
			latitude := (-82.5 + 165*float64(i/columns)/float64(rows-1)) * math.Pi / 180
			longitude := 2 * math.Pi * float64(i%columns) / float64(columns)
			sin, cos := math.Sincos(latitude)
			p := x.Row(i)
			p[0] = cos * math.Cos(longitude)
			p[1] = cos * math.Sin(longitude)
			p[2] = sin
			v := 28 - 50*sin*sin + 14*sin*season
			for r, c := range centre {
				v += height[r] * math.Exp(climateSharpness*(p[0]*c[0]+p[1]*c[1]+p[2]*c[2]-1))
			}
			values[i] = v + noise*pointRand(seed, streamClimate, i).NormFloat64()
		}
	})

	return x, values
}
