"""What is handed to mechanisms and their parts: the shapes of positions and batches, and a sentence for all that does not fit."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import dalembert as dal

FOUR_BAR = dal.mechanisms.four_bar()
CRANK = dal.mechanisms.crank_rocker()
EMPTY = np.zeros((0, 3, 1))


def refusal(call, *args, **keywords):
    with pytest.raises(dal.DalembertError) as caught:
        call(*args, **keywords)
    return str(caught.value)


def test_a_rollout_of_no_mechanisms_has_no_rows():
    found = dal.rollout(CRANK, EMPTY, EMPTY, None, dt=1e-3, steps=4)
    assert found.q.shape == (0, 3, 5, 1)


def test_a_simulation_of_no_mechanisms_has_no_rows():
    found = dal.simulate(CRANK, EMPTY, EMPTY, t_eval=(0.0, 0.1))
    assert found.q.shape == (0, 3, 2, 1)


@pytest.mark.slow
@pytest.mark.parametrize("given", ["x", "near"])
def test_positions_of_a_larger_batch_than_coordinates_begin_a_motion_each(given):
    system = FOUR_BAR.at(**{given: np.tile(FOUR_BAR.seed, (3, 1, 1))})
    alone = dal.rollout(FOUR_BAR, FOUR_BAR.q0, [0.2], None, dt=1e-3, steps=4)
    found = dal.rollout(system, FOUR_BAR.q0, [[0.2], [0.2]], None, dt=1e-3, steps=4)
    assert found.q.shape == (3, 2, 5, 1)
    np.testing.assert_allclose(found.q, np.broadcast_to(alone.q, found.q.shape), rtol=1e-12)  # rounding: other vector lanes
    assert dal.simulate(system, FOUR_BAR.q0, [0.2], t_eval=(0.0, 0.01)).q.shape == (3, 1, 2, 1)
    assert refusal(dal.simulate, system, np.tile(FOUR_BAR.q0, (2, 2, 1)), [0.2], t_end=0.01) == (
        "batch: leading axes do not broadcast together: q0 (2, 2), qd0 (), positions (3, 1)."
    )


def test_a_path_without_points_has_no_positions():
    found = FOUR_BAR.assemble(np.zeros((2, 0, 1)), near=np.tile(FOUR_BAR.seed, (2, 1)), continuous=True)
    assert found.x.shape == (2, 0, 3)
    assert found.found.shape == (2, 0)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("q", [1e160, -1e300])
def test_a_coordinate_beyond_all_bounds_is_refused_without_warnings_of_others(q):
    assert refusal(dal.mass_matrix, FOUR_BAR, [q]).startswith("mechanism 'four_bar': ")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_closure_that_no_joint_moves_is_refused_without_warnings_of_others():
    pin = dal.Closure("pin", "spherical", (("ground", (0.4, 0, 0)), "world"))
    assert refusal(FOUR_BAR.replace, closures=[pin]).startswith("mechanism 'four_bar': closure 'pin' cannot be met: ")


def test_starts_of_a_larger_batch_than_coordinates_may_fail_row_by_row():
    starts = np.array([FOUR_BAR.seed, [1e3, 1e3, 1e3]])
    with pytest.warns(dal.DalembertWarning, match="1 of 2 rows is without positions"):
        M = dal.mass_matrix(FOUR_BAR.at(near=starts), FOUR_BAR.q0)
    assert np.isfinite(M[0]).all()
    assert np.isnan(M[1]).all()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_start_that_is_no_number_is_refused_as_such(number):
    start = np.array(FOUR_BAR.seed)
    start[1] = number
    assert refusal(dal.mass_matrix, FOUR_BAR.at(near=start), FOUR_BAR.q0) == (
        "mechanism 'four_bar': the positions to start from contain NaN or infinity. "
        "Stay within reach, or start nearer with at(near=...)."
    )
    with pytest.warns(dal.DalembertWarning, match="start from contain NaN or infinity. 1 of 2 rows is without positions"):
        M = dal.mass_matrix(FOUR_BAR.at(near=[start, FOUR_BAR.seed]), FOUR_BAR.q0)
    assert np.isfinite(M[1]).all()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda system: pickle.loads(pickle.dumps(system))])
@pytest.mark.parametrize("given", ["x", "near"])
def test_a_mechanism_at_positions_can_be_copied_and_pickled_in_use(given, copied):
    system = FOUR_BAR.at(**{given: FOUR_BAR.seed})
    M = dal.mass_matrix(system, FOUR_BAR.q0)
    again = copied(system)
    assert repr(again) == repr(system)
    assert dal.mass_matrix(again, FOUR_BAR.q0) == M


@pytest.mark.parametrize("system", [FOUR_BAR, FOUR_BAR.robot])
def test_wrenches_of_joints_are_in_axes_of_the_world_or_of_links(system):
    still = np.zeros(system.n)
    q = getattr(system, "q0", still)
    assert refusal(dal.link_wrenches, system, q, still, still, frame="word") == (
        "frame: 'word' is not known; did you mean 'world'? Known: world, link."
    )


@pytest.mark.parametrize("coordinates", [None, 1.5, True, int])
def test_coordinates_that_are_no_sequence_are_refused_by_a_mechanism(coordinates):
    told = refusal(dal.Mechanism, "m", FOUR_BAR.robot, FOUR_BAR.closures, coordinates, FOUR_BAR.guess)
    assert told == f"coordinates: {coordinates!r} found; a sequence of names of joints or Chosen(...) is expected."


@pytest.mark.parametrize("guess", [[[1.0], [1.0, 2.0]], "abc", [1.0, 2.0]])
def test_a_guess_is_an_array_of_positions(guess):
    assert refusal(FOUR_BAR.replace, guess=guess).startswith("guess: ")


@pytest.mark.parametrize("given", ["coordinates", "actuated"])
@pytest.mark.parametrize("value", [0, 1.5, False, np.zeros(3), NotImplemented])
def test_mobility_refuses_what_names_no_joints(given, value):
    assert given.removesuffix("s") in refusal(dal.mobility, FOUR_BAR, **{given: value})


def test_mobility_takes_coordinates_from_any_iterable():
    found = dal.mobility(FOUR_BAR, coordinates=(name for name in ["joint2"]), actuated=np.array(["joint3"]))
    assert found.chosen.names == ("joint2",)
    assert found.actuated == ("joint3",)


def test_parts_that_are_gathered_are_robots_by_name():
    assert refusal(dal.gather, "pair", [dal.robots.pendulum()]) == (
        "gather: parts: [Robot 'pendulum': 1 joint (R), 2 links] found; robots by name are expected: {'left': part}."
    )
    pair = {"left": dal.robots.pendulum()}
    assert refusal(dal.gather, "pair", pair, poses=3) == (
        "gather: poses: 3 found; 4x4 poses by name are expected: {'left': pose}."
    )


@pytest.mark.parametrize("inertia", ["abc", {"xx": 1.0}, 2.0, [1.0, 2.0], np.zeros((2, 3)), [True, True, True]])
def test_the_inertia_of_a_free_body_is_a_matrix_or_its_diagonal(inertia):
    assert refusal(dal.free_body, 1.0, inertia=inertia).startswith("inertia: ")


@pytest.mark.parametrize("name", ["", 3, "a\0"])
def test_a_free_body_has_a_name(name):
    assert refusal(dal.free_body, 1.0, name=name).startswith("name: ")


@pytest.mark.parametrize("link", ["", 3, "a\0"])
def test_coordinates_of_a_point_are_those_of_a_link(link):
    assert refusal(dal.point_of, link).startswith("link: ")
    assert refusal(dal.pose_of, link).startswith("link: ")


def test_an_axis_that_cannot_be_an_array_is_refused_by_its_closure():
    nested: list = []
    nested.append(nested)
    assert refusal(dal.Closure, "pin", "revolute", ("a", "world"), axis=nested).startswith("closure 'pin': axis")
    assert refusal(dal.Closure, "mesh", "gear", ("a", "b"), axis=(0, 0, 1), ratio=2.0) == (
        "closure 'mesh': axis has no effect on the type 'gear'. Leave it out."
    )


@pytest.mark.parametrize("type_, more", [("revolute", {}), ("gear", {"ratio": 2.0}), ("distance", {"length": 0.1})])
def test_a_closure_of_a_link_or_joint_with_itself_closes_nothing(type_, more):
    what = "joint" if type_ == "gear" else "link"
    assert refusal(dal.Closure, "pin", type_, ("a", "a"), **more) == (
        f"closure 'pin': between: {what} 'a' found at both ends, which closes no loop. Name two {what}s."
    )


def test_friction_has_the_leading_axes_of_positions_and_rates():
    q, qd = np.zeros((5, 1, 2)), np.ones((3, 2))
    found = dal.friction_torque(dal.robots.two_link_planar(), qd, q=q)
    assert found.shape == (5, 3, 2)
    assert (found == dal.friction_torque(dal.robots.two_link_planar(), qd[0])).all()


def test_friction_of_a_mechanism_needs_its_positions():
    assert refusal(dal.friction_torque, FOUR_BAR, [1.0]) == (
        "q: nothing found, but friction depends on it where coordinates are not those of the joints. "
        "Try friction_torque(system, qd, q=q)."
    )
