"""Contacts only push, and do not slip; closures that hold too much are told of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import dalembert as dal
from tests.mechanisms_with_drives import motion, three_fingers, two_arms, two_fingers

FRICTION = 0.6
PLANAR = {"left_tip": dal.Contact((1, 0, 0), FRICTION), "right_tip": dal.Contact((-1, 0, 0), FRICTION)}
SPATIAL = {f"tip_{k}": dal.Contact((0, 0, 1), FRICTION) for k in "abc"}


def normal_and_sideways(mechanism, q, shared, contacts):
    """Parts of each contact's force, with its normal from poses of the tree."""
    x, found = mechanism.assemble(q).x, []
    for name, contact in contacts.items():
        k = shared.closures.index(name)
        link, X = mechanism.closures[k].between[1]
        R = dal.forward_kinematics(mechanism.robot, x, link)[..., :3, :3] @ X[:3, :3]
        force = shared.wrenches[..., k, :3]
        normal = (force * (R @ contact.normal)).sum(axis=-1)
        found.append((normal, np.sqrt(np.maximum((force**2).sum(axis=-1) - normal**2, 0.0))))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("make, contacts", [(two_fingers, PLANAR), (three_fingers, SPATIAL)])
@pytest.mark.parametrize("objective", ["norm", "ratio"])
def test_forces_stay_within_their_cones(make, contacts, objective):
    mechanism = make()
    q, qd, qdd = motion(mechanism, 12, 0.01)
    options = {"limits": 50.0} if objective == "ratio" else {}
    shared = dal.distribute_load(mechanism, q, qd, qdd, contacts=contacts, objective=objective, **options)
    assert shared.feasible.all()
    assert shared.contacts == tuple(contacts)
    for k, (normal, sideways) in enumerate(normal_and_sideways(mechanism, q, shared, contacts)):
        assert (normal > 0).all()
        slack = FRICTION * normal - sideways
        assert (slack > -1e-7 * normal.max()).all()  # a cone's programme is solved to 1e-9, its two sides are subtracted
        assert (shared.at_contact[:, k] == (slack < 1e-5 * normal.max())).all()
    assert shared.at_contact.any()
    free = dal.distribute_load(mechanism, q, qd, qdd, objective=objective, **options)
    assert (free.objective <= shared.objective * (1 + 1e-9)).all()
    assert (free.objective < 0.999 * shared.objective).any()


def test_a_planar_contact_without_friction_only_pushes():
    mechanism = two_fingers()
    q, qd, qdd = motion(mechanism, 5)
    contacts = {"left_tip": dal.Contact((1, 0, 0), least_normal=7.0), "right_tip": dal.Contact((-1, 0, 0))}
    shared = dal.distribute_load(mechanism, q, qd, qdd, contacts=contacts)
    normal, _ = normal_and_sideways(mechanism, q, shared, contacts)[0]
    assert normal == pytest.approx(np.full(5, 7.0), rel=1e-9)
    assert shared.at_contact.tolist() == [[True, False]] * 5


def test_a_normal_may_be_given_in_the_world():
    mechanism = two_fingers()
    q, qd, qdd = (array[0] for array in motion(mechanism, 1))
    contacts = {"left_tip": dal.Contact((1, 1, 0), least_normal=8.0, axes="world")}
    force = dal.distribute_load(mechanism, q, qd, qdd, contacts=contacts).wrenches[0]
    assert force[:3] @ [1, 1, 0] / np.sqrt(2) == pytest.approx(8.0, rel=1e-9)


@pytest.mark.parametrize("make, contacts", [(two_fingers, PLANAR), (three_fingers, SPATIAL)])
def test_no_grasp_with_smaller_torques_holds_the_contacts(make, contacts):
    mechanism = make()
    q, qd, qdd = motion(mechanism, 4, 0.01)
    shared = dal.distribute_load(mechanism, q, qd, qdd, contacts=contacts)
    for row in range(len(q)):
        free = dal.distribute_load(mechanism, q[row], qd[row], qdd[row])
        slope = influence(mechanism, (q[row], qd[row], qdd[row]), free)
        normals = [(R_of(mechanism, q[row], free, name) @ contact.normal) for name, contact in contacts.items()]
        numbers = [free.closures.index(name) for name in contacts]

        def margins(z, free=free, slope=slope, normals=normals, numbers=numbers):
            forces = free.wrenches[:, :3] + slope @ z
            along = [forces[k] @ n for k, n in zip(numbers, normals, strict=True)]
            across = [forces[k] - a * n for k, a, n in zip(numbers, along, normals, strict=True)]
            return [FRICTION**2 * a**2 - t @ t for a, t in zip(along, across, strict=True)] + along

        start = shared.internal[row] * 1.1
        inside = [{"type": "ineq", "fun": margins}]
        other = minimize(lambda z: z @ z, start, constraints=inside, method="SLSQP", options={"ftol": 1e-15, "maxiter": 200})
        assert shared.objective[row] == pytest.approx(free.objective + other.fun, rel=1e-6)  # where SLSQP stops
        check_optimality(shared.internal[row], margins)


def check_optimality(z, margins):
    """2z = Σ μ ∇margin over the margins that are used up, with μ ≥ 0: gradients by differences, of functions of second degree."""
    step = 1e-3
    used = [k for k, margin in enumerate(margins(z)) if abs(margin) < 1e-6 * (1 + z @ z)]
    columns = np.array([(np.array(margins(z + e)) - margins(z - e))[used] / (2 * step) for e in step * np.eye(len(z))])
    mu, *_ = np.linalg.lstsq(columns, 2 * z, rcond=None)
    assert np.abs(columns @ mu - 2 * z).max() < 1e-8 * max(1.0, np.abs(z).max())
    assert (mu > -1e-8).all()


def R_of(mechanism, q, shared, name):
    link, X = mechanism.closures[shared.closures.index(name)].between[1]
    return dal.forward_kinematics(mechanism.robot, mechanism.assemble(q).x, link)[:3, :3] @ X[:3, :3]


def influence(mechanism, state, free):
    """Forces at the closures by the internal coordinates, (K, 3, r): torques and forces are affine in each other, so that as many
    other choices tell it.
    """
    rng = np.random.default_rng(1)
    r = free.internal.size
    others = [dal.distribute_load(mechanism, *state, weights=rng.uniform(0.2, 5.0, len(free.names))) for _ in range(r + 3)]
    Z = np.array([other.internal - free.internal for other in others])
    F = np.array([(other.wrenches - free.wrenches)[:, :3].ravel() for other in others])
    slope = np.linalg.lstsq(Z, F, rcond=None)[0]
    assert pytest.approx(F, abs=1e-9) == Z @ slope
    return slope.T.reshape(len(free.closures), 3, r)


@pytest.mark.slow
def test_closures_that_hold_too_much_are_told_of():
    mechanism = two_arms("weld")
    q, qd, qdd = motion(mechanism, 3)
    shared = dal.distribute_load(mechanism, q, qd, qdd)
    assert shared.undetermined == ("left_hand", "right_hand")
    plain = dal.distribute_load(two_arms(), q, qd, qdd)
    assert plain.undetermined == ()
    assert shared.torques == pytest.approx(plain.torques, rel=1e-9, abs=1e-9)
    assert shared.wrenches[..., [0, 1, 5]] == pytest.approx(plain.wrenches[..., [0, 1, 5]], rel=1e-8, abs=1e-8)


def test_a_force_that_redundant_closures_share_cannot_be_held():
    mechanism = two_arms("weld")
    q, qd, qdd = (array[0] for array in motion(mechanism, 1))
    with pytest.raises(
        dal.DalembertError, match="'left_hand' is not told by the motion and set by no drive: left_hand z, .*hold less"
    ):
        dal.distribute_load(mechanism, q, qd, qdd, internal=dal.HeldForce("left_hand", (0, 0, 1), 1.0))
    with pytest.raises(dal.DalembertError, match="contacts: the force of closure 'right_hand' is not told"):
        dal.distribute_load(mechanism, q, qd, qdd, contacts={"right_hand": dal.Contact((1, 0, 0), 0.5)})
    held = dal.distribute_load(mechanism, q, qd, qdd, internal=dal.Squeeze("left_hand", "right_hand", 12.0))  # in the plane
    plain = dal.distribute_load(two_arms(), q, qd, qdd, internal=dal.Squeeze("left_hand", "right_hand", 12.0))
    assert held.torques == pytest.approx(plain.torques, rel=1e-8)
