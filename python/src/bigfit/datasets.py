"""Points to try things on, and points of files of other programs."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._run import Call

__all__ = ["make_digits", "read_h5ad"]


def make_digits(n_samples: int = 2000, *, random_state: Any = None) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Draw images of digits in the manner of handwriting, as ``bigfit demo`` does.

    Parameters
    ----------
    n_samples : int, default=2000
        At least 2000.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of uint8, shape (n_samples, 784)
    y : ndarray of int64, shape (n_samples,)
    """
    with Call("demo", random_state=random_state) as call:
        call.flag("points", n_samples)
        call.output("-o", "demo")
        call.run()
        return call.array("demo/X.npy"), call.array("demo/y.npy")


def read_h5ad(path: Union[str, os.PathLike[str]], *, use_rep: Optional[str] = None) -> tuple[Any, NDArray[Any]]:
    """Read the points of an .h5ad file by anndata, where that is installed.

    Parameters
    ----------
    path : str or Path
    use_rep : str, default=None
        Name of a representation in ``obsm``, as "X_pca"; None is the matrix X.

    Returns
    -------
    X : ndarray or csr_matrix of shape (n_obs, n_features)
    names : ndarray of str, shape (n_obs,)
        Names of the observations.
    """
    try:
        import anndata
    except ImportError as error:
        raise ImportError("read_h5ad needs the package anndata; install it, or save X by numpy.save") from error
    held = anndata.read_h5ad(path)
    if use_rep is not None and use_rep not in held.obsm:
        raise ValueError(f"{path} has no representation {use_rep!r}; it has {', '.join(held.obsm) or 'none'}")
    X = held.X if use_rep is None else held.obsm[use_rep]
    if X is None:
        raise ValueError(f"{path} has no X; name a representation by use_rep: {', '.join(held.obsm) or 'it has none'}")
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    else:
        X = np.asarray(X)
    return X, held.obs_names.to_numpy()
