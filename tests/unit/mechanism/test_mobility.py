"""Freedoms of linkages whose numbers are known from textbooks, and motions that are followed by other means."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError, UnknownNameError
from dalembert.model.combinations import spherical
from dalembert.model.position_functions import JointSum
from tests.mechanism_cases import CASES
from tests.unit.mechanism import linkages
from tests.unit.mechanism.linkages import BENNETT, BRICARD, Linkage, dh_loop, dh_residual, end_of_bars, moved_along, pinned

MECHANISMS = CASES | {f"mechanisms.{name}": make for name, make in dal.mechanisms.CATALOGUE.items()}
FOUR_BAR = ((0.0, 0.3, 0.7), 0.5, (0.9, 0.1))
FLAT = ((0.0, 0.3, 0.7), 0.3, (0.7, 0.0))  # a parallelogram of 0.3 and 0.7 m


def mobility(linkage: Linkage, **options) -> dal.Mobility:
    return dal.mobility(linkage.robot, linkage.closures, guess=linkage.guess, **options)


@pytest.mark.parametrize("name", ["four_bar", "crank_rocker"])
def test_a_four_bar_linkage_has_one_freedom_as_counted(name):
    found = dal.mobility(getattr(dal.mechanisms, name)())
    assert (found.freedoms, found.first_order, found.kind) == (1, 1, "regular")
    assert (found.gruebler, found.count.dimension) == (1, 3)
    assert (found.redundant, found.idle, len(found.internal_forces)) == ((), (), 0)
    assert "as counted" in found.why


def test_the_motion_found_is_the_derivative_of_the_assembled_positions():
    mechanism = dal.mechanisms.four_bar()
    found = dal.mobility(mechanism, q=[1.1])
    slope = (mechanism.assemble([1.1 + 1e-6]).x - mechanism.assemble([1.1 - 1e-6]).x) / 2e-6
    assert found.x == pytest.approx(mechanism.assemble([1.1]).x, abs=1e-12)  # the same positions, to rounding
    assert found.motions[:, 0] / found.motions[0, 0] == pytest.approx(slope, abs=1e-8)  # step² and rounding / step


def test_a_pin_of_space_in_a_planar_four_bar_holds_three_things_twice():
    found = mobility(pinned(*FOUR_BAR, [1.2, -0.8, -1.6], "revolute"))
    assert (found.freedoms, found.kind) == (1, "regular")
    assert (found.gruebler, found.count_in_space.freedoms) == (1, -2)
    assert found.redundant == ("pin z", "pin axis 1", "pin axis 2")
    assert found.internal_forces.shape == (3, 5)
    assert "in space 3 fewer" in found.why


def test_internal_forces_are_in_balance():
    """In balance no joint feels anything, by differences of what the weld holds: link 6 against the world, by its pose."""
    found = mobility(dh_loop(BRICARD, [-2.0, 0.8] * 3))

    def held(x):
        X = np.reshape(dh_residual(BRICARD, x), (3, 4))
        return np.array(
            [*-X[:, 3], X[2, 1], X[2, 0], X[1, 0]]
        )  # x y z from the link to the world, then axes i of link, j of world

    J = np.column_stack([(held(found.x + h) - held(found.x - h)) / 2e-6 for h in 1e-6 * np.eye(6)])
    assert found.internal_forces.shape == (1, 6)
    assert np.abs(found.internal_forces @ J).max() < 1e-8  # step² and rounding / step


def test_a_five_bar_linkage_has_two_freedoms():
    found = mobility(pinned((0.0, 0.3, 0.4, 0.5), 0.2, (0.6, 0.0), [1.0, -0.5, -1.0, -1.0]))
    assert (found.freedoms, found.gruebler, len(found.proposal.names)) == (2, 2, 2)


@pytest.mark.parametrize(
    ("rows", "guess", "count"), [(BRICARD, [-2.0, 0.8] * 3, 0), (BENNETT, [1.0, -2.5, -1.0, 2.5], -2)], ids=["Bricard", "Bennett"]
)
def test_an_over_closed_linkage_has_one_freedom_and_moves(rows, guess, count):
    """Known linkages that the count says are rigid; they are followed by another solver, over matrices written here."""
    found = mobility(dh_loop(rows, guess))
    assert (found.freedoms, found.kind, found.gruebler) == (1, "regular", count)
    assert len(found.redundant) == 1 - count
    assert f"{1 - count} more than counted" in found.why
    path = moved_along(lambda x: dh_residual(rows, x), found.x, found.motions[:, 0])
    assert max(np.abs(dh_residual(rows, x)).max() for x in path) < 1e-10
    assert np.abs(path[-1] - path[0]).max() > 0.2  # of a way of 1.0 through all joints together


def test_over_closed_linkages_without_their_redundant_conditions_move_as_before():
    linkage = dh_loop(BRICARD, [-2.0, 0.8] * 3)
    whole = mobility(linkage)
    left = tuple(name for name in ("x", "y", "z", "rx", "ry", "rz") if f"weld {name}" not in whole.redundant)
    weld = dal.Closure(
        "weld", "function", functions=tuple((row.function, row.value) for row in linkage.closures[0].rows if row.what in left)
    )
    fewer = dal.mobility(linkage.robot, [weld], x=whole.x)
    assert (fewer.freedoms, fewer.redundant) == (1, ())
    assert np.abs(fewer.motions[:, 0] @ whole.motions[:, 0]) == pytest.approx(1.0, abs=1e-12)  # the same direction, to rounding


def test_a_flat_parallelogram_is_where_two_branches_of_motion_meet():
    """From b a (θ² − φ²) + a² (φ − θ)² = 0, the second order of the coupler's length: φ = θ, or φ / θ = −(b + a) / (b − a)."""
    found = mobility(pinned(*FLAT, [0.0, 0.0, np.pi]))
    assert (found.freedoms, found.first_order, found.kind, len(found.branches)) == (1, 2, "bifurcation", 2)
    assert found.redundant == ()
    ratios = sorted(float(v.sum() / v[0, 0]) for v in found.branches)
    assert ratios == pytest.approx([-1.0 / 0.4, 1.0], abs=1e-6)  # what a common zero of forms is found to


def test_a_position_that_is_nearly_flat_is_told():
    found = dal.mobility(*pinned(*FLAT, None)[:2], guess=[1e-7, -1e-7, np.pi + 1e-7])
    assert (found.freedoms, found.kind, found.is_nearly_singular) == (1, "regular", True)
    assert ", nearly singular" in str(found)
    assert not mobility(pinned(*FOUR_BAR, [1.2, -0.8, -1.6])).is_nearly_singular


@pytest.mark.parametrize("branch", [0, 1])
def test_both_branches_of_a_flat_parallelogram_can_be_followed(branch):
    found = mobility(pinned(*FLAT, [0.0, 0.0, np.pi]))
    starts, end, pivot = FLAT
    path = moved_along(lambda x: end_of_bars(starts, end, x) - pivot, found.x, found.branches[branch][:, 0])
    assert max(np.abs(end_of_bars(starts, end, x) - pivot).max() for x in path) < 1e-10
    assert np.abs(path[-1] - path[0]).max() > 0.2


def test_a_shaky_truss_has_velocities_but_no_freedom():
    found = mobility(linkages.point_on_bars(-1.0, 1.0))
    assert (found.freedoms, found.first_order, found.kind) == (0, 1, "shaky")
    assert (found.redundant, len(found.internal_forces), found.motions.shape) == ((), 1, (3, 0))
    tension = found.internal_forces[0] / found.internal_forces[0, 0]
    assert tension == pytest.approx([1.0, 1.0, 0.0], abs=1e-12)  # both bars pull alike


def test_of_bars_that_hold_to_second_order_one_too_many_can_be_dropped():
    found = mobility(linkages.point_on_bars(-1.0, 1.0, 2.0))
    assert (found.freedoms, found.kind, len(found.internal_forces)) == (0, "shaky", 2)
    assert len(found.redundant) == 1
    assert found.redundant[0].startswith("bar")


def test_a_stretched_chain_is_locked_though_the_count_says_one():
    found = mobility(pinned((0.0, 0.3, 0.7), 0.3, (1.3, 0.0), [0.0, 0.0, 0.0]))
    assert (found.freedoms, found.first_order, found.gruebler, found.kind) == (0, 2, 1, "shaky")
    assert "1 fewer than counted" in found.why


def test_a_freedom_beside_a_shaky_truss_is_one():
    """The truss is shaky along the whole motion, so that no position nearby has a higher rank."""
    truss = linkages.point_on_bars(-1.0, 1.0)
    tree = dal.gather("both", {"truss": truss.robot, "arm": linkages.bars(0.0)})
    closures = [
        dal.Closure("left", "distance", ("truss_point", ("world", (-1, 0, 0))), length=1.0),
        dal.Closure("right", "distance", ("truss_point", ("world", (1, 0, 0))), length=1.0),
        dal.Closure("guide", "directions", ("truss_point", "world"), directions=("rz",)),
    ]
    found = dal.mobility(tree, closures)
    assert (found.freedoms, found.first_order, found.kind) == (1, 2, "singular")
    assert found.proposal.names == ("arm_joint1",)


def test_a_flat_five_bar_linkage_is_left_in_a_cone_of_directions():
    found = mobility(pinned((0.0, 0.3, 0.4, 0.5), 0.2, (1.0, 0.0), [0.0, 0.0, 0.0, np.pi]))
    assert (found.freedoms, found.first_order, found.kind) == (2, 3, "cone")


def test_a_triangle_is_a_structure():
    found = mobility(pinned((0.0, 0.5), 0.4, (0.6, 0.0), [0.5, -1.0]))
    assert (found.freedoms, found.kind, found.gruebler, found.redundant) == (0, "rigid", 0, ())
    assert found.proposal == ((), 1.0)
    assert "none, since nothing moves" in str(found)


def test_a_rod_between_spherical_joints_spins_idly():
    found = mobility(linkages.spatial_slider_crank())
    assert (found.freedoms, found.gruebler, found.kind) == (2, 2, "regular")
    assert [(idle.links, idle.joints) for idle in found.idle] == [(("rod",), ("ball_x", "ball_y", "ball_z"))]
    assert "2 freedoms, 1 of them idle" in str(found)


def test_an_idle_spin_turns_the_rod_about_the_line_of_its_ends():
    """By poses of the rod a little later: both ends stay, to second order of the step."""
    linkage = linkages.spatial_slider_crank()
    found = mobility(linkage)
    poses = [dal.forward_kinematics(linkage.robot, found.x + h * found.idle[0].motion, link="rod") for h in (0.0, 1e-5)]
    for end in (0.0, 0.8):
        before, after = (X @ [end, 0.0, 0.0, 1.0] for X in poses)
        assert np.abs(after - before).max() < 1e-9
    assert np.abs(poses[1] - poses[0]).max() > 1e-6


def test_a_stewart_platform_on_universal_joints_has_six_freedoms():
    drives = [f"leg{k}_slide" for k in range(1, 7)]
    found = mobility(linkages.stewart(), actuated=drives, coordinates=drives)
    assert (found.freedoms, found.gruebler, found.redundant, found.idle) == (6, 6, (), ())
    assert found.actuation_redundancy == 0
    assert found.chosen.names == tuple(drives)
    assert 1.0 <= found.chosen.condition < 100.0


def test_legs_between_spherical_joints_spin_idly():
    found = mobility(linkages.stewart(spherical))
    assert (found.freedoms, found.gruebler, len(found.idle)) == (12, 12, 6)
    assert found.idle[0].links == ("leg1_lower", "leg1_upper")
    assert found.idle[0].joints == ("leg1_foot_z",)


def test_the_last_link_of_an_arm_and_a_body_on_one_ball_are_not_idle():
    assert dal.mobility(dal.robots.puma560()).idle == ()
    ball = dal.Closure("ball", "spherical", ("body", "world"))
    found = dal.mobility(dal.free_body(1.0, inertia=[1, 1, 1]), [ball])
    assert (found.freedoms, found.idle) == (3, ())


def test_two_arms_on_one_body_can_squeeze_it():
    """What they can do: torques J₁ᵀ w and −J₂ᵀ w for any force w on the body."""
    linkage = linkages.two_arms()
    drives = [f"{arm}_joint{k}" for arm in ("left", "right") for k in (1, 2, 3)]
    found = mobility(linkage, actuated=drives)
    assert (found.freedoms, found.gruebler, found.actuation_redundancy) == (3, 3, 3)
    assert len(found.internal_forces) == 0  # the arms give way unless their drives hold
    names = linkage.robot.joint_names
    body = found.x[[names.index(f"held_{name}") for name in ("x", "y", "yaw")]]
    held = []
    for arm, base in (("left", 0.0), ("right", 1.2)):
        angles = np.cumsum(found.x[[names.index(f"{arm}_joint{k}") for k in (1, 2, 3)]])
        pivots = np.cumsum(
            [[base, 0.0], *(length * np.array([np.cos(a), np.sin(a)]) for length, a in zip((0.5, 0.4), angles))], axis=0
        )
        held.append(np.array([[-(body[1] - p[1]), body[0] - p[0], 1.0] for p in pivots]).T)  # of the body's origin
    squeeze = np.hstack([held[0], -held[1]])
    off = squeeze - (squeeze @ found.internal_torques.T) @ found.internal_torques
    assert np.abs(off).max() < 1e-9  # closed to 1e-10


def test_freedoms_do_not_depend_on_the_unit_of_length():
    found = [
        mobility(pinned(tuple(k * a for a in FLAT[0]), k * FLAT[1], (k * 0.7, 0.0), [0.0, 0.0, np.pi])) for k in (1e-3, 1.0, 10.0)
    ]
    assert {(one.freedoms, one.first_order, one.kind) for one in found} == {(1, 2, "bifurcation")}
    assert found[0].singular_values == pytest.approx(found[2].singular_values, abs=1e-9)


def test_a_coordinate_that_rests_at_a_dead_point_does_not_tell_the_motion():
    """Crank and coupler in line: the rocker is at the end of its way, by the cosine law of 0.7, 0.4 and 0.5 m."""
    to_pin = np.arccos((0.7**2 + 0.5**2 - 0.4**2) / (2 * 0.7 * 0.5))
    rocker = np.arctan2(-0.7 * np.sin(to_pin), 0.5 - 0.7 * np.cos(to_pin))
    mechanism = dal.mechanisms.crank_rocker()
    angle = dal.Chosen("rocker", JointSum({"joint1": 1.0, "joint2": 1.0, "joint3": 1.0}))
    found = dal.mobility(mechanism, x=[to_pin, 0.0, rocker - to_pin], coordinates=[angle])
    assert found.chosen.condition > 1e7
    assert dal.mobility(mechanism, x=found.x).chosen.condition < 5.0
    assert (found.freedoms, found.kind) == (1, "regular")


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_has_as_many_freedoms_as_coordinates(name):
    mechanism = MECHANISMS[name]()
    found = dal.mobility(mechanism)
    assert (found.freedoms, found.kind) == (mechanism.n, "regular")
    assert found.count_in_space.freedoms + len(found.redundant) == found.freedoms
    assert 1.0 <= found.proposal.condition < np.inf
    assert 1.0 <= found.chosen.condition < np.inf


def test_a_wrong_number_of_coordinates_does_not_tell_the_motion():
    found = mobility(pinned(*FOUR_BAR, [1.2, -0.8, -1.6]), coordinates=["joint1", "joint2"])
    assert found.chosen.condition == np.inf
    assert "they do not tell the motion" in str(found)


@pytest.mark.slow
def test_the_joints_proposed_make_a_mechanism():
    linkage = linkages.stewart()
    found = mobility(linkage)
    made = dal.Mechanism("stewart", linkage.robot, linkage.closures, found.proposal.names, guess=linkage.guess)
    assert dal.mass_matrix(made, made.q0).shape == (6, 6)


def test_an_open_arm_has_as_many_freedoms_as_joints():
    found = dal.mobility(dal.robots.scara(), q=[0.1, 0.2, 0.3, 0.4])
    assert (found.freedoms, found.gruebler, found.kind) == (4, 4, "regular")
    assert found.x.tolist() == [0.1, 0.2, 0.3, 0.4]


def test_the_report_and_the_line():
    found = mobility(pinned(*FOUR_BAR, [1.2, -0.8, -1.6], "revolute"))
    report = str(found).splitlines()
    assert report[0] == "bars: 1 freedom; the position is regular"
    assert [line[2:23].strip() for line in report[1:]] == [
        *("first order", "singular values", "second order", "Gruebler-Kutzbach"),
        *("redundant", "idle", "internal forces", "fit for coordinates"),
    ]  # fmt: skip
    assert repr(found) == "Mobility('bars': freedoms=1, regular, redundant=3, idle=0, count=1)"


def test_a_result_cannot_be_changed():
    found = dal.mobility(dal.mechanisms.four_bar())
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.freedoms = 2
    with pytest.raises(ValueError, match="read-only"):
        found.x[0] = 0.0


FOUR = pinned(*FOUR_BAR, [1.2, -0.8, -1.6])


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: mobility(pinned((0.0, 0.3, 0.7), 0.5, (2.0, 0.0), [0.1, 0.1, 0.1])),
            ModelError,
            "closure 'pin' cannot be met: near the guess its condition 'x' stays off by 0.5",
        ),
        (
            lambda: dal.mobility(FOUR.robot, FOUR.closures, x=[1.2, -0.8, -1.6]),
            ModelError,
            "x: positions of 'bars' found that leave closure 'pin' .* off by .*Give them as guess=",
        ),
        (lambda: dal.mobility(FOUR.robot, FOUR.closures, q=[1.2]), ModelError, "has no coordinates yet. Give x= or guess=."),
        (lambda: mobility(FOUR, x=[0, 0, 0]), ModelError, "mobility: x and guess given, but one of them tells the position"),
        (
            lambda: dal.mobility(dal.mechanisms.four_bar(), FOUR.closures),
            ModelError,
            "mobility: closures given, but 'four_bar' is a mechanism and has its own. Leave them out.",
        ),
        (lambda: mobility(FOUR, coordinates=["joint9"]), UnknownNameError, "joint9"),
        (lambda: mobility(FOUR, actuated=["joint9"]), UnknownNameError, "actuated: joint: 'joint9' is not known"),
        (lambda: dal.mobility(dal.mechanisms.crank_rocker(), q=[0.1, 0.2]), dal.DalembertError, "q: shape"),
        (lambda: dal.mobility(dal.mechanisms.four_bar(), q=[3.0]), ModelError, "it has no positions at joint1 = 3"),
        (lambda: dal.mobility("four_bar"), dal.DalembertError, "mobility: system"),
        (
            lambda: dal.Mechanism("m", FOUR.robot, FOUR.closures, ["joint1", "joint2"], guess=FOUR.guess),
            ModelError,
            "Leave out 1; dal.mobility names joints that are fit.",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_analysed_is_refused_in_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
