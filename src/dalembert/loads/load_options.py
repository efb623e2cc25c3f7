"""What a user chooses when a load is shared: weights, limits, contacts, held forces, times; checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError, ShapeError
from ..mechanism.assembled import Assembled
from ..options import mapping, numbers_by_name
from ..wording import listed
from .load_conditions import Contact, HeldForce, Squeeze

OBJECTIVES = {"norm": None, "ratio": None}


def drives_of(mechanism: Assembled) -> tuple[str, ...]:
    """The driven joints; fewer than freedoms are refused."""
    names, n = mechanism.actuated, mechanism.n
    if not mechanism.closures:
        raise ModelError(
            f"distribute_load: {mechanism.name!r} has no closures, so each drive carries what inverse_dynamics says."
        )
    if len(names) < n:
        raise ModelError(
            f"distribute_load: {len(names)} drives found ({listed(names) or 'none'}), but {mechanism.name!r} has {n} freedoms, "
            "and each needs one at least. Name more joints in actuated=."
        )
    return names


def weight_matrix(weights: Any, names: tuple[str, ...]) -> FloatArray:
    """W of uᵀ W u: from nothing, one weight for each drive or for some by name, or the whole matrix."""
    m = len(names)
    if weights is None:
        return np.eye(m)
    if isinstance(weights, Mapping):
        weights = numbers_by_name("weights", "drive", weights, names, np.ones(m))
    found = checks.numbers("weights", weights)
    if found.shape not in ((m,), (m, m)):
        raise ShapeError(
            f"weights: shape {found.shape} found, ({m},) or ({m}, {m}) expected: one for each drive ({listed(names)})."
        )
    W = np.diag(found) if found.ndim == 1 else checks.array("weights", found, (m, m))
    if not np.allclose(W, W.T, rtol=1e-12, atol=0) or not np.isfinite(W).all() or np.linalg.eigvalsh(W)[0] <= 0:
        raise ModelError("weights: a matrix found that is not symmetric and positive definite; so its least has no meaning.")
    return W


def torque_limits(limits: Any, mechanism: Assembled, names: tuple[str, ...]) -> FloatArray:
    """The largest torque of each drive: the model's, others for some by name, or one for all or for each."""
    joints = {joint.name: joint for joint in mechanism.robot.structure.coordinates}
    own = np.array([joints[name].limits.effort for name in names])
    if limits is None:
        found = own
    elif isinstance(limits, Mapping):
        found = numbers_by_name("limits", "drive", limits, names, own)
    else:
        given = checks.numbers("limits", limits)
        if given.shape not in ((), (len(names),)):
            raise ShapeError(
                f"limits: shape {given.shape} found, ({len(names)},) expected: one for each drive ({listed(names)})."
            )
        found = np.broadcast_to(given, (len(names),))
    for name, value in zip(names, found, strict=True):
        if not value > 0:
            raise ModelError(
                f"limits: {name!r} has a largest torque of {value:g}; a number above 0 is expected, inf where there is no limit. "
                f"Try limits={{{name!r}: 10.0}}, or leave it out of actuated=."
            )
    return np.array(found)


def contacts_of(contacts: Any) -> dict[str, Contact]:
    """Contacts by the names of closures."""
    found = {} if contacts is None else mapping("contacts", contacts, "{'left_tip': dal.Contact(normal=(1, 0, 0), friction=0.5)}")
    return {name: checks.instance(f"contacts: {name!r}", contact, Contact) for name, contact in found.items()}


def held_of(internal: Any) -> tuple[HeldForce | Squeeze, ...]:
    """Forces that are held: one, or several."""
    given = (internal,) if isinstance(internal, HeldForce | Squeeze) else tuple(checks.items("internal", internal, _HELD))
    for entry in given:
        if not isinstance(entry, HeldForce | Squeeze):
            raise ModelError(f"internal: {checks.shown(entry)} found; {_HELD} is expected.")
    return given


_HELD = "a sequence of HeldForce(...) and Squeeze(...)"


def times_of(t: Any, batch: tuple[int, ...]) -> FloatArray | None:
    """The time of each row, for messages."""
    if t is None:
        return None
    found = checks.numbers("t", t)
    try:
        return np.broadcast_to(found, batch).reshape(-1)
    except ValueError:
        raise ShapeError(f"t: shape {found.shape} found, {batch} expected: the time of each row.") from None


__all__ = ["OBJECTIVES", "contacts_of", "drives_of", "held_of", "times_of", "torque_limits", "weight_matrix"]
