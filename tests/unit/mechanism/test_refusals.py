"""What is said where a mechanism cannot be made, assembled or trusted; each sentence is read."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import SingularError
from dalembert.model import Joint, Link, Robot
from tests.mechanism_cases import CASES, chain

CRANK = dal.mechanisms.crank_rocker()
ROCKER = dal.Mechanism("rocker", CRANK.robot, CRANK.closures, ["joint3"], CRANK.seed)
"""With a coordinate that stops telling the positions at two dead points."""


def bars(*lengths: float) -> Robot:
    return chain("bars", lengths, np.random.default_rng(1))


def pin(x: float, y: float, kind: str = "spherical", link: str = "bar3", **more: Any) -> dal.Closure:
    return dal.Closure("pin", kind, ((link, (0.5, 0.0, 0.0)), ("world", (x, y, 0.0))), **more)


GUESS = (1.2, -0.8, -1.6)


@pytest.mark.parametrize(
    ("closures", "coordinates", "options", "message"),
    [
        ([pin(5.0, 0.0)], ["turn1"], {}, r"closure 'pin' cannot be met: near the guess its condition 'x' stays off by 3\.5"),
        ([pin(0.93, 0.09)], ["turn1", "turn2"], {}, r"2 coordinates found \(turn1, turn2\), but it has 1 freedom.* Leave out 1"),
        ([pin(0.93, 0.09)], [], {}, r"0 coordinates found.* but it has 1 freedom.* Add 1"),
        ([pin(0.93, 0.09)], ["turn9"], {}, r"joint 'turn9'|'turn9' is not known"),
        ([pin(0.93, 0.09)], dal.point_of("bar9", axes="x"), {}, r"link: 'bar9' is not known"),
        ([pin(0.93, 0.09, link="bar9")], ["turn1"], {}, r"link: 'bar9' is not known; did you mean"),
        ([pin(0.93, 0.09), pin(0.93, 0.09)], ["turn1"], {}, r"closures: .*'pin'"),
        ([pin(0.93, 0.09)], ["turn1", "turn1"], {}, r"coordinates: .*'turn1'"),
        ([dal.Closure("g", "gear", ("turn1", "turn9"), ratio=2.0)], ["turn1"], {}, r"joint: 'turn9' is not known"),
        ([pin(0.93, 0.09)], ["turn1"], {"actuated": ["turn7"]}, r"actuated: joint: 'turn7' is not known"),
        ([pin(0.93, 0.09, "revolute")], ["turn1"], {"strict": True}, r"3 of its 5 conditions hold what others hold already"),
        (["pin"], ["turn1"], {}, r"closures: 'pin' found"),
    ],
)
def test_what_cannot_be_made_is_refused(closures, coordinates, options, message):
    with pytest.raises(dal.DalembertError, match=message):
        dal.Mechanism("four-bar", bars(0.3, 0.7, 0.5), closures, coordinates, GUESS, **options)


def test_a_mechanism_needs_names_a_tree_and_numbers():
    tree, closures = bars(0.3, 0.7, 0.5), [pin(0.93, 0.09)]
    with pytest.raises(dal.DalembertError, match="robot: 'tree' found"):
        dal.Mechanism("m", "tree", closures, "turn1", GUESS)
    with pytest.raises(dal.DalembertError, match=r"guess: shape \(2,\) found, \(3,\) expected"):
        dal.Mechanism("m", tree, closures, "turn1", GUESS[:2])
    with pytest.raises(dal.DalembertError, match="guess"):
        dal.Mechanism("m", tree, closures, "turn1", (np.nan, 0.0, 0.0))


def test_coordinates_that_depend_on_each_other_are_refused():
    """Two wheels on one belt turn as one: both are no coordinates of a mechanism with another freedom."""
    links = [Link("ground"), *(Link(n, 1.0, (0.1, 0, 0), np.eye(3) * 0.01) for n in "abc")]
    tree = Robot.from_parts("wheels", links, [Joint(n, "continuous", "ground", n) for n in "abc"], tool=dal.Tool("a"))
    belt = dal.Closure("belt", "belt", ("a", "b"), ratio=1.0)
    with pytest.raises(
        dal.DalembertError, match=r"its coordinates depend on each other.*1\.00 c moves while all coordinates rest"
    ):
        dal.Mechanism("wheels", tree, [belt], ["a", "b"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("c", "hinge", ("a", "b")), r"closure 'c': type: 'hinge' is not known"),
        (("c", "revolute", "a"), r"closure 'c': between 'a' found; two ends expected"),
        (("c", "revolute", ("a", 3)), r"closure 'c': between: 3 found; a link's name expected"),
        (("c", "distance", ("a", "b")), r"closure 'c': no length found, which the type 'distance' needs"),
        (("c", "gear", ("a", "b")), r"closure 'c': no ratio found"),
        (("c", "screw", ("a", "b")), r"closure 'c': no pitch found"),
        (("c", "directions", ("a", "b")), r"closure 'c': no directions found"),
        (("c", "function"), r"closure 'c': no functions found"),
        (("c", "revolute", ("a", "b"), (0, 0, 0)), r"closure 'c'.*axis"),
    ],
)
def test_closures_of_no_sense_are_refused(given, message):
    with pytest.raises(dal.DalembertError, match=message):
        dal.Closure(*given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 1.0}, r"length 1\.0 has no effect on the type 'revolute'"),
        ({"directions": ("x",)}, r"directions have no effect on this type"),
    ],
)
def test_options_without_effect_are_refused(options, message):
    with pytest.raises(dal.DalembertError, match=message):
        dal.Closure("c", "revolute", ("a", "b"), **options)


def test_one_configuration_out_of_reach_is_an_error_that_names_the_closure():
    with pytest.raises(
        dal.DalembertError, match=r"no positions at joint3 = 0: closure 'pin' \(.\) stays off by .* Stay within reach"
    ):
        dal.mass_matrix(ROCKER, [0.0])


def test_rows_out_of_reach_are_marked_and_the_others_right():
    good = [ROCKER.q0, ROCKER.q0 + 0.01]
    with pytest.warns(
        dal.DalembertWarning, match=r"no positions at joint3 = 0.* 1 of 4 rows is without positions, and NaN"
    ) as told:
        found = dal.gravity_torque(ROCKER, [good[0], [np.nan], [0.0], good[1]])
    assert len(told) == 1
    assert told[0].filename == __file__
    assert np.isnan(found).ravel().tolist() == [False, True, True, False]
    np.testing.assert_array_equal(found[[0, 3]], dal.gravity_torque(ROCKER, good))


def test_rows_out_of_reach_of_several_starts_are_marked():
    starts = [ROCKER.seed, ROCKER.seed + 0.01]
    with pytest.warns(dal.DalembertWarning, match=r"2 of 2 rows are without positions, and NaN"):
        found = dal.gravity_torque(ROCKER.at(near=starts), [0.0])
    assert np.isnan(found).all()


def test_nan_passes_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(dal.gravity_torque(CRANK, [np.nan])).all()
        assert np.isnan(dal.gravity_torque(CRANK, [[np.nan], [0.3]])).ravel().tolist() == [True, False]


@pytest.fixture(scope="module")
def dead() -> np.ndarray:
    """Positions where the angle between coupler and rocker is largest: the crank points away from the other pivot."""
    far, coupler, rocker = 0.5 + 0.2, 0.5, 0.4
    rise = np.arccos((far**2 + coupler**2 - rocker**2) / (2 * far * coupler))
    knee = np.arccos((coupler**2 + rocker**2 - far**2) / (2 * coupler * rocker))
    return np.array([np.pi, rise - np.pi, knee - np.pi])


def test_near_a_dead_point_one_warning_tells_the_condition_and_the_direction(dead):
    with pytest.warns(
        dal.DalembertWarning, match=r"near a singular pose: condition \d\.\de\+\d+, and .* joint1 .* joint2"
    ) as told:
        dal.mass_matrix(ROCKER.at(near=dead), dead[2:])
    assert len(told) == 1
    assert told[0].filename == __file__
    with pytest.warns(dal.DalembertWarning, match=r"near a singular pose \(row 1 is the worst\)") as told:
        found = dal.mass_matrix(ROCKER.at(near=dead), [ROCKER.q0, dead[2:]])
    assert len(told) == 1
    assert found[0] == pytest.approx(dal.mass_matrix(ROCKER.at(near=dead), ROCKER.q0), rel=1e-12)


def test_given_positions_near_a_dead_point_are_told_of_in_the_same_words(dead):
    x = CRANK.assemble(dead[:1] + 1e-7, near=dead).x
    with pytest.warns(
        dal.DalembertWarning, match=r"near a singular pose: condition \d\.\de\+\d+, and .* joint1 .* joint2"
    ) as told:
        one = dal.mass_matrix(ROCKER.at(x=x), x[2:])
    assert len(told) == 1
    assert told[0].filename == __file__
    rows = np.stack([ROCKER.assemble(ROCKER.q0).x, x])
    with pytest.warns(dal.DalembertWarning, match=r"near a singular pose \(row 1 is the worst\)") as told:
        found = dal.mass_matrix(ROCKER.at(x=rows), rows[:, 2:])
    assert len(told) == 1
    assert found[1] == pytest.approx(one, rel=1e-12)
    assert found[0] == pytest.approx(dal.mass_matrix(ROCKER, ROCKER.q0), rel=1e-12)


def test_given_positions_at_a_dead_point_are_refused_or_marked(dead):
    x = CRANK.assemble(dead[:1], near=dead).x
    with pytest.raises(SingularError, match=r"given positions are a singular pose: .* joint1 .* Choose other coordinates"):
        dal.mass_matrix(ROCKER.at(x=x), x[2:])
    rows = np.stack([ROCKER.assemble(ROCKER.q0).x, x])
    with pytest.warns(dal.DalembertWarning, match=r"of row 1 are a singular pose: .* 1 of 2 rows is NaN") as told:
        found = dal.mass_matrix(ROCKER.at(x=rows), rows[:, 2:])
    assert len(told) == 1
    assert np.isnan(found).ravel().tolist() == [False, True]


def test_past_a_dead_point_all_is_right_again(dead):
    """By the crank, which tells the positions everywhere: the rocker's results beyond the dead point follow from the crank's."""
    beyond = CRANK.assemble(dead[:1] + 0.2, near=dead).x
    before = CRANK.assemble(dead[:1] - 0.2, near=dead).x
    for x in (before, beyond):
        slope = np.linalg.solve(ROCKER.equations(x)[1], [0.0, 0.0, 1.0])[0]  # of the crank's angle by the rocker's
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = dal.mass_matrix(ROCKER.at(near=x), x[2:])
        assert found == pytest.approx(dal.mass_matrix(CRANK.at(x=x), x[:1]) * slope**2, rel=1e-9)


def toggle() -> dal.Mechanism:
    """Two equal bars and a slide; the coordinate is the slide, which does not tell where the knee goes when they are in line."""
    tree = bars(0.3, 0.3)
    guide = dal.Closure("guide", "directions", ("world", ("bar2", (0.3, 0, 0))), directions=("y",))
    return dal.Mechanism("toggle", tree, [guide], dal.point_of("bar2", point=(0.3, 0, 0), axes="x"), (0.5, -1.0))


def test_at_a_singular_pose_one_configuration_is_an_error_and_a_row_is_marked():
    knee = toggle()
    with pytest.raises(
        dal.DalembertError, match=r"singular pose at bar2_x = 0\.6: .*turn2 .*turn1 can move while the coordinates rest"
    ):
        dal.mass_matrix(knee.at(near=[0.0, 0.0]), [0.6])
    with pytest.warns(dal.DalembertWarning, match=r"singular pose at bar2_x = 0\.6.* 1 of 2 rows is without positions"):
        found = dal.mass_matrix(knee.at(near=[[0.0, 0.0], knee.seed]), [[0.6], knee.q0])
    assert np.isnan(found[0]).all()
    assert found[1] == pytest.approx(dal.mass_matrix(knee, knee.q0))


def test_an_assembly_in_a_singular_pose_is_refused():
    with pytest.raises(dal.DalembertError, match=r"its coordinates depend on each other|freedoms"):
        tree = bars(0.3, 0.3)
        guide = dal.Closure("guide", "directions", ("world", ("bar2", (0.3, 0, 0))), directions=("y",))
        dal.Mechanism("toggle", tree, [guide], dal.point_of("bar2", point=(0.3, 0, 0), axes="x"), (0.0, 0.0))


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(dal.DalembertError, match=r"q: shape \(2,\) found, \(\.\.\., 1\) expected"):
        dal.mass_matrix(CRANK, [0.1, 0.2])
    with pytest.raises(dal.DalembertError, match=r"q: shape \(2,\) found, \(\.\.\., 1\) expected"):
        CRANK.assemble([0.1, 0.2])
    with pytest.raises(dal.DalembertError, match=r"near: shape \(2,\) found, \(\.\.\., 3\) expected"):
        CRANK.assemble([0.1], near=[0.0, 0.0])
    with pytest.raises(dal.DalembertError, match=r"q: shape \(1,\) found; a path has its points along the last axis but one"):
        CRANK.assemble([0.1], continuous=True)
    assert CASES["five_bar"]().assemble(np.zeros((0, 2))).x.shape == (0, 4)
