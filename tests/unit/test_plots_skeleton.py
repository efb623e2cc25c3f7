"""Stick figures: which points are drawn, in a plane or in space, and what is refused."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import dalembert as dal
from dalembert import plots
from dalembert.errors import ModelError, ShapeError, UnknownNameError
from dalembert.plots.stick_figure import Maker, outline
from tests.platforms import BASE, HEIGHT, RIM, TOP, WAIST, corners, stewart

Figure = pytest.importorskip("matplotlib.figure").Figure


@pytest.fixture
def flat():
    """Plane axes that no window knows of."""
    return Figure(layout="constrained").subplots()


@pytest.fixture
def solid():
    """Axes in space."""
    return Figure(layout="constrained").add_subplot(projection="3d")


def _marks(robot, x, mechanism=None):
    """Where the marks of each kind are at the last configuration."""
    found: dict[str, list] = {}
    for mark in Maker(robot, np.atleast_2d(x), mechanism).figure().marks:
        found.setdefault(mark.kind, []).append(mark.at[-1])
    return {kind: np.array(points) for kind, points in found.items()}


def _segments(ax):
    """Both ends of all thick lines."""
    return [line.get_xydata() for line in ax.get_lines() if line.get_linewidth() == 3.2 and len(line.get_xdata()) == 2]


def test_the_bars_of_a_four_bar_linkage_are_drawn_at_their_lengths(flat):
    plots.skeleton(dal.mechanisms.crank_rocker(), [0.7], ax=flat)
    lengths = [np.linalg.norm(np.diff(ends, axis=0)) for ends in _segments(flat)]
    assert lengths == pytest.approx([0.2, 0.5, 0.4], abs=1e-12)  # positions are closed to rounding


def test_marks_stand_at_joints_closures_and_on_the_ground():
    mechanism = dal.mechanisms.crank_rocker()
    marks = _marks(mechanism.robot, mechanism.assemble([0.7]).x, mechanism)
    assert marks["closure"] == pytest.approx(np.array([[0.5, 0, 0]]), abs=1e-12)
    assert sorted(marks["ground"][:, 0]) == pytest.approx([0.0, 0.5], abs=1e-12)
    assert marks["revolute"][1] == pytest.approx([0.2 * np.cos(0.7), 0.2 * np.sin(0.7), 0], abs=1e-15)


def test_only_the_joint_of_the_coordinate_is_driven():
    mechanism = dal.mechanisms.four_bar()
    marks = Maker(mechanism.robot, mechanism.seed[None], mechanism).figure().marks
    assert [mark.driven for mark in marks if mark.kind == "revolute"] == [True, False, False]
    arm = dal.robots.two_link_planar()
    assert all(mark.driven for mark in Maker(arm, np.zeros((1, 2))).figure().marks if mark.kind == "revolute")


def test_a_planar_system_is_drawn_in_its_plane_and_a_spatial_one_in_space():
    from matplotlib import pyplot

    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        plane = plots.skeleton(dal.mechanisms.four_bar())
        assert (plane.name, plane.get_xlabel(), plane.get_ylabel()) == ("rectilinear", "x [m]", "y [m]")
        upright = plots.skeleton(dal.robots.pendulum(), [0.4])
        assert (upright.get_xlabel(), upright.get_ylabel()) == ("x [m]", "z [m]")
        space = plots.skeleton(dal.robots.puma560())
        assert (space.name, space.get_zlabel()) == ("3d", "z [m]")
        pyplot.close("all")


def test_nothing_is_cut_off_and_nothing_is_logged_by_a_figure_of_its_own(caplog):
    from matplotlib import pyplot

    with pyplot.rc_context(), caplog.at_level(logging.WARNING):
        pyplot.switch_backend("agg")
        figure = plots.skeleton(dal.mechanisms.four_bar(), names=True).figure
        figure.draw_without_rendering()
        inside = figure.get_tightbbox()
        assert inside.x0 >= 0
        assert inside.y0 >= 0
        assert inside.x1 <= figure.get_figwidth()
        assert inside.y1 <= figure.get_figheight()
        pyplot.close(figure)
    assert not caplog.records


def test_the_same_length_is_drawn_alike_in_every_direction(flat, solid):
    assert plots.skeleton(dal.mechanisms.four_bar(), ax=flat).get_aspect() == 1.0
    plots.skeleton(dal.robots.scara(), ax=solid)
    lengths = np.array([np.diff(solid.get_xlim()), np.diff(solid.get_ylim()), np.diff(solid.get_zlim())])[:, 0]
    assert solid._box_aspect / lengths == pytest.approx(np.full(3, (solid._box_aspect / lengths)[0]), rel=1e-12)


def test_a_view_projects_on_its_plane(flat):
    robot = dal.robots.scara()
    ax = plots.skeleton(robot, view="xz", ax=flat)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "z [m]")


def test_several_configurations_are_faint_but_for_the_last_and_the_path_leads_through_all(flat):
    mechanism = dal.mechanisms.crank_rocker()
    q = np.linspace(0.0, 6.0, 40)[:, None]
    point = (0.25, 0.1, 0.0)
    plots.skeleton(mechanism, q, trace=("coupler", point), ghosts=5, ax=flat)
    faint = {round(float(line.get_alpha()), 6) for line in flat.get_lines() if line.get_alpha() not in (None, 1.0)}
    assert len(faint) == 1
    (path,) = [line.get_xydata() for line in flat.get_lines() if line.get_label() == "path"]
    poses = dal.forward_kinematics(mechanism.robot, mechanism.assemble(q).x, link="coupler")
    assert path == pytest.approx((poses @ [*point, 1.0])[:, :2], abs=1e-12)  # two ways to the same points, at rounding


def test_a_platform_is_a_plate_with_its_corners_where_legs_end():
    mechanism = stewart()
    (line,) = [line for line in Maker(mechanism.robot, mechanism.seed[None], mechanism).figure().lines if line.name == "platform"]
    wanted = np.array(corners(WAIST, TOP)) + [0, 0, HEIGHT]
    assert line.closed
    assert np.array(sorted(line.points[0].tolist())) == pytest.approx(np.array(sorted(wanted.tolist())), abs=1e-12)
    steps = np.diff(np.concatenate([line.points[0], line.points[0][:1]]), axis=0)
    assert np.linalg.norm(steps, axis=1).max() < 1.01 * 2 * WAIST * np.sin(np.deg2rad(46))  # round about, not across


def test_a_point_inside_a_plate_is_no_corner_of_it():
    corner = [np.array([[x, y, 0.3]]) for x, y in ((0.0, 0.0), (1.0, 0.0), (0.4, 0.3), (1.0, 1.0), (0.0, 1.0), (0.5, 0.5))]
    plate = outline(corner).points[0]
    assert sorted(map(tuple, plate.round(12))) == [(0, 0, 0.3), (0, 1, 0.3), (1, 0, 0.3), (1, 1, 0.3)]


def test_a_traced_point_of_a_coupler_makes_it_a_triangle_and_one_of_a_platform_stands_on_it():
    linkage, platform = dal.mechanisms.crank_rocker(), stewart()
    coupler = [
        s for s in Maker(linkage.robot, linkage.seed[None], linkage, ("coupler", (0.2, 0.1, 0))).figure().lines if s.closed
    ]
    assert [(line.name, line.points.shape) for line in coupler] == [("coupler", (1, 3, 3))]
    made = Maker(platform.robot, platform.seed[None], platform, ("platform", (0, 0, 0.2))).figure()
    plate, spur = (next(s for s in made.lines if s.name == "platform" and s.closed is closed) for closed in (True, False))
    assert plate.points.shape == (1, 6, 3)
    assert spur.points[0, 1] == pytest.approx([0, 0, HEIGHT + 0.2], abs=1e-12)


@pytest.mark.slow
def test_every_mechanism_of_the_catalogue_is_drawn_with_all_its_closures():
    for make in dal.mechanisms.CATALOGUE.values():
        mechanism = make()
        made = Maker(mechanism.robot, mechanism.seed[None], mechanism).figure()
        told = sum(mark.kind == "closure" for mark in made.marks) + sum(line.kind in ("rod", "closure") for line in made.lines)
        assert told >= sum(closure.type != "function" for closure in mechanism.closures), mechanism.name


def test_a_rod_that_ends_in_a_closure_is_not_led_to_its_centre_of_mass():
    mechanism = stewart()
    assert "mass" not in _marks(mechanism.robot, mechanism.seed, mechanism)


def test_a_slide_on_the_ground_is_a_slider_on_a_rail():
    robot = dal.robots.two_link_cartesian()
    marks = _marks(robot, [0.3, 0.4])
    assert len(marks["slider"]) == len(marks["prismatic"]) == 1
    assert np.linalg.norm(marks["slider"][0] - marks["ground"][0]) == pytest.approx(0.3, abs=1e-12)
    assert [line.kind for line in Maker(robot, np.array([[0.3, 0.4]])).figure().lines].count("rail") == 1


def test_joints_that_meet_in_a_massless_link_are_one_mark():
    mechanism = stewart()
    marks = _marks(mechanism.robot, mechanism.seed, mechanism)
    assert len(marks["ball"]) == 7  # six feet and the ball that the tree keeps
    assert "revolute" not in marks
    assert len(marks["closure"]) == 5
    assert marks["ground"] == pytest.approx(np.array(corners(RIM, BASE)), abs=1e-15)


def test_virtual_slides_of_a_free_body_are_not_drawn():
    mechanism = stewart(free=True)
    figure = Maker(mechanism.robot, mechanism.seed[None], mechanism).figure()
    assert sum(mark.kind == "prismatic" for mark in figure.marks) == 6  # those of the legs
    assert not any(line.name.startswith("virtual") for line in figure.lines)


def test_a_rod_between_two_points_is_a_line_of_its_length():
    q = {"a": 0.0, "mass": 1.0, "com": (0.5, 0, 0), "inertia": (0, 0, 0.1)}
    arm = dal.from_dh([q, q | {"a": 1.0}], convention="modified", gravity=(0, -9.81, 0))
    rod = dal.Closure("rod", "distance", (("link2", (1.0, 0, 0)), ("world", (1.0, 1.5, 0))), length=0.8)
    mechanism = dal.Mechanism("braced", arm, [rod], ["joint1"], guess=[0.3, 0.9])
    (line,) = [line for line in Maker(arm, mechanism.seed[None], mechanism).figure().lines if line.kind == "rod"]
    assert np.linalg.norm(np.diff(line.points[0], axis=0)) == pytest.approx(0.8, abs=1e-12)


def test_a_link_without_another_end_leads_to_its_centre_of_mass():
    link = dal.Link("bob", 1.0, np.array([0.0, 0, -0.6]))
    robot = dal.Robot.from_parts(
        "p", [dal.Link("base"), link], [dal.Joint("swing", "continuous", "base", "bob", axis=np.eye(3)[1])]
    )
    assert _marks(robot, [0.0])["mass"] == pytest.approx(np.array([[0.0, 0, -0.6]]))


def test_positions_given_to_a_mechanism_are_the_ones_drawn():
    mechanism = dal.mechanisms.four_bar()
    other = mechanism.assemble([1.2], near=[1.2, 1.0, 1.5]).x
    axes = Figure(layout="constrained").subplots(1, 3)
    placed = plots.skeleton(mechanism.at(x=other), [1.2], ax=axes[0])
    started = plots.skeleton(mechanism.at(near=other), [1.2], ax=axes[1])
    silent = plots.skeleton(mechanism.at(x=other), ax=axes[2])
    for ax in (started, silent):
        np.testing.assert_allclose(_segments(ax), _segments(placed), atol=1e-12)


def test_configurations_out_of_reach_are_left_out_with_a_warning(flat):
    mechanism = dal.mechanisms.four_bar()
    reachable = mechanism.assemble(np.linspace(0.0, 3.1, 32)[:, None]).found
    assert reachable.any()
    if reachable.all():
        pytest.fail("this linkage turns fully: choose another one")
    with pytest.warns(dal.DalembertWarning, match="no positions|not found"):
        plots.skeleton(mechanism, np.linspace(0.0, 3.1, 32)[:, None], ax=flat)


def test_what_cannot_be_drawn_is_refused(flat, solid):
    four_bar, scara = dal.mechanisms.four_bar(), dal.robots.scara()
    with pytest.raises(ShapeError, match=r"q: shape \(2,\) found, \(1,\) or \(K, 1\) expected"):
        plots.skeleton(four_bar, [0.1, 0.2], ax=flat)
    with pytest.raises(UnknownNameError, match="view: 'zx' is not known"):
        plots.skeleton(four_bar, view="zx", ax=flat)
    with pytest.raises(ShapeError, match="axes: plane ones found for a figure in space"):
        plots.skeleton(scara, ax=flat)
    with pytest.raises(ShapeError, match="view: 'xz' found for axes in space"):
        plots.skeleton(scara, view="xz", ax=solid)
    with pytest.raises(ShapeError, match="elevation and azimuth"):
        plots.skeleton(scara, view=(1.0, 2.0, 3.0))
    with pytest.raises(UnknownNameError, match="trace: link 'copler' is not known|trace: link: 'copler'"):
        plots.skeleton(four_bar, trace="copler", ax=flat)
    with pytest.raises(ModelError, match=r"system: .* found; a Robot or a Mechanism expected"):
        plots.skeleton("panda", ax=flat)
    with pytest.raises(ModelError, match="several tips and no tool"):
        plots.skeleton(stewart(), trace="tool", ax=solid)


@pytest.mark.parametrize("name", ["panda", "puma560", "ur5", "scara", "stanford"])
def test_numbers_of_axes_in_space_do_not_meet_in_a_corner(name):
    robot = getattr(dal.robots, name)()
    ax = dal.plots.skeleton(robot, np.full(robot.n, 0.3))
    (low, high), ticks = (
        zip(ax.get_xlim(), ax.get_ylim(), strict=True),
        {side: getattr(ax, f"get_{side}ticks")() for side in "xyz"},
    )
    longest = max(np.ptp(getattr(ax, f"get_{side}lim")()) for side in "xyz")
    assert all(len(values) > 1 for values in ticks.values())
    near_end, near_start = high[0] - ticks["x"].max() < 0.04 * longest, ticks["y"].min() - low[1] < 0.04 * longest
    assert not (near_end and near_start)


def test_configurations_that_are_no_numbers_are_left_out_and_never_all_of_them():
    robot, q = dal.robots.panda(), np.full(7, 0.3)
    some = dal.plots.skeleton(robot, [q, q * np.nan, q], legend=False)
    assert len(some.get_lines()) == len(dal.plots.skeleton(robot, [q, q], legend=False).get_lines())
    with pytest.raises(ShapeError, match="q: NaN or infinity found for joint 'joint1'; there is no configuration"):
        dal.plots.skeleton(robot, q * np.nan)


def test_numbers_follow_an_axis_in_space_that_is_widened():
    ax = dal.plots.skeleton(dal.robots.panda(), np.full(7, 0.3))
    ax.set_xlim(-2.0, 2.0)
    assert ax.get_xticks().min() <= -1.0
