"""Loads that cannot be carried, and what is not a question: each is answered in a sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import InfeasibleError, MissingExtraError, ModelError, ShapeError, UnknownNameError
from dalembert.loads import cone_programmes
from tests.mechanisms_with_drives import motion, platform, two_arms, two_fingers


def one(mechanism):
    return tuple(array[0] for array in motion(mechanism, 1))


def test_a_load_beyond_the_limits_names_the_drive_and_the_factor():
    mechanism = two_fingers()
    q, qd, qdd = one(mechanism)
    needed = dal.distribute_load(mechanism, q, qd, qdd, objective="ratio", limits=100.0)
    limit = needed.ratios.max() * 100 / 1.5
    weak = [name for name, ratio in zip(needed.names, needed.ratios, strict=True) if ratio > needed.objective * (1 - 1e-9)]
    for objective in ("norm", "ratio"):
        with pytest.raises(InfeasibleError) as caught:
            dal.distribute_load(mechanism, q, qd, qdd, limits=limit, objective=objective)
        assert f"{', '.join(weak)} need at least 1.5 times their limits" in str(caught.value)
        assert "'two_fingers' cannot carry this load" in str(caught.value)
        assert "Raise limits or friction" in str(caught.value)


def test_one_weak_drive_without_others_to_help_is_named_alone():
    mechanism = two_fingers().replace(actuated=("left_joint1", "left_joint2", "right_joint1"))
    q, qd, qdd = one(mechanism)
    u = np.abs(dal.distribute_load(mechanism, q, qd, qdd).torques)
    with pytest.raises(InfeasibleError, match=r"left_joint2 needs at least 2 times its limit of "):
        dal.distribute_load(mechanism, q, qd, qdd, limits={"left_joint2": u[1] / 2})


def test_rows_that_cannot_be_carried_are_marked_with_one_warning():
    mechanism = two_arms()
    q, qd, qdd = motion(mechanism, 40)
    ratio = dal.distribute_load(mechanism, q, qd, qdd, objective="ratio", limits=100.0).objective
    limit = 100 * np.quantile(ratio, 0.7)
    for objective in ("norm", "ratio"):
        with pytest.warns(dal.DalembertWarning) as caught:
            shared = dal.distribute_load(mechanism, q, qd, qdd, limits=limit, t=np.linspace(0, 1, 40), objective=objective)
        assert (shared.feasible == (100 * ratio <= limit * (1 + 1e-9))).all()
        assert (np.isnan(shared.torques).all(axis=-1) == ~shared.feasible).all()
        assert (np.isnan(shared.objective) == ~shared.feasible).all()
        assert np.isnan(shared.wrenches[~shared.feasible]).all()
        (warning,) = caught
        worst = int(np.argmax(ratio))
        assert warning.message.code == "load-infeasible"
        assert warning.filename == __file__
        lost = int((~shared.feasible).sum())
        assert f"{lost} of 40 rows cannot be carried, and are NaN; at worst, row {worst} (t = {worst / 39:.6g})" in str(
            warning.message
        )
        assert f"need at least {100 * ratio[worst] / limit:.4g} times their limits" in str(warning.message)


def test_rows_without_positions_stay_nan_beside_others():
    mechanism = two_arms()
    q, qd, qdd = motion(mechanism, 3)
    q = q.copy()
    q[1] = np.nan
    shared = dal.distribute_load(mechanism, q, qd, qdd, internal=dal.HeldForce("left_hand", (1, 0, 0), [1.0, 2.0, 3.0]))
    assert shared.feasible.tolist() == [True, False, True]
    assert np.isnan(shared.torques[1]).all()
    alone = dal.distribute_load(mechanism, q[2], qd[2], qdd[2], internal=dal.HeldForce("left_hand", (1, 0, 0), 3.0))
    assert shared.torques[2] == pytest.approx(alone.torques, rel=1e-12)


def test_contacts_that_no_torques_hold_are_named():
    mechanism = two_fingers()
    q, qd, qdd = one(mechanism)
    outwards = {"left_tip": dal.Contact((-1, 0, 0), 0.3), "right_tip": dal.Contact((1, 0, 0), 0.3)}
    inwards = {name: contact.replace(normal=-contact.normal) for name, contact in outwards.items()}
    assert dal.distribute_load(mechanism, q, qd, qdd, contacts=inwards, limits=1e4).feasible
    above = {"left_tip": dal.Contact((0, -1, 0), axes="world"), "right_tip": dal.Contact((0, -1, 0), axes="world")}
    for limits in (None, 1e4):
        with pytest.raises(InfeasibleError, match=r"no torques hold the contacts? .*_tip, which lacks? .* N at least"):
            dal.distribute_load(mechanism, q, qd, qdd, contacts=above, limits=limits)


def test_contacts_are_named_where_what_is_held_leaves_nothing_to_choose():
    """Two fingers press in one way only, and that is held too weakly for the friction of the tips."""
    mechanism = two_fingers()
    q, qd, qdd = one(mechanism)
    tips = {"left_tip": dal.Contact((1, 0, 0), 0.01), "right_tip": dal.Contact((-1, 0, 0), 0.01)}
    held = dal.Squeeze("left_tip", "right_tip", 1.0)
    with pytest.raises(InfeasibleError, match=r"no torques hold the contacts? .*_tip, which lacks? .* N at least"):
        dal.distribute_load(mechanism, q, qd, qdd, contacts=tips, internal=held, limits=1e4)


def test_a_missing_solver_is_named_with_its_extra_and_needed_only_where_something_binds(monkeypatch):
    mechanism = two_arms()
    q, qd, qdd = one(mechanism)

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(cone_programmes.importlib, "import_module", absent)
    u = np.abs(dal.distribute_load(mechanism, q, qd, qdd, limits=1e3).torques)
    with pytest.raises(MissingExtraError, match=r"needs clarabel, which is not installed.*'loads'"):
        dal.distribute_load(mechanism, q, qd, qdd, limits=u.max() * 0.9)


def test_limits_of_the_model_count():
    mechanism = platform(effort=22.6)
    q, qd, qdd = one(mechanism)
    free = dal.distribute_load(mechanism, q, qd, qdd, limits=np.inf)
    shared = dal.distribute_load(mechanism, q, qd, qdd, limits={"b_slide": 30.0})
    assert shared.limits.tolist() == [22.6, 30.0, 22.6, 22.6]
    assert np.abs(free.torques).max() > 22.6
    assert (shared.ratios <= 1 + 1e-9).all()


QUESTIONS = [
    ({"objective": "least"}, UnknownNameError, "objective: 'least' is not known.*norm, ratio"),
    ({"objective": "ratio"}, ModelError, "some drives have none. Give them with limits="),
    ({"objective": "ratio", "limits": 1e3, "weights": np.ones(6)}, ModelError, "weights: they have no effect on the objective"),
    ({"weights": np.ones(4)}, ShapeError, r"weights: shape \(4,\) found, \(6,\) or \(6, 6\) expected"),
    ({"weights": -np.ones(6)}, ModelError, "not symmetric and positive definite"),
    ({"weights": {"elbow": 1.0}}, UnknownNameError, "weights: drive: 'elbow' is not known"),
    ({"limits": np.ones(2)}, ShapeError, r"limits: shape \(2,\) found, \(6,\) expected"),
    ({"limits": {"left_joint1": 0.0}}, ModelError, "limits: 'left_joint1' has a largest torque of 0; a number above 0"),
    ({"limits": {"left_joint9": 1.0}}, UnknownNameError, "did you mean 'left_joint"),
    ({"contacts": {"middle": dal.Contact((1, 0, 0))}}, UnknownNameError, "contacts: closure: 'middle' is not known"),
    ({"contacts": {"left_hand": (1, 0, 0)}}, ModelError, r"contacts: 'left_hand': .*Contact\(...\) is expected"),
    ({"contacts": dal.Contact((1, 0, 0))}, dal.DalembertError, "contacts: "),
    ({"internal": 20.0}, ModelError, r"a sequence of HeldForce\(...\) and Squeeze\(...\) is expected"),
    ({"internal": ["left_hand"]}, ModelError, "internal: 'left_hand' found"),
    ({"internal": dal.HeldForce("hand", (1, 0, 0), 1.0)}, UnknownNameError, "internal: closure: 'hand' is not known"),
    ({"internal": dal.HeldForce("left_hand", (1, 0, 0), [1.0, 2.0])}, ShapeError, r"value of shape \(2,\) found, \(\) expected"),
    ({"internal": [dal.HeldForce("left_hand", d, 1.0) for d in ((1, 0, 0), (0, 1, 0), (1, 1, 0), (1, 2, 0))]}, ModelError,
     "4 forces are held, but 6 drives for 3 freedoms leave 3 to choose"),
    ({"internal": [dal.HeldForce("left_hand", d, 1.0) for d in ((1, 0, 0), (0, 1, 0), (1, 1, 0))]}, ModelError,
     "the drives cannot set what is held: it follows from the motion, or from the other forces"),
    ({"t": [0.0, 1.0]}, ShapeError, r"t: shape \(2,\) found, \(\) expected"),
]  # fmt: skip


@pytest.mark.parametrize("options, kind, sentence", QUESTIONS)
def test_what_has_no_meaning_is_refused(options, kind, sentence):
    mechanism = two_arms()
    with pytest.raises(kind, match=sentence):
        dal.distribute_load(mechanism, *one(mechanism), **options)


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: dal.Contact((0, 0, 0)), "contact: normal"),
        (lambda: dal.Contact((0, 0, 1), friction=0.0), "friction 0 found; a coefficient above 0"),
        (lambda: dal.Contact((0, 0, 1), least_normal=-1.0), "a contact cannot pull"),
        (lambda: dal.Contact((0, 0, 1), axes="link"), "contact: axes: 'link' is not known"),
        (lambda: dal.HeldForce("a", (1, 0, 0), np.nan), "held force: value: .*NaN"),
        (lambda: dal.HeldForce("a", (1, 0, 0), 1.0, axes="b"), "held force: axes"),
        (lambda: dal.Squeeze("a", "a", 1.0), "squeeze: closure 'a' stands twice"),
    ],
)
def test_a_condition_without_meaning_is_refused(make, sentence):
    with pytest.raises(dal.DalembertError, match=sentence):
        make()


def test_a_robot_has_no_load_to_share():
    robot = dal.robots.pendulum()
    with pytest.raises(ModelError, match="a Mechanism is expected"):
        dal.distribute_load(robot, [0.0], [0.0], [0.0])
    open_chain = dal.Mechanism("open", robot, (), ("pivot",))
    with pytest.raises(ModelError, match="'open' has no closures, so each drive carries what inverse_dynamics says"):
        dal.distribute_load(open_chain, [0.0], [0.0], [0.0])


def test_fewer_drives_than_freedoms_are_refused():
    mechanism = two_fingers().replace(actuated=("left_joint1", "left_joint2"))
    with pytest.raises(ModelError, match=r"2 drives found \(left_joint1, left_joint2\), but 'two_fingers' has 3 freedoms"):
        dal.distribute_load(mechanism, *one(mechanism))


def test_drives_that_leave_a_motion_free_are_refused_with_its_direction():
    mechanism = platform().replace(actuated=("a_slide", "b_slide", "a_swing"))
    rest = np.zeros(3)
    assert dal.distribute_load(mechanism, mechanism.q0, rest, rest).feasible
    lame = two_fingers().replace(actuated=("left_joint1", "left_joint2", "object_x"))  # on one finger the object turns freely
    with pytest.raises(ModelError, match=r"drives of 'two_fingers' cannot push along .*object_yaw.*: whatever their torques"):
        dal.distribute_load(lame, lame.q0, rest, rest)
    with pytest.raises(ModelError, match="in row 0"):
        dal.distribute_load(lame, [lame.q0], rest, rest)


def test_a_squeeze_needs_one_link_between_two_closures():
    mechanism = two_fingers()
    turned = mechanism.closures[1].replace(between=mechanism.closures[1].between[::-1])
    other = mechanism.replace(closures=(mechanism.closures[0], turned))
    with pytest.raises(ModelError, match="acts on 'object_body' and 'right_tip' on 'right_rod2'; a squeeze needs two closures"):
        dal.distribute_load(other, *one(other), internal=dal.Squeeze("left_tip", "right_tip", 1.0))


def test_closures_between_joints_have_no_force_to_hold():
    rods = [{"a": a, "mass": 1.0, "com": (0.1, 0, 0), "inertia": (0, 0, 0.01)} for a in (0.0, 0.3)]
    belt = dal.Closure("belt", "belt", ("joint1", "joint2"), ratio=2.0)
    pair = dal.Mechanism("pair", dal.from_dh(rods, convention="modified"), [belt], ["joint1"], actuated=("joint1", "joint2"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shared = dal.distribute_load(pair, [0.3], [0.1], [0.5])
    assert shared.torques.shape == (2,)
    with pytest.raises(ModelError, match="'belt' acts between joints and has no force on a link"):
        dal.distribute_load(pair, [0.3], [0.1], [0.5], contacts={"belt": dal.Contact((1, 0, 0))})
