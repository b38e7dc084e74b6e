//go:build !purego

package simd

import "golang.org/x/sys/cpu"

// assembly returns the paths this CPU can run, best first. Package cpu reports
// AVX registers only if the operating system saves them.
func assembly() []*path {
	var paths []*path
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512DQ && x.HasBMI1 && x.HasBMI2 && x.HasFMA {
		paths = append(paths, &path{
			name: "avx512",
			f64: kernels[float64]{
				gemm:          Gemm[float64]{MR: 14, NR: 16, tile: gemm64AVX512},
				sumRows:       sumRows64AVX512,
				addScaledRows: addScaledRows64AVX512,
				combineRow:    combineRow64AVX512,
			},
			f32: kernels[float32]{
				gemm:          Gemm[float32]{MR: 14, NR: 32, tile: gemm32AVX512},
				sumRows:       sumRows32AVX512,
				addScaledRows: addScaledRows32AVX512,
				combineRow:    combineRow32AVX512,
			},
			dot:  dot64AVX512,
			symv: symvRows64AVX512,

			prefetch: prefetchAVX2,
			graphRows: [...]graphKernel{graphRows4AVX2, graphRows8AVX512, graphRows16AVX512,
				graphRows32AVX512},
			panel: map[int]panelKernel{8: {8, panel8AVX512}, 16: {8, panel16AVX512}},

			distances:   distances32AVX512,
			halves:      halfKernels{16, widen32AVX512},
			conversions: conversionKernels{8, toDouble64AVX512, toSingle64AVX512},
			graphSteps:  [...]stepKernel{graphStep8AVX2, graphStep16AVX512},
			neighbors: neighborKernels{
				gemm:       bytesAVX512(),
				scanFloats: scanFloatsAVX512,
				least:      leastAVX512,
				scanInts:   scanIntsAVX512,
				scaleInts:  scaleIntsAVX512,
				bytes:      byteProductsAVX2,
				words:      wordProductsAVX2,
			},
		})
	}

	if x.HasAVX2 && x.HasFMA && x.HasBMI1 && x.HasF16C {
		paths = append(paths, &path{
			name: "avx2",
			f64: kernels[float64]{
				gemm:          Gemm[float64]{MR: 6, NR: 8, tile: gemm64AVX2},
				sumRows:       sumRows64AVX2,
				addScaledRows: addScaledRows64AVX2,
				combineRow:    combineRow64AVX2,
			},
			f32: kernels[float32]{
				gemm:          Gemm[float32]{MR: 6, NR: 16, tile: gemm32AVX2},
				sumRows:       sumRows32AVX2,
				addScaledRows: addScaledRows32AVX2,
				combineRow:    combineRow32AVX2,
			},
			dot:  dot64AVX2,
			symv: symvRows64AVX2,

			prefetch:  prefetchAVX2,
			graphRows: [...]graphKernel{graphRows4AVX2, graphRows8AVX2, graphRows16AVX2, graphRows32AVX2},
			panel:     map[int]panelKernel{8: {4, panel8AVX2}, 16: {2, panel16AVX2}},

			distances:   distances32AVX2,
			halves:      halfKernels{8, widen32AVX2},
			conversions: conversionKernels{4, toDouble64AVX2, toSingle64AVX2},
			graphSteps:  [...]stepKernel{graphStep8AVX2, graphStep16AVX2},
			neighbors: neighborKernels{
				gemm:       bytesAVX2,
				scanFloats: scanFloatsAVX2,
				least:      leastAVX2,
				scanInts:   scanIntsAVX2,
				scaleInts:  scaleIntsAVX2,
				bytes:      byteProductsAVX2,
				words:      wordProductsAVX2,
			},
		})
	}

	return paths
}

var bytesAVX2 = GemmBytes{MR: 6, NR: 16, Depth: 2, tile: gemmBytesAVX2, near: nearBytesAVX2}

// bytesAVX512 returns the tile for bytes that goes with AVX-512, which is not
// always accompanied by VNNI.
func bytesAVX512() GemmBytes {
	if cpu.X86.HasAVX512VNNI {
		return GemmBytes{MR: 14, NR: 32, Depth: 4, Signed: true, tile: gemmBytesVNNI, near: nearBytesVNNI}
	}
	return bytesAVX2
}
