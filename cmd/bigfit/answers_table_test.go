package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// answerSource are the flags that name training data in bigfit fit and the points to
// predict; no query is the training points that the model knows.
type answerSource struct {
	fit, query string
	classes    bool // that have scores
}

// answerData are the sources of cases, files of answerFixtures.
var answerData = map[string]answerSource{
	"rings":       {"-X ../rings.npy -y ../rings-few.npy", "-X ../rings-new.npy", true},
	"rings-all":   {"-X ../rings.npy -y ../rings-all.npy", "-X ../rings-new.npy", true},
	"bytes":       {"-X ../bytes.npy -y ../rings-few.npy", "-X ../bytes-new.npy", true},
	"float32":     {"-X ../float32.npy -y ../rings-few.npy", "-X ../float32-new.npy", true},
	"two":         {"-X ../two.npy -y ../two-few.npy", "-X ../two-new.npy", true},
	"two-all":     {"-X ../two.npy -y ../two-all.npy", "-X ../two-new.npy", true},
	"words":       {"-X ../words.npz -y ../rings-few.npy", "-X ../words-new.npz", true},
	"words-all":   {"-X ../words.npz -y ../rings-all.npy", "-X ../words-new.npz", true},
	"svmlight":    {"-X ../words.svm -y ../words.svm --unlabeled -1", "-X ../words-new.svm", true},
	"long":        {"-X ../long.npz -y ../rings-few.npy", "-X ../long-new.npz", true},
	"wide":        {"-X ../wide.npy -y ../rings-few.npy", "-X ../wide-new.npy", true},
	"parts":       {"-X ../parts.npy -y ../parts-few.npy", "-X ../parts-new.npy", true},
	"graph":       {"--graph ../rings-graph.npz -y ../rings-few.npy", "", true},
	"gram":        {"-X ../gram.npy -y ../rings-few.npy --kernel precomputed", "-X ../gram-new.npy", true},
	"values":      {"-X ../rings.npy -y ../values.npy", "-X ../rings-new.npy", false},
	"values-all":  {"-X ../rings.npy -y ../values-all.npy", "-X ../rings-new.npy", false},
	"values-two":  {"-X ../rings.npy -y ../values-two.npy", "-X ../rings-new.npy", false},
	"values-word": {"-X ../words.npz -y ../values.npy", "-X ../words-new.npz", false},
	"values-wide": {"-X ../wide.npy -y ../values.npy", "-X ../wide-new.npy", false},
	"labels":      {"-X ../rings.npy -y ../labels.npy", "-X ../rings-new.npy", false},
	"labels-gaps": {"-X ../rings.npy -y ../labels-gaps.npy", "-X ../rings-new.npy", false},
	"labels-all":  {"-X ../rings.npy -y ../labels-all.npy", "-X ../rings-new.npy", false},
	"labels-gram": {"-X ../gram.npy -y ../labels.npy --kernel precomputed", "-X ../gram-new.npy", false},
}

// fitAnswers are fits, each followed by a prediction: its name, its data, the flags
// of bigfit fit, and those of bigfit predict.
var fitAnswers = []struct{ name, data, fit, predict string }{
	{"eigenmap", "rings", "--model eigenmap -p 8", ""},
	{"eigenmap-default", "rings", "--model eigenmap", ""},
	{"eigenmap-nystrom", "rings", "--model eigenmap -p 8 --weights heat", "--extension nystrom"},
	{"eigenmap-sum", "rings", "--model eigenmap -p 20 --penalty sum --penalty-order 3 --gamma 0.1 --penalty-unit one", ""},
	{"eigenmap-vote", "rings", "--model eigenmap -p 8 --laplacian random-walk", "--extension knn -k 5"},
	{"eigenmap-normalized", "bytes", "--model eigenmap -p 6 --laplacian normalized -k 6", "--extension nystrom -k 4"},
	{"eigenmap-iterated", "rings", "--model eigenmap --penalty iterated -p 30 --folds 3", ""},
	{"eigenmap-iterated-given", "two", "--model eigenmap --penalty iterated -p 20 --gamma 0.1 --penalty-power 1", "--extension nystrom"},
	{"eigenmap-heat", "rings", "--model eigenmap --penalty heat -p 25 --gamma 0.01 --heat-t 2", ""},
	{"eigenmap-heat-cv", "rings", "--model eigenmap --penalty heat -p 25 --seed 5", ""},
	{"eigenmap-graph", "graph", "--model eigenmap -p 6", ""},
	{"eigenmap-parts", "parts", "--model eigenmap -p 6", "--extension nystrom"},
	{"eigenmap-draw", "rings-all", "--model eigenmap -p 6 --labels 18 --seed 3", ""},
	{"eigenmap-symmetry-sum", "rings", "--model eigenmap -p 8 --symmetry sum", "--extension nystrom"},
	{"eigenmap-kernel", "rings", "--model eigenmap --penalty kernel --penalty-mu 1,0.5,0,2,0.25,0.1 --gamma 0.1", ""},
	{"eigenmap-two", "two", "--model eigenmap -p 4 --symmetry both", ""},

	{"auto", "rings", "--model auto", ""},
	{"auto-two", "two", "--model auto", ""},
	{"auto-graph", "graph", "--model auto", ""},
	{"auto-words", "words", "--model auto", ""},
	{"auto-parts", "parts", "--model auto", ""},
	{"auto-values", "values", "--model auto", ""},

	{"harmonic", "rings", "--model harmonic", ""},
	{"harmonic-mass", "rings", "--model harmonic --class-mass", "-k 5"},
	{"harmonic-priors", "rings", "--model harmonic --class-mass --priors 1,2,1 --weights self-tuning", ""},
	{"harmonic-two", "two", "--model harmonic --weights heat --t 0.5", ""},
	{"harmonic-parts", "parts", "--model harmonic", ""},
	{"harmonic-values", "values", "--model harmonic", ""},
	{"harmonic-values-two", "values-two", "--model harmonic --regression", ""},
	{"harmonic-graph", "graph", "--model harmonic", ""},
	{"lgc", "rings", "--model lgc", ""},
	{"lgc-alpha", "bytes", "--model lgc --alpha 0.5", ""},
	{"lgc-float32", "float32", "--model lgc --alpha 0.9", ""},
	{"lgc-words", "words", "--model lgc --distance angle --alpha 0.9", ""},
	{"lgc-pca", "rings", "--model lgc --pca 2 --alpha 0.9", ""},
	{"lgc-radius", "rings", "--model lgc --radius 1.5 --alpha 0.9", "-k 5"},
	{"lgc-manhattan", "rings", "--model lgc --distance manhattan --method ball-tree --alpha 0.9", ""},
	{"lgc-kd-tree", "two", "--model lgc --method kd-tree --alpha 0.9", ""},
	{"lgc-nn-descent", "rings", "--model lgc --method nn-descent --alpha 0.9", ""},
	{"lgc-parts", "parts", "--model lgc", ""},
	{"lgc-draw", "rings-all", "--model lgc --alpha 0.9 --labels 12 --seed 8", ""},
	{"poisson", "rings", "--model poisson", ""},
	{"poisson-priors", "rings", "--model poisson --priors 1,2,1", ""},
	{"poisson-two", "two", "--model poisson", ""},
	{"poisson-parts", "parts", "--model poisson", ""},
	{"reweighted", "rings", "--model reweighted", ""},
	{"poisson-mbo", "rings", "--model poisson-mbo", ""},
	{"cut", "rings", "--model cut", ""},
	{"reweighted-parts", "parts", "--model reweighted", ""},
	{"tikhonov", "rings", "--model tikhonov --gamma-a 1e-6 --gamma-i 1e-2", ""},
	{"tikhonov-power", "rings", "--model tikhonov --gamma-a 1e-3 --gamma-i 1e-2 --power 2 --laplacian normalized", ""},
	{"tikhonov-per-pair", "two", "--model tikhonov --gamma-a 1e-3 --gamma-i 10 --scaling per-pair", ""},
	{"tikhonov-coefficients", "rings", "--model tikhonov --gamma-a 1e-3 --gamma-i 1e-2 --penalty-coefficients 0.1,1,0.5", ""},
	{"tikhonov-values", "values", "--model tikhonov --gamma-a 1e-3 --gamma-i 1e-2", ""},
	{"tikhonov-parts", "parts", "--model tikhonov --gamma-a 1e-3 --gamma-i 1e-2", ""},

	{"rls-linear", "rings", "--model rls-linear --gamma-a 1e-3", ""},
	{"rls-linear-bytes", "bytes", "--model rls-linear --gamma-a 1", ""},
	{"rls-linear-float32", "float32", "--model rls-linear --gamma-a 1e-3", ""},
	{"rls-linear-words", "words", "--model rls-linear --gamma-a 1e-2", ""},
	{"rls-linear-svmlight", "svmlight", "--model rls-linear --gamma-a 1e-2", ""},
	{"rls-linear-long", "long", "--model rls-linear --gamma-a 1e-2", ""},
	{"rls-linear-wide", "wide", "--model rls-linear --gamma-a 1e-1", ""},
	{"rls-linear-values", "values", "--model rls-linear --gamma-a 1e-3", ""},
	{"rls-linear-values-two", "values-two", "--model rls-linear --gamma-a 1e-3 --regression", ""},
	{"rls-linear-values-words", "values-word", "--model rls-linear --gamma-a 1e-2", ""},
	{"rls-linear-values-wide", "values-wide", "--model rls-linear --gamma-a 1e-1", ""},
	{"rls-linear-draw", "rings-all", "--model rls-linear --gamma-a 1e-3 --labels 20 --seed 3", ""},
	{"rls-linear-draw-values", "values-all", "--model rls-linear --gamma-a 1e-3 --labels 20 --seed 3", ""},
	{"laprls-linear", "rings", "--model laprls-linear --gamma-a 1e-3 --gamma-i 1e-3", ""},
	{"laprls-linear-power", "two", "--model laprls-linear --gamma-a 1e-3 --gamma-i 1e-2 --power 2 --laplacian normalized", ""},
	{"laprls-linear-coefficients", "rings", "--model laprls-linear --gamma-a 1e-3 --gamma-i 1e-3 --penalty-coefficients 0.1,1,0.5", ""},
	{"laprls-linear-words", "words", "--model laprls-linear --gamma-a 1e-2 --gamma-i 1e-2 --scaling per-pair", ""},
	{"laprls-linear-long", "long", "--model laprls-linear --gamma-a 1e-2 --gamma-i 1e-2 --laplacian normalized", ""},
	{"laprls-linear-wide", "wide", "--model laprls-linear --gamma-a 1e-1 --gamma-i 1e-3", ""},
	{"laprls-linear-values", "values", "--model laprls-linear --gamma-a 1e-3 --gamma-i 1e-3", ""},
	{"laprls-linear-zero", "rings", "--model laprls-linear --gamma-a 1e-3 --gamma-i 0", ""},
	{"svm-linear", "rings", "--model svm-linear --gamma-a 1e-3", ""},
	{"svm-linear-huberized", "two", "--model svm-linear --gamma-a 1e-3 --loss huberized-hinge --width 0.2", ""},
	{"svm-linear-words", "words", "--model svm-linear --gamma-a 1e-2", ""},
	{"svm-linear-long", "long", "--model svm-linear --gamma-a 1e-2 --loss huberized-hinge", ""},
	{"svm-linear-wide", "wide", "--model svm-linear --gamma-a 1e-1", ""},
	{"lapsvm-linear", "rings", "--model lapsvm-linear --gamma-a 1e-3 --gamma-i 1e-3", ""},
	{"lapsvm-linear-huberized", "rings", "--model lapsvm-linear --gamma-a 1e-3 --gamma-i 1e-3 --loss huberized-hinge --width 0.2 --power 2", ""},
	{"lapsvm-linear-words", "words", "--model lapsvm-linear --gamma-a 1e-2 --gamma-i 1e-2 --laplacian normalized", ""},
	{"lapsvm-linear-wide", "wide", "--model lapsvm-linear --gamma-a 1e-1 --gamma-i 10 --scaling per-pair", ""},
	{"tsvm-linear", "rings", "--model tsvm-linear --gamma-a 1e-2", ""},
	{"tsvm-linear-two", "two", "--model tsvm-linear --gamma-a 1e-2 --unlabeled-weight 0.5 --priors 1,2", ""},
	{"tsvm-linear-words", "words", "--model tsvm-linear --gamma-a 1e-1 --loss huberized-hinge", ""},
	{"tsvm-linear-wide", "wide", "--model tsvm-linear --gamma-a 1e-1", ""},

	{"knn", "rings", "--model knn", ""},
	{"knn-vote", "rings", "--model knn --vote 3", ""},
	{"knn-vote-predict", "rings", "--model knn --vote 3", "-k 5"},
	{"knn-bytes", "bytes", "--model knn --method brute", ""},
	{"knn-words", "words-all", "--model knn --distance angle --labels 45", ""},
	{"geodesic", "rings", "--model geodesic", ""},
	{"correct-and-smooth", "rings", "--model correct-and-smooth", ""},
	{"correct-and-smooth-fixed", "words", "--model correct-and-smooth --base svm-linear --gamma-a 1 --correction fixed --factor 0.5 --smooth-alpha 0.8", "-k 5"},
	{"geodesic-parts", "parts", "--model geodesic --vote 3", "-k 4"},
	{"knn-ball-tree", "two-all", "--model knn --method ball-tree --distance chebyshev --labels 40 --seed 2", ""},

	{"rls", "rings", "--model rls --gamma-a 1e-3", ""},
	{"rls-intercept", "rings", "--model rls --gamma-a 1e-2 --sigma mean --intercept", ""},
	{"rls-bytes", "bytes", "--model rls --gamma-a 1e-3", ""},
	{"rls-float32", "float32", "--model rls --gamma-a 1e-3 --sigma 1", ""},
	{"rls-words", "words", "--model rls --gamma-a 1e-2 --sigma 3", ""},
	{"rls-linear-kernel", "rings", "--model rls --gamma-a 1e-2 --kernel linear", ""},
	{"rls-polynomial", "rings", "--model rls --gamma-a 1e-2 --kernel polynomial --degree 2 --scale 0.5 --offset 1", ""},
	{"rls-cosine", "words", "--model rls --gamma-a 1e-2 --kernel cosine", ""},
	{"rls-laplace", "two", "--model rls --gamma-a 1e-2 --kernel laplace --sigma 2", ""},
	{"rls-gram", "gram", "--model rls --gamma-a 1e-1", ""},
	{"rls-values", "values", "--model rls --gamma-a 1e-3 --sigma 1", ""},
	{"rls-values-two", "values-two", "--model rls --gamma-a 1e-3 --sigma 1 --regression --intercept", ""},
	{"rls-draw", "rings-all", "--model rls --gamma-a 1e-3 --sigma 1 --labels 25 --seed 4", ""},
	{"laprls", "rings", "--model laprls --gamma-a 1e-3 --gamma-i 1e-2", ""},
	{"laprls-two", "two", "--model laprls --gamma-a 1e-3 --gamma-i 1e-2 --intercept", ""},
	{"laprls-power", "rings", "--model laprls --gamma-a 1e-3 --gamma-i 1e-2 --power 2 --laplacian normalized", ""},
	{"laprls-symmetry-sum", "two", "--model laprls --gamma-a 1e-3 --gamma-i 1e-2 --symmetry sum", ""},
	{"laprls-coefficients", "rings", "--model laprls --gamma-a 1e-3 --gamma-i 1e-2 --penalty-coefficients 0.1,1,0.5", ""},
	{"laprls-sharp", "rings", "--model laprls --gamma-a 1e-3 --gamma-i 1e-3 --sigma 1 --intrinsic-sigma 0.2", ""},
	{"laprls-hessian", "values", "--model laprls --gamma-a 1e-3 --gamma-i 1e-3 --sigma 1 --hessian 2 --intercept", ""},
	{"laprls-per-pair", "rings", "--model laprls --gamma-a 1e-3 --gamma-i 10 --scaling per-pair", ""},
	{"laprls-gram", "gram", "--model laprls --gamma-a 1e-1 --gamma-i 1e-1 --graph ../rings-graph.npz", ""},
	{"laprls-words", "words", "--model laprls --gamma-a 1e-2 --gamma-i 1e-2 --kernel linear", ""},
	{"laprls-parts", "parts", "--model laprls --gamma-a 1e-3 --gamma-i 1e-2 --sigma 2", ""},
	{"laprls-values", "values", "--model laprls --gamma-a 1e-3 --gamma-i 1e-3 --sigma 1", ""},
	{"laprls-zero", "rings", "--model laprls --gamma-a 1e-3 --gamma-i 0", ""},
	{"svm", "rings", "--model svm --gamma-a 1e-3", ""},
	{"svm-two", "two", "--model svm --gamma-a 1e-2 --sigma 1", ""},
	{"svm-linear-kernel", "rings", "--model svm --gamma-a 1e-2 --kernel linear", ""},
	{"svm-polynomial", "rings", "--model svm --gamma-a 1e-2 --kernel polynomial --scale 0.5 --offset 1", ""},
	{"svm-words", "words", "--model svm --gamma-a 1e-2 --kernel linear", ""},
	{"svm-gram", "gram", "--model svm --gamma-a 1e-1", ""},
	{"lapsvm", "rings", "--model lapsvm --gamma-a 1e-3 --gamma-i 1e-2", ""},
	{"lapsvm-two", "two", "--model lapsvm --gamma-a 1e-3 --gamma-i 1e-2 --kernel laplace", ""},
	{"lapsvm-power", "rings", "--model lapsvm --gamma-a 1e-3 --gamma-i 1e-2 --power 2 --laplacian normalized", ""},
	{"lapsvm-per-pair", "bytes", "--model lapsvm --gamma-a 1e-3 --gamma-i 10 --scaling per-pair", ""},
	{"lapsvm-gram", "gram", "--model lapsvm --gamma-a 1e-1 --gamma-i 1e-1 --graph ../rings-graph.npz", ""},

	{"rls-landmarks", "rings", "--model rls --gamma-a 1e-2 --approximation nystrom --landmarks 20", ""},
	{"rls-landmarks-all", "rings", "--model rls --gamma-a 1e-2 --approximation nystrom", ""},
	{"rls-features", "rings", "--model rls --gamma-a 1e-2 --approximation fourier --features 60 --intercept", ""},
	{"rls-matrix-free", "rings", "--model rls --gamma-a 1e-2 --approximation matrix-free --landmarks 20 --tolerance 1e-10", ""},
	{"rls-landmarks-words", "words", "--model rls --gamma-a 1e-2 --kernel linear --approximation nystrom --landmarks 20", ""},
	{"rls-landmarks-values", "values", "--model rls --gamma-a 1e-3 --sigma 1 --approximation nystrom --landmarks 25 --seed 2", ""},
	{"laprls-landmarks", "rings", "--model laprls --gamma-a 1e-2 --gamma-i 1e-2 --approximation nystrom --landmarks 20", ""},
	{"laprls-landmarks-uniform", "rings", "--model laprls --gamma-a 1e-2 --gamma-i 1e-2 --approximation nystrom --landmarks 20 --sampling uniform --intercept", ""},
	{"laprls-landmarks-plus", "bytes", "--model laprls --gamma-a 1e-2 --gamma-i 1e-2 --approximation nystrom --landmarks 20 --sampling kmeans++ --seed 6", ""},
	{"laprls-features", "rings", "--model laprls --gamma-a 1e-2 --gamma-i 1e-2 --approximation fourier --features 60 --seed 3", ""},
	{"laprls-matrix-free", "rings", "--model laprls --gamma-a 1e-2 --gamma-i 1e-2 --approximation matrix-free --landmarks 20 --tolerance 1e-10", ""},
	{"laprls-matrix-free-coefficients", "rings", "--model laprls --gamma-a 1e-2 --gamma-i 1e-2 --penalty-coefficients 0.1,1,0.5 --approximation matrix-free --landmarks 20 --tolerance 1e-10", ""},
	{"laprls-matrix-free-power", "two", "--model laprls --gamma-a 1e-2 --gamma-i 1e-2 --power 2 --laplacian normalized --approximation matrix-free --landmarks 30 --tolerance 1e-10", ""},
	{"svm-landmarks", "rings", "--model svm --gamma-a 1e-2 --approximation nystrom --landmarks 20", ""},
	{"svm-features", "two", "--model svm --gamma-a 1e-2 --approximation fourier --features 60 --kernel laplace", ""},
	{"lapsvm-landmarks", "rings", "--model lapsvm --gamma-a 1e-2 --gamma-i 1e-2 --approximation nystrom --landmarks 20", ""},
	{"lapsvm-landmarks-uniform", "two", "--model lapsvm --gamma-a 1e-2 --gamma-i 1e-2 --approximation nystrom --landmarks 20 --sampling uniform --power 2", ""},
	{"lapsvm-features", "rings", "--model lapsvm --gamma-a 1e-2 --gamma-i 1e-2 --approximation fourier --features 60", ""},

	{"svr", "values", "--model svr --gamma-a 1e-3 --sigma 1", ""},
	{"svr-epsilon", "values-two", "--model svr --gamma-a 1e-3 --epsilon 0.05 --kernel polynomial --degree 2 --offset 1 --regression", ""},
	{"lapsvr", "values", "--model lapsvr --gamma-a 1e-3 --gamma-i 1e-3 --sigma 1", ""},
	{"lapsvr-power", "values", "--model lapsvr --gamma-a 1e-3 --gamma-i 1e-2 --power 2 --laplacian normalized --epsilon 0.05", ""},
	{"oneclass", "rings-all", "--model oneclass --sigma 2 --nu 0.2 --labels 40", ""},
	{"oneclass-default", "two", "--model oneclass", ""},
	{"lap-oneclass", "rings-all", "--model lap-oneclass --gamma-a 1e-3 --gamma-i 1e-3 --sigma 2 --nu 0.2 --labels 40 --tolerance 1e-12", ""},
	{"lap-oneclass-power", "two", "--model lap-oneclass --gamma-a 1e-2 --gamma-i 1e-2 --power 2 --laplacian normalized --kernel laplace", ""},
	{"tsvm", "rings", "--model tsvm --gamma-a 1e-2 --sigma 1 --tolerance 1e-12", ""},
	{"tsvm-graph", "rings", "--model tsvm --gamma-a 1e-2 --gamma-i 1e-2 --sigma 1 --tolerance 1e-12", ""},
	{"tsvm-two", "two", "--model tsvm --gamma-a 1e-2 --unlabeled-weight 0.5 --priors 1,2 --tolerance 1e-12", ""},
	{"tsvm-linear-kernel", "words", "--model tsvm --gamma-a 1e-1 --kernel linear --tolerance 1e-12", ""},

	{"sssl", "rings", "--model sssl --eigenfunctions 6 --sigma 1", ""},
	{"sssl-cv", "rings", "--model sssl --folds 3", ""},
	{"sssl-landmarks", "two", "--model sssl --landmarks 40 --intercept --seed 2", ""},
	{"sssl-words", "words", "--model sssl --eigenfunctions 5 --kernel cosine", ""},
	{"sssl-values", "values", "--model sssl --eigenfunctions 8 --sigma 1 --intercept", ""},
	{"sssl-gram", "gram", "--model sssl --eigenfunctions 5", ""},

	{"vvmr", "labels", "--model vvmr --gamma-a 1e-3 --gamma-i 1e-3", ""},
	{"vvmr-outputs", "labels", "--model vvmr --gamma-a 1e-3 --gamma-i 1e-3 --gamma-o 0.5 --output-neighbors 1", ""},
	{"vvmr-gaps", "labels-gaps", "--model vvmr --gamma-a 1e-3 --gamma-i 1e-3 --gamma-o 0.5 --output-neighbors 2", ""},
	{"vvmr-power", "labels", "--model vvmr --gamma-a 1e-3 --gamma-i 1e-2 --power 2 --laplacian normalized --sigma 1", ""},
	{"vvmr-per-pair", "labels", "--model vvmr --gamma-a 1e-3 --gamma-i 10 --scaling per-pair --sigma 1", ""},
	{"vvmr-linear-kernel", "labels", "--model vvmr --gamma-a 1e-2 --gamma-i 1e-2 --kernel linear --gamma-o 0.3 --output-neighbors 1", ""},
	{"vvmr-no-graph", "labels-all", "--model vvmr --gamma-a 1e-2 --gamma-i 0 --labels 30 --seed 3", ""},
	{"vvmr-landmarks", "labels", "--model vvmr --gamma-a 1e-2 --gamma-i 1e-2 --gamma-o 0.5 --output-neighbors 1 --approximation nystrom --landmarks 20", ""},
	{"vvmr-landmarks-gaps", "labels-gaps", "--model vvmr --gamma-a 1e-2 --gamma-i 1e-2 --approximation nystrom --landmarks 20 --sampling uniform", ""},
	{"vvmr-matrix-free", "labels", "--model vvmr --gamma-a 1e-2 --gamma-i 1e-2 --gamma-o 0.5 --output-neighbors 1 --approximation matrix-free --landmarks 20", ""},
	{"vvmr-gram", "labels-gram", "--model vvmr --gamma-a 1e-1 --gamma-i 1e-1 --graph ../rings-graph.npz", ""},
	{"vvmr-coefficients", "labels", "--model vvmr --gamma-a 1e-3 --gamma-i 1e-2 --sigma 1 --penalty-coefficients 0.1,1,0.5", ""},
	{"vvmr-hinge", "labels-gaps", "--model vvmr --gamma-a 1e-3 --gamma-i 1e-2 --sigma 1 --loss hinge --tolerance 1e-12", ""},
	{"vvmr-values", "values-two", "--model vvmr --gamma-a 1e-3 --gamma-i 1e-3 --sigma 1 --regression", ""},
}

// unsureClasses are cases of which more classes may differ on another instruction
// path: f is 0 at support vectors on the margin, and rounding decides their side.
var unsureClasses = map[string]float64{"oneclass": 0.07, "lap-oneclass": 0.07}

// commandAnswers are all other cases.
var commandAnswers = []answerCase{
	{"eigenmap-eigs", []string{
		"eigs ../rings-graph.npz -n 10 -o eigs.npz",
		"fit --model eigenmap --eigs eigs.npz -y ../rings-few.npy -p 7 --predictions train.npy",
		"predict model.npz -o again.npy --scores scores.npy"}},

	{"tune-eigenmap", []string{"tune --model eigenmap -X ../rings.npy -y ../rings-few.npy -p 2,4,8 -k 5,8 --laplacian random-walk --best best.npz", "predict best.npz -X ../rings-new.npy -o new.npy --scores scores.npy"}},
	{"tune-eigenmap-penalty", []string{"tune --model eigenmap -X ../rings.npy -y ../rings-few.npy -p 9,20 --penalty iterated --gamma 0.1,1"}},
	{"tune-harmonic", []string{"tune --model harmonic -X ../rings.npy -y ../rings-few.npy -k 5,8 --class-mass"}},
	{"tune-lgc", []string{"tune --model lgc -X ../rings.npy -y ../rings-few.npy --alpha 0.5,0.99 -k 5,8 --repeats 2 --best best.npz", "predict best.npz -X ../rings-new.npy -o new.npy --scores scores.npy"}},
	{"tune-poisson", []string{"tune --model poisson -X ../two.npy -y ../two-few.npy -k 5,8 --metric auc"}},
	{"tune-poisson-mbo", []string{"tune --model poisson-mbo -X ../rings.npy -y ../rings-few.npy -k 5,8 --steps 20"}},
	{"tune-cut", []string{"tune --model cut -X ../rings.npy -y ../rings-few.npy -k 5,8 --class-shares equal"}},
	{"tune-tikhonov", []string{"tune --model tikhonov -X ../rings.npy -y ../values.npy --gamma-a 1e-4,1e-2 --gamma-i 0.1,1 --power 1,2 --laplacian normalized"}},
	{"tune-rls-linear", []string{"tune --model rls-linear -X ../words.npz -y ../rings-all.npy --labels 30 --gamma-a 1e-4,1e-2,1 --folds 4 --seed 3"}},
	{"tune-laprls-linear", []string{"tune --model laprls-linear -X ../rings.npy -y ../values.npy --gamma-a 1e-4,1e-2 --gamma-i 0,0.1 -k 5,8"}},
	{"tune-laprls-linear-wide", []string{"tune --model laprls-linear -X ../wide.npy -y ../rings-few.npy --gamma-a 1e-2,1 --gamma-i 0,0.1"}},
	{"tune-svm-linear", []string{"tune --model svm-linear -X ../two.npy -y ../two-few.npy --c 0.1,1,10 --metric f1"}},
	{"tune-lapsvm-linear", []string{"tune --model lapsvm-linear -X ../words.npz -y ../rings-few.npy --gamma-a 1e-2,1 --gamma-i 0.01,1 --loss huberized-hinge --metric prbep"}},
	{"tune-correct-and-smooth", []string{"tune --model correct-and-smooth -X ../rings.npy -y ../rings-few.npy --gamma-a 0.01,1 --smooth-alpha 0.5,0.9 -k 5,8"}},
	{"tune-rls", []string{"tune --model rls -X ../rings.npy -y ../values.npy --gamma-a 1e-4,1e-2 --sigma 0.5,1,median --intercept"}},
	{"tune-laprls", []string{"tune --model laprls -X ../rings.npy -y ../rings-few.npy --gamma-a 1e-3,1e-1 --gamma-i 0,0.01 --sigma median,1 -k 5,8 --best best.npz", "predict best.npz -X ../rings-new.npy -o new.npy --scores scores.npy"}},
	{"tune-laprls-landmarks", []string{"tune --model laprls -X ../rings.npy -y ../rings-few.npy --gamma-a 1e-3,1e-1 --gamma-i 0,0.01 --approximation nystrom --landmarks 20 --metric auc"}},
	{"tune-laprls-matrix-free", []string{"tune --model laprls -X ../rings.npy -y ../values.npy --gamma-a 1e-3,1e-1 --gamma-i 0.01 --approximation matrix-free --landmarks 20 --tolerance 1e-10"}},
	{"tune-svm", []string{"tune --model svm -X ../two.npy -y ../two-few.npy --c 0.1,10 --sigma 1,median --metric auc"}},
	{"tune-lapsvm", []string{"tune --model lapsvm -X ../two.npy -y ../two-few.npy --gamma-a 1e-3,1e-1 --gamma-i 0.01,1 --power 1,2"}},
	{"tune-lapsvm-features", []string{"tune --model lapsvm -X ../rings.npy -y ../rings-few.npy --c 1 --gamma-i 0.001,0.1 --approximation fourier --features 60 -k 5,8"}},
	{"tune-svr", []string{"tune --model svr -X ../rings.npy -y ../values.npy --gamma-a 1e-4,1e-2 --sigma 1,2"}},
	{"tune-lapsvr", []string{"tune --model lapsvr -X ../rings.npy -y ../values.npy --gamma-a 1e-3 --gamma-i 1e-3,1e-1 --sigma 1"}},
	{"tune-sssl", []string{"tune --model sssl -X ../rings.npy -y ../values.npy --eigenfunctions 2,5,9 --sigma 1,2 --intercept"}},
	{"tune-sssl-cv", []string{"tune --model sssl -X ../rings.npy -y ../rings-few.npy --sigma median,1 --landmarks 40"}},

	{"cluster", []string{"cluster -X ../rings.npy -c 3 --row-normalize=false -o clusters.npy"}},
	{"cluster-rows", []string{"cluster ../rings-graph.npz -c 4 --seed 2 -o clusters.npy"}},
	{"cluster-sign", []string{"cluster -X ../two.npy -c 2 --rule sign -o clusters.npy"}},
	{"cluster-sweep", []string{"cluster -X ../two.npy -c 2 --rule sweep --weights heat -o clusters.npy"}},
	{"cluster-parts", []string{"cluster -X ../parts.npy -c 3 --row-normalize=false -o clusters.npy"}},
	{"cluster-gamma", []string{"cluster -X ../rings.npy -c 3 --gamma 0.01 --sigma 1 --model m.npz -o clusters.npy", "predict m.npz -X ../rings-new.npy -o new.npy"}},
	{"cluster-gamma-landmarks", []string{"cluster -X ../rings.npy -c 3 --gamma 0.01 --landmarks 40 --model m.npz -o clusters.npy", "predict m.npz -X ../rings-new.npy -o new.npy"}},

	{"embed", []string{"embed -X ../rings.npy -d 3 --model m.npz -o train.npy", "embed --transform m.npz -X ../rings-new.npy -o new.npy"}},
	{"embed-heat", []string{"embed -X ../bytes.npy -d 2 --laplacian combinatorial --weights heat --pca 3 --model m.npz -o train.npy", "embed --transform m.npz -X ../bytes-new.npy -o new.npy"}},
	{"embed-parts", []string{"embed -X ../parts.npy -d 3 --laplacian normalized --model m.npz -o train.npy", "embed --transform m.npz -X ../parts-new.npy -o new.npy"}},
	{"embed-gamma", []string{"embed -X ../rings.npy -d 3 --gamma 0.01 --sigma 1 --model m.npz -o train.npy", "embed --transform m.npz -X ../rings-new.npy -o new.npy"}},
	{"embed-gamma-power", []string{"embed -X ../rings.npy -d 2 --gamma 0.01 --kernel laplace --sigma 1 --laplacian normalized --power 2 --model m.npz -o train.npy", "embed --transform m.npz -X ../rings-new.npy -o new.npy"}},
	{"embed-gamma-landmarks", []string{"embed -X ../two.npy -d 2 --gamma 0.01 --landmarks 40 --model m.npz -o train.npy", "embed --transform m.npz -X ../two-new.npy -o new.npy"}},

	{"features", []string{"features ../rings.npy --hops 3 -o hops.npy", "features ../rings.npy --graph ../rings-graph.npz --normalization row --self-loops -o means.npy"}},
}

const (
	answerPoints  = 90 // of a training set
	answerQueries = 30
)

// answerFixtures writes the files of answerData to the working directory: training
// points and, as -new, others. The numbers are multiples of 1/64, so that they do not
// depend on the rounding of a machine.
func answerFixtures(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 6))
	var training []float64
	for _, suffix := range []string{"", "-new"} {
		n := answerPoints
		if suffix != "" {
			n = answerQueries
		}
		x := rings(rng, n)
		if suffix == "" {
			training = x
		}
		single, small := make([]float32, len(x)), make([]uint8, len(x))
		for i, v := range x {
			single[i], small[i] = float32(v), uint8(math.Max(0, math.Min(255, 100+20*v)))
		}
		must(t, npy.WriteFile("rings"+suffix+".npy", []int{n, 4}, x))
		must(t, npy.WriteFile("float32"+suffix+".npy", []int{n, 4}, single))
		must(t, npy.WriteFile("bytes"+suffix+".npy", []int{n, 4}, small))
		must(t, npy.WriteFile("gram"+suffix+".npy", []int{n, answerPoints}, gramOf(x, training)))
		must(t, npy.WriteFile("two"+suffix+".npy", []int{n, 3}, twoRings(rng, n)))
		must(t, npy.WriteFile("parts"+suffix+".npy", []int{n, 4}, apart(x)))
		must(t, npy.WriteFile("wide"+suffix+".npy", []int{n, 120}, wideClouds(rng, n)))
		words := bags(rng, n, 40)
		must(t, sparse.WriteNPZ("words"+suffix+".npz", words, nil))
		writeFile(t, "words"+suffix+".svm", svmlightOf(words))
		must(t, sparse.WriteNPZ("long"+suffix+".npz", bags(rng, n, 200), nil))
	}
	answerTargets(t, training)
	succeed(t, "graph", "rings.npy", "-k", "6", "--weights", "heat", "-o", "rings-graph.npz", "-q")
}

func sixtyFourths(v float64) float64 { return math.Round(64*v) / 64 }

// rings are points of three classes in turn in 4 dimensions: a cloud, a ring around
// it, and a cloud on the ring.
func rings(rng *rand.Rand, n int) []float64 {
	var x []float64
	for i := range n {
		p := [4]float64{}
		switch i % 3 {
		case 1:
			sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
			p[0], p[1] = 2.2*cos, 2.2*sin
		case 2:
			p[0], p[2] = 2.5, 1
		}
		for _, v := range p {
			x = append(x, sixtyFourths(v+0.45*rng.NormFloat64()))
		}
	}
	return x
}

// twoRings are points of two classes in turn in 3 dimensions.
func twoRings(rng *rand.Rand, n int) []float64 {
	var x []float64
	for i := range n {
		r := 1 + 1.3*float64(i%2)
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		for _, v := range []float64{r * cos, r * sin, 0} {
			x = append(x, sixtyFourths(v+0.3*rng.NormFloat64()))
		}
	}
	return x
}

// apart moves the third class of rings far away.
func apart(x []float64) []float64 {
	out := append([]float64(nil), x...)
	for i := 2 * 4; i < len(out); i += 3 * 4 {
		out[i] += 50
	}
	return out
}

// gramOf has the kernel (xᵀz/8 + 1)² of points in rows and training points in columns.
func gramOf(x, training []float64) []float64 {
	var out []float64
	for i := 0; i < len(x); i += 4 {
		for j := 0; j < len(training); j += 4 {
			dot := 0.0
			for q := range 4 {
				dot += x[i+q] * training[j+q]
			}
			out = append(out, (dot/8+1)*(dot/8+1))
		}
	}
	return out
}

// wideClouds are points of three classes in turn in 120 dimensions.
func wideClouds(rng *rand.Rand, n int) []float64 {
	var x []float64
	for i := range n {
		for j := range 120 {
			centre := 0.0
			if j%3 == i%3 {
				centre = 0.4
			}
			x = append(x, sixtyFourths(centre+rng.NormFloat64()))
		}
	}
	return x
}

// bags are counts of words in texts of three classes in turn; words of the class are
// twice as likely as others.
func bags(rng *rand.Rand, n, words int) *sparse.CSR {
	m := &sparse.CSR{Rows: n, Cols: words, Ptr: []int64{0}}
	for i := range n {
		for j := range words {
			p := 0.12
			if j%3 == i%3 {
				p = 0.24
			}
			if rng.Float64() < p {
				m.Col, m.Val = append(m.Col, int32(j)), append(m.Val, float64(1+rng.IntN(3)))
			}
		}
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
	}
	return m
}

// svmlightOf are the points with their class, of which the first 21 are known.
func svmlightOf(m *sparse.CSR) []byte {
	var b strings.Builder
	for i := range m.Rows {
		class := i % 3
		if i >= 21 {
			class = -1
		}
		fmt.Fprint(&b, class)
		for k := m.Ptr[i]; k < m.Ptr[i+1]; k++ {
			fmt.Fprintf(&b, " %d:%v", m.Col[k]+1, m.Val[k])
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// answerTargets writes classes, values and labels of the training points x of rings:
// for the first points and, as -all, for all of them.
func answerTargets(t *testing.T, x []float64) {
	t.Helper()
	const n = answerPoints
	all, few, two, fewTwo, parts := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	values, fewValues, pairs := make([]float64, n), make([]float64, n), make([]float64, 2*n)
	several, fewSeveral, gaps := make([]float64, 4*n), make([]float64, 4*n), make([]float64, 4*n)
	for i := range n {
		all[i], two[i] = int64(i%3), int64(i%2)
		few[i], fewTwo[i], parts[i] = -1, -1, -1
		values[i] = sixtyFourths(math.Sin(2*x[4*i]) + x[4*i+1]/2 - x[4*i+2]/4)
		fewValues[i], pairs[2*i], pairs[2*i+1] = math.NaN(), math.NaN(), math.NaN()
		several[4*i+i%3] = 1
		if x[4*i] > 0 {
			several[4*i+3] = 1
		}
		for j := range 4 {
			fewSeveral[4*i+j], gaps[4*i+j] = math.NaN(), math.NaN()
		}
		if i < 21 {
			few[i] = all[i]
			if i%3 < 2 {
				parts[i] = all[i]
			}
		}
		if i < 14 {
			fewTwo[i] = two[i]
		}
		if i < 30 {
			fewValues[i], pairs[2*i], pairs[2*i+1] = values[i], values[i], x[4*i]/2
			copy(fewSeveral[4*i:4*i+4], several[4*i:])
			copy(gaps[4*i:4*i+4], several[4*i:])
			if i%4 > 0 {
				gaps[4*i+i%3] = math.NaN()
			}
		}
	}
	for name, y := range map[string][]int64{"rings-all": all, "rings-few": few, "two-all": two, "two-few": fewTwo, "parts-few": parts} {
		must(t, npy.WriteFile(name+".npy", nil, y))
	}
	must(t, npy.WriteFile("values-all.npy", nil, values))
	must(t, npy.WriteFile("values.npy", nil, fewValues))
	must(t, npy.WriteFile("values-two.npy", []int{n, 2}, pairs))
	must(t, npy.WriteFile("labels-all.npy", []int{n, 4}, several))
	must(t, npy.WriteFile("labels.npy", []int{n, 4}, fewSeveral))
	must(t, npy.WriteFile("labels-gaps.npy", []int{n, 4}, gaps))
}
