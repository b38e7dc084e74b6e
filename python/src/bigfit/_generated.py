"""Parameters of the estimators. Written by generate.py from ``bigfit models --json``; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from sklearn.base import BaseEstimator

VERSION = '0.1.0'

#: Parameters of the graph of nearest neighbours.
GRAPH = ('standardize', 'pca', 'metric', 'n_neighbors', 'radius', 'symmetry', 'weights', 'method', 'patience', 'recall', 't', 'class_weights', 'class_graphs')

#: What every learner learns.
LEARNERS = {'auto': ('classes', 'values', 'shares', 'weights'), 'eigenmap': ('classes',), 'harmonic': ('classes', 'values', 'shares'), 'lgc': ('classes', 'shares', 'weights'), 'tikhonov': ('classes', 'values', 'shares', 'weights'), 'poisson': ('classes', 'shares', 'weights'), 'reweighted': ('classes', 'values', 'shares', 'weights'), 'poisson-mbo': ('classes', 'shares', 'weights'), 'cut': ('classes', 'shares'), 'correct-and-smooth': ('classes', 'shares'), 'rls-linear': ('classes', 'values', 'shares', 'weights'), 'svm-linear': ('classes',), 'laprls-linear': ('classes', 'values', 'shares', 'weights'), 'lapsvm-linear': ('classes',), 'tsvm-linear': ('classes',), 'knn': ('classes', 'shares', 'weights'), 'geodesic': ('classes',), 'rls': ('classes', 'values', 'shares', 'weights'), 'svm': ('classes',), 'tsvm': ('classes',), 'svr': ('values',), 'oneclass': ('inside',), 'laprls': ('classes', 'values', 'shares', 'weights'), 'lapsvm': ('classes',), 'lapsvr': ('values',), 'lap-oneclass': ('inside',), 'vvmr': ('values', 'labels'), 'sssl': ('classes', 'values', 'shares')}


class AutoParameters(BaseEstimator):
    """Chooses among other models by cross-validation on the labels and averages the best.

    After Yao, Vehtari, Simpson & Gelman 2018, section 3.1 (weights, with a prior that is ours); the members' papers.

    Parameters
    ----------
    folds : int, default=5
        Folds of the cross-validation inside the fit, at most the number of labels; at least 2.

    repeats : int, default=1
        Number of times that the labels are dealt into folds; at least 1.

    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; at least 0; None is see class-shares.

    class_shares : {"points", "labels"}, default="points"
        Shares of the classes without priors: of the points, as far as answers are certain, or of
        the labels, as drawn at random from all points.

    standardize : bool, default=None
        Divide each column of dense points by its standard deviation first; None is true where few
        columns hold 90 % of the variance, each with a standard deviation of more than 10 times the
        median one, else false.

    pca : int, default=None
        Project the points on this many principal components first; at least 0; None is 50 where X
        has more than 100 columns, else 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default=None
        Distance between points; None is euclidean, angle where X is sparse.

    n_neighbors : int, default=None
        Nearest neighbours of every point; at least 1; None is 10.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default=None
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice; None is
        either.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default=None
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph; None is self-tuning, one where the distance
        is no length.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default=None
        Search for neighbours: auto chooses, all but nn-descent are exact; None is auto.

    patience : float, default=None
        Seconds that an exact search may take before the method auto prefers nn-descent; positive;
        None is 60.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=None
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2); None is false.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'auto'
    _needs = ('graph',)

    def __init__(
        self,
        *,
        folds: int = 5,
        repeats: int = 1,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        class_shares: str = 'points',
        standardize: Optional[bool] = None,
        pca: Optional[int] = None,
        metric: Optional[str] = None,
        n_neighbors: Optional[int] = None,
        radius: Optional[float] = None,
        symmetry: Optional[str] = None,
        weights: Optional[str] = None,
        method: Optional[str] = None,
        patience: Optional[float] = None,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: Optional[bool] = None,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.folds = folds
        self.repeats = repeats
        self.priors = priors
        self.class_shares = class_shares
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class EigenmapParameters(BaseEstimator):
    """Least squares on eigenvectors of the Laplacian (Belkin & Niyogi 2004).

    After Belkin & Niyogi 2004, section 4, steps 1 to 4; penalties: section 7.1.

    Parameters
    ----------
    gamma : float, default=None
        Strength γ of the penalty; positive; None is by cross-validation; for penalty = iterated or
        heat or sum or polynomial or kernel.

    eigenvectors : int, default=None
        Number of eigenvectors used; at least 1; None is 20 % of the number of labels, with a
        penalty 200; one or more for each component with a label; with penalty kernel the number of
        its μ.

    penalty : {"none", "iterated", "heat", "sum", "polynomial", "kernel"}, default="none"
        Penalty Σr(λ)a² on coefficients a: r = λˢ (iterated), exp(tλ) (heat), λ²+λ⁴+…+λ²ᵏ (sum), any
        polynomial, or 1/μ of a list (kernel).

    penalty_power : float, default=2.0
        Power s of the penalty λˢ; positive; for penalty = iterated.

    heat_t : float, default=1.0
        t of the penalty exp(tλ); positive; for penalty = heat.

    penalty_order : int, default=2
        k of the penalty λ²+λ⁴+…+λ²ᵏ, which is Σ‖Δⁱf‖² over i = 1 … k; from 1 to 50; for penalty =
        sum.

    penalty_coefficients : sequence of float, default=(0.0, 1.0)
        c₀,c₁,c₂,… of the penalty c₀ + c₁λ + c₂λ² + …; at least 0; for penalty = polynomial.

    penalty_mu : sequence of float, default=None
        μ₁,μ₂,… of the kernel Σμe(p)e(q), from the smallest eigenvalue on, which has the penalty
        Σa²/μ; 0 leaves an eigenvector out; at least 0; None is none: the kernel needs it; for
        penalty = kernel.

    penalty_unit : {"twentieth", "one"}, default="twentieth"
        Unit of λ in the penalty: the 20th eigenvalue, or one as in the paper; for penalty =
        iterated or heat or sum or polynomial.

    folds : int, default=5
        Folds of the cross-validation inside the fit, at most the number of labels; at least 2; for
        penalty = iterated or heat or sum or polynomial or kernel.

    laplacian : {"combinatorial", "normalized", "random-walk"}, default="combinatorial"
        Definition of the Laplacian.

    tolerance : float, default=1e-08
        Relative residual at which the solver stops; between 0 and 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'eigenmap'
    _needs = ('graph', 'eigenpairs')

    def __init__(
        self,
        *,
        gamma: Optional[float] = None,
        eigenvectors: Optional[int] = None,
        penalty: str = 'none',
        penalty_power: float = 2.0,
        heat_t: float = 1.0,
        penalty_order: int = 2,
        penalty_coefficients: Sequence[float] = (0.0, 1.0),
        penalty_mu: Optional[Sequence[float]] = None,
        penalty_unit: str = 'twentieth',
        folds: int = 5,
        laplacian: str = 'combinatorial',
        tolerance: float = 1e-08,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma = gamma
        self.eigenvectors = eigenvectors
        self.penalty = penalty
        self.penalty_power = penalty_power
        self.heat_t = heat_t
        self.penalty_order = penalty_order
        self.penalty_coefficients = penalty_coefficients
        self.penalty_mu = penalty_mu
        self.penalty_unit = penalty_unit
        self.folds = folds
        self.laplacian = laplacian
        self.tolerance = tolerance
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class HarmonicParameters(BaseEstimator):
    """Harmonic functions, label propagation (Zhu et al. 2003).

    After Zhu, Ghahramani & Lafferty 2003, equations 2 to 5; class mass normalization: section 4.

    Parameters
    ----------
    class_mass : bool, default=False
        Scale each class to its share of the points: class mass normalization.

    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; with class-mass their masses get them; at least 0;
        None is see class-shares.

    class_shares : {"free", "estimate", "labels", "equal"}, default="free"
        Shares of the classes without priors: free, those of the scores; labels, those of the
        labels; estimate, the mean of both; or equal.

    tolerance : float, default=1e-08
        Relative residual at which the solver stops; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'harmonic'
    _needs = ('graph',)

    def __init__(
        self,
        *,
        class_mass: bool = False,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        class_shares: str = 'free',
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.class_mass = class_mass
        self.priors = priors
        self.class_shares = class_shares
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class LgcParameters(BaseEstimator):
    """Local and global consistency, label spreading (Zhou et al. 2003).

    After Zhou, Bousquet, Lal, Weston & Schölkopf 2003.

    Parameters
    ----------
    alpha : float, default=0.99
        Weight α of the neighbours beside that of the given labels; between 0 and 1.

    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; at least 0; None is see class-shares.

    class_shares : {"free", "estimate", "labels", "equal"}, default="free"
        Shares of the classes without priors: free, those of the scores; labels, those of the
        labels; estimate, the mean of both; or equal.

    tolerance : float, default=1e-08
        Relative residual at which the solver stops; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'lgc'
    _needs = ('graph',)

    def __init__(
        self,
        *,
        alpha: float = 0.99,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        class_shares: str = 'free',
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.priors = priors
        self.class_shares = class_shares
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class TikhonovParameters(BaseEstimator):
    """Least squares with both norms on the graph alone.

    After Belkin, Matveeva & Niyogi 2004; Belkin, Niyogi & Sindhwani 2006, Table 2.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    gamma_i : float, default=None
        Weight γ_I of the intrinsic norm fᵀLᵖf; positive; None is by cross-validation on the labels
        among 1e-06, 0.0001, 0.01, 1, with few labels 0.0001.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made.

    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; at least 0; None is see class-shares.

    class_shares : {"free", "estimate", "labels", "equal"}, default="free"
        Shares of the classes without priors: free, those of the scores; labels, those of the
        labels; estimate, the mean of both; or equal.

    tolerance : float, default=1e-08
        Relative residual at which the solver stops; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'tikhonov'
    _needs = ('graph',)

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: Optional[float] = None,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        class_shares: str = 'free',
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.priors = priors
        self.class_shares = class_shares
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class PoissonParameters(BaseEstimator):
    """Poisson learning, for very few labels (Calder et al. 2020).

    After Calder, Cook, Thorpe & Slepčev 2020, equations 2.1 and 2.4.

    Parameters
    ----------
    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; at least 0; None is see class-shares.

    class_shares : {"free", "estimate", "labels", "equal"}, default="free"
        Shares of the classes without priors: free, those of the scores; labels, those of the
        labels; estimate, the mean of both; or equal.

    tolerance : float, default=1e-08
        Relative residual at which the solver stops; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'poisson'
    _needs = ('graph',)

    def __init__(
        self,
        *,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        class_shares: str = 'free',
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.priors = priors
        self.class_shares = class_shares
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class ReweightedParameters(BaseEstimator):
    """Harmonic functions on weights that grow towards the labels, for very few labels (Miller & Calder 2023).

    After Miller & Calder 2023: Poisson-reweighted Laplace learning; Calder & Slepčev 2020.

    Parameters
    ----------
    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; at least 0; None is see class-shares.

    class_shares : {"free", "estimate", "labels", "equal"}, default="free"
        Shares of the classes without priors: free, those of the scores; labels, those of the
        labels; estimate, the mean of both; or equal.

    tolerance : float, default=1e-08
        Relative residual at which the solver stops; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'reweighted'
    _needs = ('graph',)

    def __init__(
        self,
        *,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        class_shares: str = 'free',
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.priors = priors
        self.class_shares = class_shares
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class PoissonMboParameters(BaseEstimator):
    """Poisson learning, then the smallest cut with classes of given or estimated sizes, for very few labels.

    After Calder, Cook, Thorpe & Slepčev 2020, Algorithm 2; sizes that are estimated are not in the paper.

    Parameters
    ----------
    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; at least 0; None is see class-shares.

    tolerance : float, default=1e-08
        Relative residual at which the solver stops; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    class_shares : {"estimate", "labels", "equal"}, default="estimate"
        Shares of the classes without priors: estimate, the mean of labels and of the answers of
        poisson; labels, those of the labels; or equal.

    steps : int, default=40
        Steps of the heat equation between two decisions; at least 1.

    rounds : int, default=50
        Largest number of rounds from a start, and again after each new division of pairs and
        without sizes; they stop where no class changes; at least 1.

    keep_pairs : bool, default=False
        Do not divide pairs of classes anew; else those of three classes and more are, where that
        saves a fifth of the edges between them.

    keep_sizes : bool, default=False
        Hold the sizes of class-shares to the end; else three classes and more begin with them and
        then let them go, and two of estimated sizes try others. Sizes of priors are always held.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'poisson-mbo'
    _needs = ('graph',)

    def __init__(
        self,
        *,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        class_shares: str = 'estimate',
        steps: int = 40,
        rounds: int = 50,
        keep_pairs: bool = False,
        keep_sizes: bool = False,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.priors = priors
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.class_shares = class_shares
        self.steps = steps
        self.rounds = rounds
        self.keep_pairs = keep_pairs
        self.keep_sizes = keep_sizes
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class CutParameters(BaseEstimator):
    """The smallest cut with classes of given or estimated sizes, as a quadratic program, for very few labels.

    After Holtz, Chen, Mishne & Cloninger, NeurIPS 2024 (CutSSL); sizes that are estimated are not in the paper.

    Parameters
    ----------
    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; at least 0; None is see class-shares.

    tolerance : float, default=1e-08
        Relative residual at which the solver stops; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    class_shares : {"estimate", "labels", "equal"}, default="estimate"
        Shares of the classes without priors: estimate, the mean of labels and of the answers of
        poisson; labels, those of the labels; or equal.

    perturbation : float, default=0.1
        Weight s of −sD, which drives each point to one class; between 0 and 0.3.

    rounds : int, default=400
        Largest number of rounds; it stops where no class changes; at least 1.

    keep_pairs : bool, default=False
        Do not divide pairs of classes anew; else those of three classes and more are, where that
        saves a fifth of the edges between them.

    keep_sizes : bool, default=False
        Hold the sizes of class-shares to the end; else three classes and more begin with them and
        then let them go, and two of estimated sizes try others. Sizes of priors are always held.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'cut'
    _needs = ('graph',)

    def __init__(
        self,
        *,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        class_shares: str = 'estimate',
        perturbation: float = 0.1,
        rounds: int = 400,
        keep_pairs: bool = False,
        keep_sizes: bool = False,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.priors = priors
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.class_shares = class_shares
        self.perturbation = perturbation
        self.rounds = rounds
        self.keep_pairs = keep_pairs
        self.keep_sizes = keep_sizes
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class CorrectAndSmoothParameters(BaseEstimator):
    """a model of the columns, corrected and smoothed along the graph (Huang et al. 2021).

    After Huang, He, Singh, Lim & Benson 2021, section 2.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the norm ‖f‖² of the base; positive; None is by cross-validation on the labels
        among 0.0001, 0.01, 0.1, 1, 100, with few labels 0.01.

    base : {"rls", "rls-linear", "svm", "svm-linear"}, default="rls"
        The model of the columns alone whose errors are corrected.

    smooth_alpha : float, default=None
        Weight α₂ of the neighbours' predictions beside a point's own; between 0 and 1; None is by
        cross-validation on the labels among 0.5, 0.9, 0.99, with few labels 0.9.

    correction : {"autoscale", "fixed"}, default="autoscale"
        How errors are spread: autoscale, with the mean size of those at the labels, or fixed, as
        harmonic functions times factor.

    correct_alpha : float, default=0.9
        Weight α₁ of the neighbours' errors beside a point's own; between 0 and 1; for correction =
        autoscale.

    factor : float, default=1.0
        Factor s of the errors that are added; positive; for correction = fixed.

    tolerance : float, default=1e-06
        Relative residual at which the solver stops; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'correct-and-smooth'
    _needs = ('points', 'graph')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        base: str = 'rls',
        smooth_alpha: Optional[float] = None,
        correction: str = 'autoscale',
        correct_alpha: float = 0.9,
        factor: float = 1.0,
        tolerance: float = 1e-06,
        max_iterations: int = 10000,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.base = base
        self.smooth_alpha = smooth_alpha
        self.correction = correction
        self.correct_alpha = correct_alpha
        self.factor = factor
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class RlsLinearParameters(BaseEstimator):
    """Regularized least squares, wᵀx + b.

    After Belkin, Niyogi & Sindhwani 2006, section 4.2, with γ_I = 0.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, 100, 10000, 1e+06, with few labels 1.

    tolerance : float, default=1e-08
        Where an iteration stops: the norm of the residual, or of the gradient, relative to that of
        f = 0; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'rls-linear'
    _needs = ('points',)

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class SvmLinearParameters(BaseEstimator):
    """Support vector machine, wᵀx + b.

    After Keerthi & DeCoste 2005.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, 100, 10000, 1e+06, with few labels 1.

    loss : {"squared-hinge", "huberized-hinge"}, default="squared-hinge"
        Loss: the square of the hinge, or the hinge with its corner rounded.

    width : float, default=0.1
        Half the width of the rounded corner of the huberized hinge; positive and at most 1; for
        loss = huberized-hinge.

    tolerance : float, default=1e-08
        Where an iteration stops: the norm of the residual, or of the gradient, relative to that of
        f = 0; between 0 and 1.

    max_iterations : int, default=200
        Number of iterations after which the solver gives up; at least 1.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'svm-linear'
    _needs = ('points',)

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        loss: str = 'squared-hinge',
        width: float = 0.1,
        tolerance: float = 1e-08,
        max_iterations: int = 200,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.loss = loss
        self.width = width
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class LaprlsLinearParameters(BaseEstimator):
    """Rls-linear with the intrinsic norm.

    After Belkin, Niyogi & Sindhwani 2006, section 4.2; Sindhwani, Niyogi & Belkin 2005.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, 100, 10000, 1e+06, with few labels 1.

    gamma_i : float, default=None
        Weight γ_I of the intrinsic norm fᵀLᵖf; 0 leaves the graph out; at least 0; None is by
        cross-validation on the labels among 1e-06, 0.0001, 0.01, 1, with few labels 0.0001.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    tolerance : float, default=1e-08
        Where an iteration stops: the norm of the residual, or of the gradient, relative to that of
        f = 0; between 0 and 1.

    max_iterations : int, default=10000
        Number of iterations after which the solver gives up; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'laprls-linear'
    _needs = ('points', 'graph')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: Optional[float] = None,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        tolerance: float = 1e-08,
        max_iterations: int = 10000,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class LapsvmLinearParameters(BaseEstimator):
    """Svm-linear with the intrinsic norm.

    After Belkin, Niyogi & Sindhwani 2006, section 4.4; Sindhwani, Niyogi & Belkin 2005.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, 100, 10000, 1e+06, with few labels 1.

    gamma_i : float, default=None
        Weight γ_I of the intrinsic norm fᵀLᵖf; 0 leaves the graph out; at least 0; None is by
        cross-validation on the labels among 1e-06, 0.0001, 0.01, 1, with few labels 0.0001.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    loss : {"squared-hinge", "huberized-hinge"}, default="squared-hinge"
        Loss: the square of the hinge, or the hinge with its corner rounded.

    width : float, default=0.1
        Half the width of the rounded corner of the huberized hinge; positive and at most 1; for
        loss = huberized-hinge.

    tolerance : float, default=1e-08
        Where an iteration stops: the norm of the residual, or of the gradient, relative to that of
        f = 0; between 0 and 1.

    max_iterations : int, default=200
        Number of iterations after which the solver gives up; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'lapsvm-linear'
    _needs = ('points', 'graph')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: Optional[float] = None,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        loss: str = 'squared-hinge',
        width: float = 0.1,
        tolerance: float = 1e-08,
        max_iterations: int = 200,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.loss = loss
        self.width = width
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class TsvmLinearParameters(BaseEstimator):
    """Svm-linear that assigns classes to the other points.

    After Sindhwani & Keerthi 2006, section 3.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, 100, 10000, 1e+06, with few labels 1.

    unlabeled_weight : float, default=1.0
        Weight C*/C of the loss of an unlabeled point beside that of a labeled one; positive.

    priors : dict or sequence of float, default=None
        Shares of the classes among the unlabeled points, as a dict of classes or ascending by
        class; at least 0; None is those of the labels.

    loss : {"squared-hinge", "huberized-hinge"}, default="squared-hinge"
        Loss: the square of the hinge, or the hinge with its corner rounded.

    width : float, default=0.1
        Half the width of the rounded corner of the huberized hinge; positive and at most 1; for
        loss = huberized-hinge.

    tolerance : float, default=1e-05
        Where an iteration stops: the norm of the residual, or of the gradient, relative to that of
        f = 0; between 0 and 1.

    max_iterations : int, default=200
        Number of iterations after which the solver gives up; at least 1.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'tsvm-linear'
    _needs = ('points',)

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        unlabeled_weight: float = 1.0,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        loss: str = 'squared-hinge',
        width: float = 0.1,
        tolerance: float = 1e-05,
        max_iterations: int = 200,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.unlabeled_weight = unlabeled_weight
        self.priors = priors
        self.loss = loss
        self.width = width
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class KnnParameters(BaseEstimator):
    """Vote of the nearest labeled points.

    Parameters
    ----------
    vote : int, default=None
        Number of the nearest labeled points that vote; at least 1; None is by leave-one-out among
        1, 3, …, 15.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'knn'
    _needs = ('points',)

    def __init__(
        self,
        *,
        vote: Optional[int] = None,
        metric: str = 'euclidean',
        method: str = 'auto',
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.vote = vote
        self.metric = metric
        self.method = method
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class GeodesicParameters(BaseEstimator):
    """Vote of the labeled points nearest along paths of the graph (Belkin & Niyogi 2004).

    After Belkin & Niyogi 2004, sections 3 and 6.4; paths: Tenenbaum, de Silva & Langford 2000.

    Parameters
    ----------
    vote : int, default=1
        Number of labeled points, nearest along the graph, that vote; at least 1.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'geodesic'
    _needs = ('points', 'graph')

    def __init__(
        self,
        *,
        vote: int = 1,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.vote = vote
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class RlsParameters(BaseEstimator):
    """Regularized least squares with a kernel.

    After Belkin, Niyogi & Sindhwani 2006, equations (7) and (8).

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    approximation : {"auto", "exact", "nystrom", "fourier", "matrix-free"}, default="auto"
        How the machine is fitted: exact, by landmarks, by random Fourier features, or by products
        with a Gram matrix that is not held; auto is what other values imply, or else exact up to
        5000 points and beyond by landmarks where that is faster.

    landmarks : int, default=None
        Number of points over which the function is expanded; with matrix-free, number of points of
        the preconditioner; at least 1; None is √n·ln n, 500 to 4000.

    features : int, default=None
        Number of random Fourier features, even; at least 2; None is 2000, of fourier.

    sampling : {"rpcholesky", "uniform", "kmeans++"}, default="rpcholesky, of nystrom and matrix-free"
        How landmarks are drawn.

    intercept : bool, default=False
        Add a constant without penalty.

    tolerance : float, default=None
        Violation, relative residual or gradient at which the solver stops; positive; None is 1e-06,
        of nystrom and matrix-free.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'rls'
    _needs = ('points', 'kernel')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        approximation: str = 'auto',
        landmarks: Optional[int] = None,
        features: Optional[int] = None,
        sampling: str = 'rpcholesky, of nystrom and matrix-free',
        intercept: bool = False,
        tolerance: Optional[float] = None,
        max_iterations: Optional[int] = None,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.approximation = approximation
        self.landmarks = landmarks
        self.features = features
        self.sampling = sampling
        self.intercept = intercept
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class SvmParameters(BaseEstimator):
    """Support vector machine with a kernel.

    After Belkin, Niyogi & Sindhwani 2006, equations (10) and (11).

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    approximation : {"auto", "exact", "nystrom", "fourier"}, default="auto"
        How the machine is fitted: exact, by landmarks, by random Fourier features, or by products
        with a Gram matrix that is not held; auto is what other values imply, or else exact up to
        5000 points and beyond by landmarks where that is faster.

    landmarks : int, default=None
        Number of points over which the function is expanded; with matrix-free, number of points of
        the preconditioner; at least 1; None is √n·ln n, 500 to 4000.

    features : int, default=None
        Number of random Fourier features, even; at least 2; None is 2000, of fourier.

    sampling : {"rpcholesky", "uniform", "kmeans++"}, default="rpcholesky, of nystrom and matrix-free"
        How landmarks are drawn.

    tolerance : float, default=1e-06
        Violation, relative residual or gradient at which the solver stops; positive.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'svm'
    _needs = ('points', 'kernel')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        approximation: str = 'auto',
        landmarks: Optional[int] = None,
        features: Optional[int] = None,
        sampling: str = 'rpcholesky, of nystrom and matrix-free',
        tolerance: float = 1e-06,
        max_iterations: Optional[int] = None,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.approximation = approximation
        self.landmarks = landmarks
        self.features = features
        self.sampling = sampling
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class TsvmParameters(BaseEstimator):
    """Svm that assigns classes to the other points (Joachims 1999).

    After Joachims 1999, algorithm 1; Sindhwani & Keerthi 2006, section 3; with γ_I Sindhwani et al. 2005.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    gamma_i : float, default=0.0
        Weight γ_I of the intrinsic norm fᵀLᵖf, which warps the kernel by the graph; 0 leaves the
        graph out; at least 0.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    unlabeled_weight : float, default=1.0
        Weight C*/C of the loss of an unlabeled point beside that of a labeled one; positive.

    priors : dict or sequence of float, default=None
        Shares of the classes among the unlabeled points, as a dict of classes or ascending by
        class; at least 0; None is those of the labels.

    tolerance : float, default=0.001
        Violation, relative residual or gradient at which the solver stops; positive.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'tsvm'
    _needs = ('points', 'graph', 'kernel')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: float = 0.0,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        unlabeled_weight: float = 1.0,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        tolerance: float = 0.001,
        max_iterations: Optional[int] = None,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.unlabeled_weight = unlabeled_weight
        self.priors = priors
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class SvrParameters(BaseEstimator):
    """Support vector regression with a kernel.

    After Drucker et al. 1997; Sindhwani, Niyogi & Belkin 2005 for the warped kernel.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    epsilon : float, default=0.1
        ε of the loss max(0, |y − f| − ε); positive.

    tolerance : float, default=1e-06
        Violation, relative residual or gradient at which the solver stops; positive.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'svr'
    _needs = ('points', 'kernel')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        epsilon: float = 0.1,
        tolerance: float = 1e-06,
        max_iterations: Optional[int] = None,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.epsilon = epsilon
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class OneclassParameters(BaseEstimator):
    """Where the labeled points are: class 1 inside, -1 outside.

    After Schölkopf et al. 2001; Sindhwani, Niyogi & Belkin 2005 for the warped kernel.

    Parameters
    ----------
    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    nu : float, default=0.5
        Share ν of the labeled points that may be outside; positive and at most 1.

    tolerance : float, default=1e-06
        Violation, relative residual or gradient at which the solver stops; positive.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'oneclass'
    _needs = ('points', 'kernel')

    def __init__(
        self,
        *,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        nu: float = 0.5,
        tolerance: float = 1e-06,
        max_iterations: Optional[int] = None,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.nu = nu
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class LaprlsParameters(BaseEstimator):
    """Rls with the intrinsic norm (Belkin, Niyogi & Sindhwani 2006).

    After Belkin, Niyogi & Sindhwani 2006, equations (7) and (8).

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    gamma_i : float, default=None
        Weight γ_I of the intrinsic norm fᵀLᵖf; 0 leaves the graph out; at least 0; None is by
        cross-validation on the labels among 1e-06, 0.0001, 0.01, 1, with few labels 0.0001.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    heat : float, default=None
        t of the intrinsic norm fᵀexp(tL)f, the heat semigroup's, in place of fᵀLᵖf; positive; None
        is none: fᵀLᵖf; where gamma_i is positive.

    intrinsic_sigma : float, default=None
        σ of a second, sharper Gaussian kernel k_s whose norm fᵀK_s⁻¹f takes the place of fᵀLᵖf,
        without a graph (2006, Remark 4); positive; None is none: fᵀLᵖf; where gamma_i is positive.

    hessian : int, default=None
        Dimension of the manifold for the Hessian energy in place of fᵀLᵖf, for values that vary
        steadily along it (Kim, Steinke & Hein 2009); at least 1; None is none: fᵀLᵖf; where gamma_i
        is positive.

    approximation : {"auto", "exact", "nystrom", "fourier", "matrix-free"}, default="auto"
        How the machine is fitted: exact, by landmarks, by random Fourier features, or by products
        with a Gram matrix that is not held; auto is what other values imply, or else exact up to
        5000 points and beyond by landmarks where that is faster.

    landmarks : int, default=None
        Number of points over which the function is expanded; with matrix-free, number of points of
        the preconditioner; at least 1; None is √n·ln n, 500 to 4000.

    features : int, default=None
        Number of random Fourier features, even; at least 2; None is 2000, of fourier.

    sampling : {"rpcholesky", "uniform", "kmeans++"}, default="rpcholesky, of nystrom and matrix-free"
        How landmarks are drawn.

    intercept : bool, default=False
        Add a constant without penalty.

    priors : dict or sequence of float, default=None
        Shares of the classes in all points, as a dict of classes or ascending by class, up to a
        factor; the answers get these shares; at least 0; None is see class-shares; where gamma_i is
        positive.

    class_shares : {"free", "estimate", "labels", "equal"}, default="free"
        Shares of the classes without priors: free, those of the scores; labels, those of the
        labels; estimate, the mean of both; or equal; where gamma_i is positive.

    tolerance : float, default=None
        Violation, relative residual or gradient at which the solver stops; positive; None is 1e-06,
        of nystrom and matrix-free.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'laprls'
    _needs = ('points', 'graph', 'kernel')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        heat: Optional[float] = None,
        intrinsic_sigma: Optional[float] = None,
        hessian: Optional[int] = None,
        approximation: str = 'auto',
        landmarks: Optional[int] = None,
        features: Optional[int] = None,
        sampling: str = 'rpcholesky, of nystrom and matrix-free',
        intercept: bool = False,
        priors: Union[Mapping[Any, float], Sequence[float], None] = None,
        class_shares: str = 'free',
        tolerance: Optional[float] = None,
        max_iterations: Optional[int] = None,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.heat = heat
        self.intrinsic_sigma = intrinsic_sigma
        self.hessian = hessian
        self.approximation = approximation
        self.landmarks = landmarks
        self.features = features
        self.sampling = sampling
        self.intercept = intercept
        self.priors = priors
        self.class_shares = class_shares
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class LapsvmParameters(BaseEstimator):
    """Svm with the intrinsic norm (Belkin, Niyogi & Sindhwani 2006).

    After Belkin, Niyogi & Sindhwani 2006, equations (10) and (11).

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    gamma_i : float, default=None
        Weight γ_I of the intrinsic norm fᵀLᵖf; 0 leaves the graph out; at least 0; None is by
        cross-validation on the labels among 1e-06, 0.0001, 0.01, 1, with few labels 0.0001.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    heat : float, default=None
        t of the intrinsic norm fᵀexp(tL)f, the heat semigroup's, in place of fᵀLᵖf; positive; None
        is none: fᵀLᵖf; where gamma_i is positive.

    intrinsic_sigma : float, default=None
        σ of a second, sharper Gaussian kernel k_s whose norm fᵀK_s⁻¹f takes the place of fᵀLᵖf,
        without a graph (2006, Remark 4); positive; None is none: fᵀLᵖf; where gamma_i is positive.

    hessian : int, default=None
        Dimension of the manifold for the Hessian energy in place of fᵀLᵖf, for values that vary
        steadily along it (Kim, Steinke & Hein 2009); at least 1; None is none: fᵀLᵖf; where gamma_i
        is positive.

    approximation : {"auto", "exact", "nystrom", "fourier"}, default="auto"
        How the machine is fitted: exact, by landmarks, by random Fourier features, or by products
        with a Gram matrix that is not held; auto is what other values imply, or else exact up to
        5000 points and beyond by landmarks where that is faster.

    landmarks : int, default=None
        Number of points over which the function is expanded; with matrix-free, number of points of
        the preconditioner; at least 1; None is √n·ln n, 500 to 4000.

    features : int, default=None
        Number of random Fourier features, even; at least 2; None is 2000, of fourier.

    sampling : {"rpcholesky", "uniform", "kmeans++"}, default="rpcholesky, of nystrom and matrix-free"
        How landmarks are drawn.

    tolerance : float, default=1e-06
        Violation, relative residual or gradient at which the solver stops; positive.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'lapsvm'
    _needs = ('points', 'graph', 'kernel')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        heat: Optional[float] = None,
        intrinsic_sigma: Optional[float] = None,
        hessian: Optional[int] = None,
        approximation: str = 'auto',
        landmarks: Optional[int] = None,
        features: Optional[int] = None,
        sampling: str = 'rpcholesky, of nystrom and matrix-free',
        tolerance: float = 1e-06,
        max_iterations: Optional[int] = None,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.heat = heat
        self.intrinsic_sigma = intrinsic_sigma
        self.hessian = hessian
        self.approximation = approximation
        self.landmarks = landmarks
        self.features = features
        self.sampling = sampling
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class LapsvrParameters(BaseEstimator):
    """Svr with the intrinsic norm.

    After Drucker et al. 1997; Sindhwani, Niyogi & Belkin 2005 for the warped kernel.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    gamma_i : float, default=None
        Weight γ_I of the intrinsic norm fᵀLᵖf; 0 leaves the graph out; at least 0; None is by
        cross-validation on the labels among 1e-06, 0.0001, 0.01, 1, with few labels 0.0001.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    heat : float, default=None
        t of the intrinsic norm fᵀexp(tL)f, the heat semigroup's, in place of fᵀLᵖf; positive; None
        is none: fᵀLᵖf; where gamma_i is positive.

    intrinsic_sigma : float, default=None
        σ of a second, sharper Gaussian kernel k_s whose norm fᵀK_s⁻¹f takes the place of fᵀLᵖf,
        without a graph (2006, Remark 4); positive; None is none: fᵀLᵖf; where gamma_i is positive.

    hessian : int, default=None
        Dimension of the manifold for the Hessian energy in place of fᵀLᵖf, for values that vary
        steadily along it (Kim, Steinke & Hein 2009); at least 1; None is none: fᵀLᵖf; where gamma_i
        is positive.

    epsilon : float, default=0.1
        ε of the loss max(0, |y − f| − ε); positive.

    tolerance : float, default=1e-06
        Violation, relative residual or gradient at which the solver stops; positive.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'lapsvr'
    _needs = ('points', 'graph', 'kernel')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        heat: Optional[float] = None,
        intrinsic_sigma: Optional[float] = None,
        hessian: Optional[int] = None,
        epsilon: float = 0.1,
        tolerance: float = 1e-06,
        max_iterations: Optional[int] = None,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.heat = heat
        self.intrinsic_sigma = intrinsic_sigma
        self.hessian = hessian
        self.epsilon = epsilon
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class LapOneclassParameters(BaseEstimator):
    """Oneclass with the intrinsic norm.

    After Schölkopf et al. 2001; Sindhwani, Niyogi & Belkin 2005 for the warped kernel.

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    gamma_i : float, default=None
        Weight γ_I of the intrinsic norm fᵀLᵖf; 0 leaves the graph out; at least 0; None is by
        cross-validation on the labels among 1e-06, 0.0001, 0.01, 1, with few labels 0.0001.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    heat : float, default=None
        t of the intrinsic norm fᵀexp(tL)f, the heat semigroup's, in place of fᵀLᵖf; positive; None
        is none: fᵀLᵖf; where gamma_i is positive.

    intrinsic_sigma : float, default=None
        σ of a second, sharper Gaussian kernel k_s whose norm fᵀK_s⁻¹f takes the place of fᵀLᵖf,
        without a graph (2006, Remark 4); positive; None is none: fᵀLᵖf; where gamma_i is positive.

    hessian : int, default=None
        Dimension of the manifold for the Hessian energy in place of fᵀLᵖf, for values that vary
        steadily along it (Kim, Steinke & Hein 2009); at least 1; None is none: fᵀLᵖf; where gamma_i
        is positive.

    nu : float, default=0.5
        Share ν of the labeled points that may be outside; positive and at most 1.

    tolerance : float, default=1e-06
        Violation, relative residual or gradient at which the solver stops; positive.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is by the solver.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'lap-oneclass'
    _needs = ('points', 'graph', 'kernel')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        heat: Optional[float] = None,
        intrinsic_sigma: Optional[float] = None,
        hessian: Optional[int] = None,
        nu: float = 0.5,
        tolerance: float = 1e-06,
        max_iterations: Optional[int] = None,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.heat = heat
        self.intrinsic_sigma = intrinsic_sigma
        self.hessian = hessian
        self.nu = nu
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class VvmrParameters(BaseEstimator):
    """Several labels a point, or several values (Minh & Sindhwani 2011).

    After Minh & Sindhwani 2011, section 4 and equation (17).

    Parameters
    ----------
    gamma_a : float, default=None
        Weight γ_A of the ambient norm; positive; None is by cross-validation on the labels among
        1e-06, 0.0001, 0.01, 1, with few labels 0.01.

    gamma_i : float, default=None
        Weight γ_I of the intrinsic norm fᵀLᵖf; 0 leaves the graph out; at least 0; None is by
        cross-validation on the labels among 1e-06, 0.0001, 0.01, 1, with few labels 0.0001.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    penalty_coefficients : sequence of float, default=None
        c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf; at
        least 0; None is none: fᵀLᵖf; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    gamma_o : float, default=0.0
        Weight γ_O of the likeness of outputs: at 0 each output is fitted by itself; at 1 outputs
        without an edge, and the common part of all, are lost; it needs a graph of the outputs; from
        0 to 1.

    output_neighbors : int, default=None
        Number of other outputs, those with the nearest targets, that each output is joined with;
        for use without a graph of the outputs; at least 1; None is the graph that is given.

    loss : {"squared", "hinge"}, default="squared"
        Loss: squared; or hinge, for labels: a lapsvm for each label, fitted together where outputs
        are alike.

    approximation : {"auto", "exact", "nystrom", "matrix-free"}, default="auto"
        How the machine is fitted: exact, by landmarks, by random Fourier features, or by products
        with a Gram matrix that is not held; auto is what other values imply, or else exact up to
        5000 points and beyond by landmarks where that is faster.

    landmarks : int, default=None
        Number of points over which the function is expanded; with matrix-free, number of points of
        the preconditioner; at least 1; None is √n·ln n, 500 to 4000.

    sampling : {"rpcholesky", "uniform", "kmeans++"}, default="rpcholesky, of nystrom and matrix-free"
        How landmarks are drawn.

    tolerance : float, default=None
        Violation, relative residual or gradient at which the solver stops; between 0 and 1; None is
        1e-10, with loss hinge 1e-06.

    max_iterations : int, default=None
        Number of iterations after which the solver gives up; at least 1; None is 1000, with loss
        hinge by the solver.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    class_weights : sequence of float, default=None
        Of the graph of all points keep only edges within a class, times the weight of the class;
        all points must be labeled; at least 0.

    class_graphs : bool, default=False
        With class weights, find the neighbours of a point within its class, so that each class has
        a graph of its own (2006, section 6.2).

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'vvmr'
    _needs = ('points', 'graph', 'kernel', 'output-graph')

    def __init__(
        self,
        *,
        gamma_a: Optional[float] = None,
        gamma_i: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        power: int = 1,
        penalty_coefficients: Optional[Sequence[float]] = None,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        gamma_o: float = 0.0,
        output_neighbors: Optional[int] = None,
        loss: str = 'squared',
        approximation: str = 'auto',
        landmarks: Optional[int] = None,
        sampling: str = 'rpcholesky, of nystrom and matrix-free',
        tolerance: Optional[float] = None,
        max_iterations: Optional[int] = None,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        class_weights: Optional[Sequence[float]] = None,
        class_graphs: bool = False,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.power = power
        self.penalty_coefficients = penalty_coefficients
        self.scaling = scaling
        self.laplacian = laplacian
        self.gamma_o = gamma_o
        self.output_neighbors = output_neighbors
        self.loss = loss
        self.approximation = approximation
        self.landmarks = landmarks
        self.sampling = sampling
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.class_weights = class_weights
        self.class_graphs = class_graphs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class SsslParameters(BaseEstimator):
    """Least squares on eigenfunctions of a kernel over all points.

    After Ji et al. 2012, algorithm 1.

    Parameters
    ----------
    eigenfunctions : int, default=None
        Number of eigenfunctions; at least 1; None is by cross-validation from 1 to 200.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    landmarks : int, default=None
        Number of points over which the eigenfunctions are expanded, drawn by the seed; at least 1;
        None is all points.

    intercept : bool, default=False
        Add a constant to the eigenfunctions.

    folds : int, default=5
        Folds of the cross-validation inside the fit, at most the number of labels; at least 2.

    repeats : int, default=1
        Number of times that the labels are dealt into folds; at least 1.

    calibrate : int, "auto" or "none", default="auto"
        Folds in which labels are held out for probabilities and intervals; auto takes 10 where that
        is cheap.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _model = 'sssl'
    _needs = ('points', 'kernel')

    def __init__(
        self,
        *,
        eigenfunctions: Optional[int] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        landmarks: Optional[int] = None,
        intercept: bool = False,
        folds: int = 5,
        repeats: int = 1,
        calibrate: Union[int, str] = 'auto',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.eigenfunctions = eigenfunctions
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.landmarks = landmarks
        self.intercept = intercept
        self.folds = folds
        self.repeats = repeats
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class EmbedParameters(BaseEstimator):
    """Parameters of bigfit embed.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.

    laplacian : {"combinatorial", "normalized", "random-walk"}, default="random-walk"
        Laplacian; combinatorial is D−W.

    tolerance : float, default=1e-08
        Largest residual ‖Lv−λv‖ of a pair, relative to ‖L‖.

    alpha : float, default=None
        α of the weights W_ij/(q_i q_j)^α, from 0 to 1.

    gamma : float, default=None
        γ = γ_A/γ_I, the weight of the kernel's norm beside fᵀLf.

    power : int, default=1
        Power p of the Laplacian, with gamma.

    landmarks : int, default=None
        Points, drawn by random_state, that the functions are expansions over; None is all.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _command = 'embed'

    def __init__(
        self,
        *,
        n_components: int = 2,
        laplacian: str = 'random-walk',
        tolerance: float = 1e-08,
        alpha: Optional[float] = None,
        gamma: Optional[float] = None,
        power: int = 1,
        landmarks: Optional[int] = None,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.laplacian = laplacian
        self.tolerance = tolerance
        self.alpha = alpha
        self.gamma = gamma
        self.power = power
        self.landmarks = landmarks
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class ClusterParameters(BaseEstimator):
    """Parameters of bigfit cluster.

    Parameters
    ----------
    n_clusters : int or {"auto"}, default=2
        Number of clusters; auto chooses it by the largest gap between eigenvalues.

    rule : {"k-means", "sign", "sweep"}, default="k-means"
        How clusters are made of eigenvectors.

    row_normalize : bool, default=True
        Scale the rows of the eigenvectors to length 1 before k-means (Ng, Jordan & Weiss 2002).

    min_component : int, default=1
        Points that a component must have to get clusters.

    restarts : int, default=10
        Runs of k-means; the best one is kept.

    tolerance : float, default=1e-06
        Largest residual ‖Lv−λv‖ of an eigenpair, relative to ‖L‖.

    gamma : float, default=None
        γ = γ_A/γ_I, the weight of the kernel's norm beside fᵀLf.

    landmarks : int, default=None
        Points, drawn by random_state, that the functions are expansions over; None is all.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _command = 'cluster'

    def __init__(
        self,
        *,
        n_clusters: Union[int, str] = 2,
        rule: str = 'k-means',
        row_normalize: bool = True,
        min_component: int = 1,
        restarts: int = 10,
        tolerance: float = 1e-06,
        gamma: Optional[float] = None,
        landmarks: Optional[int] = None,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.rule = rule
        self.row_normalize = row_normalize
        self.min_component = min_component
        self.restarts = restarts
        self.tolerance = tolerance
        self.gamma = gamma
        self.landmarks = landmarks
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class KernelParameters(BaseEstimator):
    """Parameters of bigfit kernel.

    Parameters
    ----------
    gamma_i : float, default=1.0
        Weight γ_I of the intrinsic norm; 0 leaves the graph out.

    gamma_a : float, default=1.0
        Weight γ_A of the ambient norm; only γ_I/γ_A matters.

    power : int, default=1
        Power p of the Laplacian in fᵀLᵖf; at least 1; where gamma_i is positive.

    scaling : {"direct", "per-pair", "per-edge"}, default="direct"
        Take γ_I as it is, or divided by the square of the number of points, or by the sum Σ W_ij of
        the weights of the graph; where gamma_i is positive.

    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Definition of the Laplacian L: combinatorial is D − W; normalized is I − D^-½WD^-½, with
        which the experiments of the 2006 paper were made; where gamma_i is positive.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    kernel : {"linear", "polynomial", "gaussian", "laplace", "cosine", "precomputed"}, default="gaussian"
        Kernel between points; precomputed takes its values as X.

    sigma : float or {"median", "mean", "median/2", "median/4"}, default="median"
        Width σ of the kernel, or the rule for it: median or mean distance between points, or a half
        or a quarter of the median; positive; for kernel = gaussian or laplace.

    degree : int, default=3
        Degree of the polynomial kernel (scale·xᵀz + offset)^degree; at least 1; for kernel =
        polynomial.

    scale : float, default=1.0
        Scale of the polynomial kernel; positive; for kernel = polynomial.

    offset : float, default=0.0
        Offset of the polynomial kernel; at least 0; for kernel = polynomial.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _command = 'kernel'

    def __init__(
        self,
        *,
        gamma_i: float = 1.0,
        gamma_a: float = 1.0,
        power: int = 1,
        scaling: str = 'direct',
        laplacian: str = 'combinatorial',
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        kernel: str = 'gaussian',
        sigma: Union[float, str] = 'median',
        degree: int = 3,
        scale: float = 1.0,
        offset: float = 0.0,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_i = gamma_i
        self.gamma_a = gamma_a
        self.power = power
        self.scaling = scaling
        self.laplacian = laplacian
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.scale = scale
        self.offset = offset
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class DiffusionParameters(BaseEstimator):
    """Parameters of bigfit embed for diffusion maps.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.

    tolerance : float, default=1e-08
        Largest residual ‖Lv−λv‖ of a pair, relative to ‖L‖.

    alpha : float, default=1.0
        Takes the density of the points out: fully with 1, not at all with 0; from 0 to 1.

    time : float, default=1.0
        Time t of the diffusion, in |1 - λ|^t; at least 0.

    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard", "precomputed"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _command = 'embed'

    def __init__(
        self,
        *,
        n_components: int = 2,
        tolerance: float = 1e-08,
        alpha: float = 1.0,
        time: float = 1.0,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.tolerance = tolerance
        self.alpha = alpha
        self.time = time
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class NeighborsParameters(BaseEstimator):
    """Parameters of bigfit neighbors.

    Parameters
    ----------
    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    mode : {"distance", "connectivity"}, default="distance"
        Values of the graph: distances, or ones.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _command = 'neighbors'

    def __init__(
        self,
        *,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        mode: str = 'distance',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.method = method
        self.patience = patience
        self.recall = recall
        self.mode = mode
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class RadiusNeighborsParameters(BaseEstimator):
    """Parameters of bigfit neighbors with a radius.

    Parameters
    ----------
    radius : float, default=1.0
        Distance up to which points are neighbours; positive.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    mode : {"distance", "connectivity"}, default="distance"
        Values of the graph: distances, or ones.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _command = 'neighbors'

    def __init__(
        self,
        *,
        radius: float = 1.0,
        pca: int = 0,
        metric: str = 'euclidean',
        method: str = 'auto',
        patience: float = 60.0,
        mode: str = 'distance',
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.radius = radius
        self.pca = pca
        self.metric = metric
        self.method = method
        self.patience = patience
        self.mode = mode
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class FeaturesParameters(BaseEstimator):
    """Parameters of bigfit features.

    Parameters
    ----------
    hops : int, default=2
        Largest power k of A.

    normalization : {"symmetric", "row"}, default="symmetric"
        How weights become A.

    self_loops : bool, default=False
        Add 1 to the diagonal of the weights first.

    standardize : bool, default=None
        Divide each column of dense points by its standard deviation first; None is true where few
        columns hold 90 % of the variance, each with a standard deviation of more than 10 times the
        median one, else false.

    pca : int, default=None
        Project the points on this many principal components first; at least 0; None is 50 where X
        has more than 100 columns, else 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default=None
        Distance between points; None is euclidean, angle where X is sparse.

    n_neighbors : int, default=None
        Nearest neighbours of every point; at least 1; None is 10.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default=None
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice; None is
        either.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default=None
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph; None is self-tuning, one where the distance
        is no length.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default=None
        Search for neighbours: auto chooses, all but nn-descent are exact; None is auto.

    patience : float, default=None
        Seconds that an exact search may take before the method auto prefers nn-descent; positive;
        None is 60.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _command = 'features'

    def __init__(
        self,
        *,
        hops: int = 2,
        normalization: str = 'symmetric',
        self_loops: bool = False,
        standardize: Optional[bool] = None,
        pca: Optional[int] = None,
        metric: Optional[str] = None,
        n_neighbors: Optional[int] = None,
        radius: Optional[float] = None,
        symmetry: Optional[str] = None,
        weights: Optional[str] = None,
        method: Optional[str] = None,
        patience: Optional[float] = None,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.hops = hops
        self.normalization = normalization
        self.self_loops = self_loops
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose


class GraphParameters(BaseEstimator):
    """Parameters of bigfit graph.

    Parameters
    ----------
    standardize : bool, default=False
        Divide each column of dense points by its standard deviation first.

    pca : int, default=0
        Project the points on this many principal components first; at least 0.

    metric : {"euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard"}, default="euclidean"
        Distance between points.

    n_neighbors : int, default=8
        Nearest neighbours of every point; at least 1.

    radius : float, default=None
        Join all points at most this far apart, in place of nearest neighbours; positive.

    symmetry : {"either", "both", "sum"}, default="either"
        Join neighbours if one names the other, or only if each does; sum is either with the weights
        of both directions added, W + Wᵀ, so that an edge that both name counts twice.

    weights : {"one", "heat", "self-tuning", "umap", "gauss", "jaccard"}, default="one"
        Weights of the edges; umap and gauss are those of umap-learn and scanpy with n_neighbors one
        larger than here, jaccard those of PhenoGraph.

    method : {"auto", "brute", "kd-tree", "ball-tree", "nn-descent"}, default="auto"
        Search for neighbours: auto chooses, all but nn-descent are exact.

    patience : float, default=60.0
        Seconds that an exact search may take before the method auto prefers nn-descent; positive.

    recall : float, default=None
        Raise the effort of nn-descent until its estimated recall reaches this share; where auto
        chooses it, 0.95; from 0 to 1.

    t : float, default=None
        t of the heat weights exp(-d²/4t); positive; None is from the distances.

    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is the program's own seed, so that results repeat.

    n_jobs : int, default=None
        Threads; None and -1 stand for all processors. Results do not depend on it.

    memory_limit : str or int, default=None
        Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before
        the work begins. None is what the machine has.

    verbose : int, default=0
        1 prints the stages of a run on stderr, 2 their progress too.
    """

    _command = 'graph'

    def __init__(
        self,
        *,
        standardize: bool = False,
        pca: int = 0,
        metric: str = 'euclidean',
        n_neighbors: int = 8,
        radius: Optional[float] = None,
        symmetry: str = 'either',
        weights: str = 'one',
        method: str = 'auto',
        patience: float = 60.0,
        recall: Optional[float] = None,
        t: Optional[float] = None,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory_limit: Union[str, int, None] = None,
        verbose: int = 0,
    ) -> None:
        self.standardize = standardize
        self.pca = pca
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.symmetry = symmetry
        self.weights = weights
        self.method = method
        self.patience = patience
        self.recall = recall
        self.t = t
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose
