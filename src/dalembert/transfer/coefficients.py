"""Influence coefficients of maps: made, joined, composed, inverted; first, second and third order [Freeman, Ch. III]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray, items, whole_number
from ..dynamics import Influence
from ..errors import ShapeError
from .given import D_of, H_of, Map, array_of, batch_of, influence_of, known_orders, together
from .products import dotted, form, squeezed, times
from .ranks import inverted, names_of, square


class Rates(NamedTuple):
    """Velocity, acceleration and jerk of coordinates, each of shape (..., r), as far as the motion was given."""

    velocity: FloatArray
    acceleration: FloatArray | None = None
    jerk: FloatArray | None = None

    def __repr__(self) -> str:
        return brief(self)


def linear(G: ArrayLike, *, order: int = 2) -> Influence:
    """The coefficients of a linear map u = G q (gears, absolute angles, some of the coordinates themselves): H and D are zero.

    Parameters
    ----------
    G : array_like, shape (..., r, n)
    order : {1, 2, 3}
        G alone; G and H; or G, H and D.

    Returns
    -------
    Influence

    Examples
    --------
    >>> import numpy as np
    >>> from dalembert import transfer
    >>> transfer.linear(np.eye(4)[[0, 3]])  # the first and the last of four coordinates
    Influence(G: (2, 4), H: (2, 4, 4), D=None)
    """
    G = array_of("G", G, "r", "n")
    n = G.shape[-1]
    shapes = [(*G.shape, *[n] * k) for k in range(1, whole_number("order", order, 1, 3))]
    return Influence(G, *(np.zeros(shape) for shape in shapes))


def rows(influence: Map, which: Sequence[int]) -> Influence:
    """Some of the new coordinates, by their numbers.

    Parameters
    ----------
    influence : Influence, or tuple of array_like, shape (..., r, n), (..., r, n, n), ...
    which : sequence of int
        From 0 to r − 1; the order is kept.

    Returns
    -------
    Influence

    Examples
    --------
    >>> import dalembert as dal
    >>> tool = dal.influence(dal.robots.scara(), [0.3, 0.5, 0.1, 0.0])
    >>> dal.transfer.rows(tool, [0, 1, 2, 5])  # position, and the angle about z
    Influence(G: (4, 4), H: (4, 4, 4), D=None)
    """
    found = influence_of("influence", influence)
    r = found.G.shape[-2]
    chosen = [whole_number("which", k, 0, r - 1) for k in items("which", which, "a sequence of numbers of rows")]
    return Influence(*(np.take(x, np.array(chosen, int), axis=-2 - k) for k, x in enumerate(_arrays(found))))


def stack(*maps: Map) -> Influence:
    """One map of several over the same old coordinates: their new coordinates one after another [Freeman, Eq. 4-11, 4-15].

    Parameters
    ----------
    maps : Influence, or tuple of array_like, shape (..., r, n), (..., r, n, n), ...
        The lowest order of them is that of the result.

    Returns
    -------
    Influence

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> robot = dal.robots.pelican()
    >>> tip = dal.transfer.rows(dal.influence(robot, [0.3, 0.5]), [0])
    >>> dal.transfer.stack(tip, dal.transfer.linear(np.eye(2)[[1]]))  # x of the tip, and the second joint
    Influence(G: (2, 2), H: (2, 2, 2), D=None)
    """
    if not maps:
        raise ShapeError("stack: no map found; one or more are expected.")
    found = [influence_of(f"map {k}", one) for k, one in enumerate(maps, 1)]
    widths = {one.G.shape[-1] for one in found}
    if len(widths) > 1:
        raise ShapeError(f"stack: maps over {sorted(widths)} coordinates found; the same old coordinates are expected.")
    together(**{f"map {k}": batch_of(one) for k, one in enumerate(found, 1)})
    order = min(known_orders(one) for one in found)
    return Influence(*(_joined([_arrays(one)[k] for one in found], k + 2) for k in range(order)))


def _joined(arrays: Sequence[FloatArray], own: int) -> FloatArray:
    """Arrays with `own` axes after those of the batch, one after another along the first of these."""
    batch = np.broadcast_shapes(*(array.shape[:-own] for array in arrays))
    return np.concatenate([np.broadcast_to(array, (*batch, *array.shape[-own:])) for array in arrays], axis=-own)


def rates(influence: Map, qd: ArrayLike, qdd: ArrayLike | None = None, *, qddd: ArrayLike | None = None) -> Rates:
    """The motion of the new coordinates from that of the old ones.

        u̇ = G q̇                                             [Freeman, Eq. 2-7]
        ü = G q̈ + q̇ᵀ H q̇                                    [Freeman, Eq. 2-27]
        u⃛ = G q⃛ + q̈ᵀ (H + 2 Hᵀ) q̇ + (q̇ᵀ D q̇) q̇              [Freeman, Eq. 2-44]

    With `inverse(influence)` in place of the map it goes the other way, and solves (3-12), (3-13) and (3-46).

    Parameters
    ----------
    influence : Influence, or tuple of array_like, shape (..., r, n), (..., r, n, n), ...
    qd, qdd, qddd : array_like, shape (..., n)
        Velocities, accelerations and jerks; leading axes broadcast.

    Returns
    -------
    Rates
        With arrays of shape (..., r).

    Examples
    --------
    >>> import dalembert as dal
    >>> q, qd, qdd = [0.3, 0.5], [1.0, -2.0], [0.2, 0.5]
    >>> tip = dal.transfer.rows(dal.influence(dal.robots.pelican(), q), [0, 1])
    >>> u = dal.transfer.rates(tip, qd, qdd)
    >>> dal.transfer.rates(dal.transfer.inverse(tip), u.velocity, u.acceleration).acceleration.round(12)
    array([0.2, 0.5])
    """
    order = 1 + (qdd is not None) + (qddd is not None)
    given = dict(zip(("qd", "qdd", "qddd")[:order], (qd, qdd, qddd), strict=False))  # a gap is refused as no array
    found = influence_of("influence", influence, order)
    motion = {name: array_of(name, x, str(found.G.shape[-1])) for name, x in given.items()}
    together(influence=batch_of(found), **{name: x.shape[:-1] for name, x in motion.items()})
    return Rates(*(_RATES[k](found, *list(motion.values())[: k + 1]) for k in range(order)))


def _velocity(influence: Influence, qd: FloatArray) -> FloatArray:
    return times(influence.G, qd)  # (2-7)


def _acceleration(influence: Influence, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    return times(influence.G, qdd) + form(H_of(influence), qd, qd)  # (2-27)


def _jerk(influence: Influence, qd: FloatArray, qdd: FloatArray, qddd: FloatArray) -> FloatArray:
    H, along = H_of(influence), qd[..., None, :]
    cubic = times(form(D_of(influence), along, along), qd)
    return times(influence.G, qddd) + form(H, qdd, qd) + 2 * form(H, qd, qdd) + cubic  # (2-44)


_RATES: tuple[Any, ...] = (_velocity, _acceleration, _jerk)


def compose(outer: Map, inner: Map) -> Influence:
    """The coefficients of one map after another: of w over q, from those of w over u (outer) and of u over q (inner).

    Parameters
    ----------
    outer, inner : Influence, or tuple of array_like
        Of shapes (..., s, r), (..., s, r, r), ... and (..., r, n), (..., r, n, n), ...; the lower order of both is that of the
        result.

    Returns
    -------
    Influence
        With G of shape (..., s, n), and so on.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> tip = dal.transfer.rows(dal.influence(dal.robots.pelican(), [0.3, 0.5]), [0, 1])
    >>> itself = dal.transfer.compose(dal.transfer.inverse(tip), tip)
    >>> np.allclose(itself.G, np.eye(2)), np.allclose(itself.H, 0.0)
    (True, True)
    """
    first, second = influence_of("outer", outer), influence_of("inner", inner)
    if first.G.shape[-1] != second.G.shape[-2]:
        found = f"outer is over {first.G.shape[-1]} coordinates, but inner gives {second.G.shape[-2]}"
        raise ShapeError(f"compose: {found}; as many are expected. Is their order the other way round?")
    together(outer=batch_of(first), inner=batch_of(second))
    return composed(first, second)


def composed(outer: Influence, inner: Influence) -> Influence:
    """The chain rule, as far as both maps go."""
    order = min(known_orders(outer), known_orders(inner))
    arrays = [outer.G @ inner.G]  # (3-21)
    if order > 1:
        arrays.append(squeezed(inner.G, H_of(outer)) + dotted(outer.G, H_of(inner)))
    if order > 2:
        arrays.append(_turned(outer, inner) + _dotted_cube(outer.G, D_of(inner)))
    return Influence(*arrays)


def _turned(outer: Influence, inner: Influence) -> FloatArray:
    """∂³w/∂q³ without its term in D of the inner map [theory: transfer, Eq. 5]; K is H of the outer map, here and below.

    The index that varies last comes first, as in D itself; for rotations none of these arrays is symmetric.
    """
    G, H, K = inner.G, H_of(inner), H_of(outer)
    down, across = G.swapaxes(-1, -2)[..., None, :, :], G[..., None, :, :]
    cube = _along_first(G, down[..., None, :, :] @ D_of(outer) @ across[..., None, :, :])
    later = dotted(down @ K, H[..., None, :, :, :])  # [r, x, y, z] = Σ K[r, m, n] G[m, x] H[n, y, z]
    sooner = _flat(H).swapaxes(-1, -2)[..., None, :, :] @ (K @ across)  # [r, ca, b] = Σ K[r, m, n] H[m, c, a] G[n, b]
    return cube + later + later.swapaxes(-3, -2) + sooner.reshape(later.shape)


def _along_first(G: FloatArray, D: FloatArray) -> FloatArray:
    """Σ_l D[r, l, a, b] G[l, c], as [r, c, a, b]."""
    return dotted(G.swapaxes(-1, -2)[..., None, :, :], D)


def _flat(H: FloatArray) -> FloatArray:
    """The last two axes as one."""
    return H.reshape(*H.shape[:-2], H.shape[-2] * H.shape[-1])


def _dotted_cube(A: FloatArray, D: FloatArray) -> FloatArray:
    """A • D for an array of four axes: Σ_n A[p, n] D[n, c, a, b]."""
    n, tail = D.shape[-4], D.shape[-3:]
    return dotted(A, D.reshape(*D.shape[:-4], n, tail[0], tail[1] * tail[2])).reshape(*_batch(A, D), A.shape[-2], *tail)


def _batch(A: FloatArray, D: FloatArray) -> tuple[int, ...]:
    return np.broadcast_shapes(A.shape[:-2], D.shape[:-4])


def inverse(influence: Map, *, new: Sequence[str] | None = None, old: Sequence[str] | None = None) -> Influence:
    """The coefficients of the inverse map: of the old coordinates over the new ones, as far as those of the map go.

        [G^q_u]   = [G^u_q]⁻¹                                             [Freeman, Eq. 3-15]
        [H^q_uu]  = −[G^u_q]⁻ᵀ ([G^u_q]⁻¹ • [H^u_qq]) [G^u_q]⁻¹            [Freeman, Eq. 3-19]

    and D of the third order, which Freeman leaves as a function of G, H, D (3-47), from the third derivative of q(u(q)) = q.

    Parameters
    ----------
    influence : Influence, or tuple of array_like, shape (..., n, n), (..., n, n, n), ...
    new, old : sequence of str, optional
        Names of the new and the old coordinates, for messages.

    Returns
    -------
    Influence

    Raises
    ------
    SingularError
        Where G is singular; the message names the directions that vanish. In a batch such entries are NaN, and a
        `DalembertWarning` counts them.
    ShapeError
        For a G that is not square.

    Examples
    --------
    >>> import dalembert as dal
    >>> tip = dal.transfer.rows(dal.influence(dal.robots.pelican(), [0.3, 0.5]), [0, 1])
    >>> dal.transfer.inverse(tip)
    Influence(G: (2, 2), H: (2, 2, 2), D=None)
    """
    return inverse_of("inverse", influence_of("influence", influence), new, old)


def inverse_of(subject: str, influence: Influence, new: Sequence[str] | None, old: Sequence[str] | None) -> Influence:
    """The inverse of a map that was looked at, for a function of this name."""
    square(subject, influence.G)
    back = inverted(subject, influence.G, names_of(influence.G, new, old))  # (3-15)
    arrays, order = [back], known_orders(influence)
    if order > 1:
        arrays.append(-squeezed(back, dotted(back, H_of(influence))))  # (3-19)
    if order > 2:
        arrays.append(-_dotted_cube(back, _turned(influence, Influence(*arrays))))  # (3-47)
    return Influence(*arrays)


def dependent(u: Map, influence: Map, *, new: Sequence[str] | None = None, old: Sequence[str] | None = None) -> Influence:
    """The coefficients of any parameter u over the new coordinates, from those over the old ones.

        [G^u_q]   = [G^u_φ] [G^q_φ]⁻¹                                                 [Freeman, Eq. 3-22]
        [H^u_qq]  = [G^q_φ]⁻ᵀ ([H^u_φφ] − [G^u_φ] [G^q_φ]⁻¹ • [H^q_φφ]) [G^q_φ]⁻¹        [Freeman, Eq. 3-26]

    Parameters
    ----------
    u : Influence, or tuple of array_like, shape (..., r, n), (..., r, n, n), ...
        Of the parameter over the old coordinates.
    influence : Influence, or tuple of array_like, shape (..., n, n), (..., n, n, n), ...
        Of the new coordinates over the old ones.
    new, old
        As in `inverse`, which see for singular maps too.

    Returns
    -------
    Influence
        With G of shape (..., r, n), and so on.

    Examples
    --------
    >>> import dalembert as dal
    >>> robot, q = dal.robots.pelican(), [0.3, 0.5]
    >>> tip = dal.transfer.rows(dal.influence(robot, q), [0, 1])
    >>> elbow = dal.influence(robot, q, "link2", kind="point")
    >>> dal.transfer.dependent(elbow, tip)
    Influence(G: (3, 2), H: (3, 2, 2), D=None)
    """
    own, found = influence_of("u", u), influence_of("influence", influence)
    n, m = own.G.shape[-1], found.G.shape[-1]
    if n != m:
        raise ShapeError(f"dependent: u is over {n} old coordinates, the new ones over {m}; the same are expected.")
    together(u=batch_of(own), influence=batch_of(found))
    return composed(own, inverse_of("dependent", found, new, old))


def _arrays(influence: Influence) -> list[FloatArray]:
    return [array for array in influence if array is not None]


__all__ = ["Rates", "compose", "composed", "dependent", "inverse", "inverse_of", "linear", "rates", "rows", "stack"]
