"""Products of matrices with arrays of planes [Freeman, App. A], batch axes first.

An array C of shape (..., N, M, K) is N planes, M x K each. These are the only products the transfer of coordinates needs.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import ShapeError
from .given import array_of, together


def dot(A: ArrayLike, C: ArrayLike) -> FloatArray:
    """The generalised dot product ([A] • [C])_p = Σ_n A_pn [C]_n: planes times numbers, then summed [Freeman, App. A].

    It takes a matrix inside a quadratic form: A (bᵀ C b) = bᵀ (A • C) b.

    Parameters
    ----------
    A : array_like, shape (..., P, N)
    C : array_like, shape (..., N, M, K)

    Returns
    -------
    ndarray, shape (..., P, M, K)

    Examples
    --------
    >>> import numpy as np
    >>> from dalembert import transfer
    >>> A, C, b = np.array([[1.0, 2.0]]), np.arange(8.0).reshape(2, 2, 2), np.array([1.0, -1.0])
    >>> transfer.dot(A, C)
    array([[[ 8., 11.],
            [14., 17.]]])
    >>> A @ transfer.quadratic(C, b, b) == transfer.quadratic(transfer.dot(A, C), b, b)
    array([ True])
    """
    A, C = array_of("A", A, "P", "N"), array_of("C", C, "N", "M", "K")
    if A.shape[-1] != C.shape[-3]:
        raise ShapeError(f"A: {A.shape[-1]} columns found, but C has {C.shape[-3]} planes; one column for each is expected.")
    together(A=A.shape[:-2], C=C.shape[:-3])
    return dotted(A, C)


def congruent(D: ArrayLike, C: ArrayLike) -> FloatArray:
    """[D]ᵀ [C] [D], plane by plane [Freeman, App. A].

    Parameters
    ----------
    D : array_like, shape (..., M, K)
    C : array_like, shape (..., N, M, M)

    Returns
    -------
    ndarray, shape (..., N, K, K)

    Examples
    --------
    >>> import numpy as np
    >>> from dalembert import transfer
    >>> transfer.congruent([[1.0], [2.0]], np.ones((3, 2, 2))).ravel()
    array([9., 9., 9.])
    """
    D, C = array_of("D", D, "M", "K"), array_of("C", C, "N", "M", "M")
    if D.shape[-2] != C.shape[-1]:
        raise ShapeError(f"D: {D.shape[-2]} rows found, but planes of C have {C.shape[-1]}; as many are expected.")
    together(D=D.shape[:-2], C=C.shape[:-3])
    return squeezed(D, C)


def quadratic(C: ArrayLike, a: ArrayLike, b: ArrayLike) -> FloatArray:
    """aᵀ [C] b, plane by plane [Freeman, App. A].

    Parameters
    ----------
    C : array_like, shape (..., N, M, K)
    a, b : array_like, shape (..., M) and (..., K)

    Returns
    -------
    ndarray, shape (..., N)

    Examples
    --------
    >>> import numpy as np
    >>> from dalembert import transfer
    >>> transfer.quadratic(np.arange(8.0).reshape(2, 2, 2), [1.0, 0.0], [0.0, 1.0])
    array([1., 5.])
    """
    C = array_of("C", C, "N", "M", "K")
    m, k = map(str, C.shape[-2:])
    a, b = array_of("a", a, m), array_of("b", b, k)
    together(C=C.shape[:-3], a=a.shape[:-1], b=b.shape[:-1])
    return form(C, a, b)


def symmetric(P: ArrayLike) -> FloatArray:
    """The symmetric part of each plane, which alone acts in q̇ᵀ [P] q̇: of an inertia power array, the Christoffel symbols.

    Parameters
    ----------
    P : array_like, shape (..., M, M)
        A plane, or with more axes before it several.

    Returns
    -------
    ndarray, of the same shape

    Examples
    --------
    >>> from dalembert import transfer
    >>> transfer.symmetric([[0.0, 1.0], [3.0, 0.0]])
    array([[0., 2.],
           [2., 0.]])
    """
    P = array_of("P", P, "M", "M")
    return (P + P.swapaxes(-1, -2)) / 2


def times(A: FloatArray, x: FloatArray) -> FloatArray:
    """A x, for vectors with batch axes."""
    return (A @ x[..., None])[..., 0]


def dotted(A: FloatArray, C: FloatArray) -> FloatArray:
    """A • C, as one product of matrices."""
    flat = A @ C.reshape(*C.shape[:-2], C.shape[-2] * C.shape[-1])
    return flat.reshape(*flat.shape[:-1], *C.shape[-2:])


def squeezed(D: FloatArray, C: FloatArray) -> FloatArray:
    """Dᵀ C D, plane by plane."""
    return D.swapaxes(-1, -2)[..., None, :, :] @ C @ D[..., None, :, :]


def form(C: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """aᵀ C b, plane by plane."""
    return times((C @ b[..., None, :, None])[..., 0], a)


__all__ = ["congruent", "dot", "dotted", "form", "quadratic", "squeezed", "symmetric", "times"]
