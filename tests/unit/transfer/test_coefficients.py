"""Influence coefficients of maps: inverse, dependent and composed ones to third order, against maps that are known both ways."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer
from dalembert.errors import ShapeError
from dalembert.expr import ops
from tests.robots import PLAIN, random_robot, relative_error
from tests.unit.transfer.maps import CARTESIAN, SPHERICAL, bent, end_of

TOLERANCE = 1e-11  # three products of matrices whose condition is below a hundred
POINTS = np.random.default_rng(7).uniform(0.5, 1.5, (5, 3))


def agree(found: dal.Influence, expected: dal.Influence) -> None:
    for name, one, other in zip("GHD", found, expected, strict=True):
        assert (one is None) == (other is None), name
        assert one is None or relative_error(one, other) < TOLERANCE, name


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_inverse_of_a_map_that_is_known_both_ways(order: int) -> None:
    """Cartesian and spherical coordinates: each the inverse of the other, in a batch."""
    agree(
        transfer.inverse(SPHERICAL.influence(POINTS, order=order)),
        CARTESIAN.influence(SPHERICAL(POINTS), order=order),
    )


def test_the_third_order_against_differences_of_fifty_digits() -> None:
    """D of the inverse map of `bent`, whose inverse has no closed form: by Newton's method and differences of high precision."""
    u0 = [0.3, -0.4]
    found = transfer.inverse(transfer.CoordinateMap(bent, 2).influence(u0, order=3)).D

    def back(row: int) -> Any:
        def solved(*q: Any) -> Any:
            return mpmath.findroot(lambda a, b: [x - y for x, y in zip(bent([a, b]), q, strict=True)], u0)[row]

        return solved

    with mpmath.workdps(50):
        q0 = tuple(bent([mpmath.mpf(x) for x in u0]))
        for row in range(2):
            for l, m, n in ((0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1)):
                orders = ((l, m, n).count(0), (l, m, n).count(1))
                expected = float(mpmath.diff(back(row), q0, orders))
                assert found[row, l, m, n] == pytest.approx(expected, rel=1e-10)
                assert found[row, n, l, m] == pytest.approx(expected, rel=1e-10)


@pytest.mark.slow
def test_a_map_after_its_inverse_is_the_identity(rng: np.random.Generator) -> None:
    """For the twist of a tool too, whose second and third order are not symmetric."""
    robot = random_robot(rng, 6, PLAIN)
    tool = dal.influence(robot, rng.uniform(-1, 1, (4, 6)), end_of(robot), order=3)
    for both in (transfer.compose(transfer.inverse(tool), tool), transfer.compose(tool, transfer.inverse(tool))):
        scale = np.linalg.cond(tool.G).max() ** 3
        assert np.abs(both.G - np.eye(6)).max() < 1e-13 * scale
        assert np.abs(both.H).max() < 1e-13 * scale
        assert np.abs(both.D).max() < 1e-13 * scale


def test_a_dependent_parameter_over_new_coordinates() -> None:
    """x² + y z over spherical coordinates, traced as one function, and transferred from Cartesian ones."""
    over_p = transfer.CoordinateMap(lambda p: [p[0] * p[0] + p[1] * p[2]], 3)
    over_s = transfer.CoordinateMap(lambda s: over_p.function(CARTESIAN.function(s)), 3)
    found = transfer.dependent(over_p.influence(POINTS, order=3), SPHERICAL.influence(POINTS, order=3))
    agree(found, over_s.influence(SPHERICAL(POINTS), order=3))


def test_a_composition_is_the_map_traced_as_one() -> None:
    both = transfer.CoordinateMap(lambda p: bent(SPHERICAL.function(p)), 3)
    outer = transfer.CoordinateMap(bent, 3).influence(SPHERICAL(POINTS), order=3)
    agree(transfer.compose(outer, SPHERICAL.influence(POINTS, order=3)), both.influence(POINTS, order=3))


def test_the_lower_order_of_two_maps_is_that_of_their_composition() -> None:
    found = transfer.compose(CARTESIAN.influence(POINTS, order=3), CARTESIAN.influence(POINTS, order=1))
    assert (found.H, found.D) == (None, None)
    assert transfer.stack(CARTESIAN.influence(POINTS, order=2), CARTESIAN.influence(POINTS, order=3)).D is None


@pytest.mark.slow
def test_velocity_acceleration_and_jerk_go_forth_and_back(rng: np.random.Generator) -> None:
    """Of a tool with its rotation, where the order of indices matters [Freeman, Eq. 3-44 to 3-46]."""
    robot = random_robot(rng, 6, PLAIN)
    q, qd, qdd, qddd = rng.uniform(-1, 1, (4, 3, 6))
    tool = dal.influence(robot, q, end_of(robot), order=3)
    task = transfer.rates(tool, qd, qdd, qddd=qddd)
    motion = dal.link_motion(robot, q, qd, qdd, qddd=qddd, link=end_of(robot))
    for one, other in zip(task, motion, strict=True):
        assert relative_error(one, other) < TOLERANCE
    joints = transfer.rates(transfer.inverse(tool), task.velocity, task.acceleration, qddd=task.jerk)
    worst = 1e-13 * np.linalg.cond(tool.G).max() ** 3
    for one, other in zip(joints, (qd, qdd, qddd), strict=True):
        assert relative_error(one, other) < worst


def test_rows_and_stacked_maps() -> None:
    found, coordinates = SPHERICAL.influence(POINTS, order=3), transfer.linear(np.eye(3)[[2]], order=3)
    both = transfer.stack(transfer.rows(found, [1, 0]), coordinates)
    assert np.array_equal(both.G[:, :2], found.G[:, [1, 0]])
    assert np.array_equal(both.H[:, :2], found.H[:, [1, 0]])
    assert np.array_equal(both.D[:, 0], found.D[:, 1])
    assert np.array_equal(both.G[:, 2], np.tile([0.0, 0.0, 1.0], (5, 1)))
    assert not both.H[:, 2].any()


@pytest.mark.slow
def test_a_function_of_ones_own_has_exact_coefficients(rng: np.random.Generator) -> None:
    """Against those of the library for the tip of an arm, and where an output is a constant or an input."""
    arm = dal.robots.two_link_planar()
    tip = transfer.CoordinateMap(lambda q: [ops.cos(q[0]) + ops.cos(q[0] + q[1]), ops.sin(q[0]) + ops.sin(q[0] + q[1]), 0.0], 2)
    q = rng.uniform(-2, 2, (4, 7, 2))
    assert relative_error(tip(q), dal.forward_kinematics(arm, q)[..., :3, 3]) < TOLERANCE
    for order in (1, 2, 3):
        agree(tip.influence(q, order=order), dal.influence(arm, q, order=order, kind="point"))
    itself = transfer.CoordinateMap(lambda q: q, 2).influence(q, order=3)
    assert np.array_equal(itself.G, np.broadcast_to(np.eye(2), (4, 7, 2, 2)))
    assert not itself.D.any()
    assert repr(transfer.CoordinateMap(bent, 2)) == "CoordinateMap(bent, n=2)"


def test_maps_that_do_not_fit_are_refused_by_a_sentence() -> None:
    G, H = np.eye(2), np.zeros((2, 2, 2))
    with pytest.raises(
        ShapeError, match=r"influence: no H found beside G\. Ask dal\.influence for order=2, or, of a map that is linear"
    ):
        transfer.rates(G, [1.0, 2.0], [0.0, 0.0])
    with pytest.raises(ShapeError, match=r"influence: H: shape \(2, 3, 3\) found, \(\.\.\., 2, 2, 2\) expected\."):
        transfer.inverse((G, np.zeros((2, 3, 3))))
    with pytest.raises(ShapeError, match=r"influence: 4 entries, 4 not None, found; G, \(G, H\) or \(G, H, D\) is expected\."):
        transfer.inverse((G, H, H, H))
    with pytest.raises(ShapeError, match=r"influence: 2 entries, 1 not None, found;"):
        transfer.inverse((None, H))
    with pytest.raises(
        ShapeError, match=r"compose: outer is over 2 coordinates, but inner gives 3; as many .* other way round\?"
    ):
        transfer.compose(G, np.zeros((3, 2)))
    with pytest.raises(ShapeError, match=r"dependent: u is over 3 old coordinates, the new ones over 2; the same are expected\."):
        transfer.dependent(np.zeros((1, 3)), G)
    with pytest.raises(ShapeError, match=r"stack: maps over \[2, 3\] coordinates found; the same old coordinates are expected\."):
        transfer.stack(G, np.zeros((1, 3)))
    with pytest.raises(ShapeError, match=r"stack: no map found; one or more are expected\."):
        transfer.stack()
    with pytest.raises(dal.DalembertError, match=r"which: 2 found; a whole number from 0 to 1 is expected\."):
        transfer.rows(G, [2])
    with pytest.raises(dal.DalembertError, match=r"which: 'xy' found; a sequence of numbers of rows is expected\."):
        transfer.rows(G, "xy")
    with pytest.raises(ShapeError, match=r"qdd: NoneType found, real numbers of shape \(\.\.\., 2\) expected\."):
        transfer.rates((G, H, np.zeros((2, 2, 2, 2))), [1.0, 2.0], qddd=[0.0, 0.0])
    with pytest.raises(ShapeError, match=r"qd: NoneType found, real numbers of shape \(\.\.\., 2\) expected\."):
        transfer.rates(G, None)
    with pytest.raises(ShapeError, match=r"batch axes: \(4,\) of influence and \(3,\) of qd found, which do not broadcast"):
        transfer.rates(np.zeros((4, 2, 2)), np.zeros((3, 2)))
    with pytest.raises(dal.DalembertError, match=r"order: 4 found; a whole number from 1 to 3 is expected\."):
        transfer.linear(G, order=4)


def test_functions_that_cannot_be_traced_are_refused_by_a_sentence() -> None:
    with pytest.raises(ShapeError, match=r"function: int found; a function of a list of n scalars is expected\."):
        transfer.CoordinateMap(3, 2)
    with pytest.raises(ShapeError, match=r"function: a list of one scalar for each new coordinate is expected as its result\."):
        transfer.CoordinateMap(lambda q: q[0], 2)([0.0, 0.0])
    with pytest.raises(dal.DalembertError, match=r"could not be traced .* dalembert\.expr\.ops"):
        transfer.CoordinateMap(lambda q: [np.sin(q[0])], 2)([0.0, 0.0])
    with pytest.raises(dal.DalembertError, match=r"n: 0 found; a whole number of 1 or more is expected\."):
        transfer.CoordinateMap(bent, 0)
