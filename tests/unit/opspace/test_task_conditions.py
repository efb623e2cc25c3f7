"""Tasks are judged as if the eigenvalues of every row were known, though those of a handful are found."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms.task_dynamics import condition_bound
from dalembert.dynamics.task_directions import task_directions
from dalembert.opspace import task_conditions
from dalembert.opspace.task_conditions import ANGLES_LOST, ANGLES_NEAR, NEAR, SINGULAR
from dalembert.opspace.task_sentences import direction_in_words

ARMS = ("puma560", "ur10", "panda")
WRIST = {"puma560": 4, "ur10": 4, "panda": 3}  # at zero the task is singular


def spectra(names, found):
    """Eigenvalues and vectors of the scaled mobility of every row; values without vectors, which differ in the last digits."""
    sizes = found.doubt[:, [2 + (name not in "xyz") for name in names]]
    scale = 1.0 / np.sqrt(sizes)
    scaled = found.mobility * scale[:, :, None] * scale[:, None, :]
    return np.linalg.eigvalsh(scaled), np.linalg.eigh(scaled)[1]


def conditions(values):
    return np.sqrt(values[:, -1].clip(1.0) / values[:, 0].clip(1e-30))


def some_rows(name, rng, count=2000):
    """Random rows, and others from near the singular poses to nearer than anything can be told."""
    robot = dal.load(name)
    q = rng.uniform(-3, 3, (count, robot.n))
    few = rng.choice(count, 40, replace=False)
    q[few, WRIST[name]] = 10.0 ** -rng.uniform(2, 10, 40)
    return robot, q


def told(call):
    """The result, and what was said by the code of each warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, {warning.message.code: str(warning.message) for warning in caught}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"directions": ("x", "z", "ry")}], ids=["six", "three"])
@pytest.mark.parametrize("name", ARMS)
def test_rows_are_refused_and_told_of_as_the_eigenvalues_of_all_of_them_say(name, options, rng, monkeypatch):
    robot, q = some_rows(name, rng)
    found, said = told(lambda: dal.operational_space(robot, q, **options))
    monkeypatch.setattr("dalembert.opspace.operational_functions.judge", lambda *given, **more: None)
    values, vectors = spectra(found.directions, dal.operational_space(robot, q, **options))
    exact = conditions(values)
    lost = np.isnan(found.Lambda).all(axis=(1, 2))
    assert np.array_equal(lost, exact > SINGULAR)
    near = np.where((exact > NEAR) & ~lost, exact, 0.0)
    assert ("near-singular-task" in said) == bool(near.any())
    if near.any():
        worst = int(near.argmax())
        words = re.search(r"\(row (\d+) is the worst\): condition (\S+), hardly moved along (.*)\. F", said["near-singular-task"])
        assert (int(words[1]), words[2]) == (worst, f"{near[worst]:.1e}")
        for direction, size in named(words[3]).items():
            assert size == pytest.approx(up(vectors[worst, :, 0])[found.directions.index(direction)], abs=0.0051)  # two digits
    assert ("singular-task" in said) == bool(lost.any())
    if lost.any():
        assert f"{lost.sum()} of {len(q)} rows" in said["singular-task"]
        assert f"row {int(exact.argmax())}:" in said["singular-task"]


def up(direction):
    return direction * np.sign(direction[np.abs(direction).argmax()])


def named(words):
    """The parts of a direction, from its words; one alone has no number."""
    return {name: float(size) for size, name in re.findall(r"([+-]\d\.\d\d) (\S+)", words)} or {words: 1.0}


def test_few_rows_are_looked_at(rng, monkeypatch):
    """Of 5000 random states of the UR10, some 200 are nearly singular, and the worst is found by the eigenvalues of very few."""
    looked = []
    for name in ("eigh", "eigvalsh"):
        whole = getattr(np.linalg, name)
        monkeypatch.setattr(np.linalg, name, lambda A, whole=whole: looked.append(A.size // 36) or whole(A))
    _, said = told(lambda: dal.operational_space(dal.robots.ur10(), rng.uniform(-3, 3, (5000, 6))))
    assert "near-singular-task" in said
    assert sum(looked) <= 10


def test_most_batches_are_settled_by_the_row_with_the_largest_bound(monkeypatch):
    """Rows that stand apart: neither the others nor a list of doubtful ones is looked at."""
    mobility = np.einsum("ki,ij->kij", [[0.5, 0.5, 0.5], [0.5, 1e-9, 0.5], [0.5, 0.5, 1e-7]], np.eye(3))
    doubt, task = figures(mobility), task_directions(directions=("x", "y", "z"))
    monkeypatch.setattr(task_conditions, "_DoubtfulRows", None)
    with pytest.warns(dal.DalembertWarning, match=r"row 1 is the worst\): condition 3\.2e\+04, hardly moved along y\."):
        assert task_conditions.judge("arm", task, doubt, mobility) is None
    with pytest.warns(dal.DalembertWarning, match=r"row 0, 1 is the worst"):
        assert task_conditions.judge("arm", task, doubt[None], mobility[None]) is None
    assert task_conditions.judge("arm", task, doubt[:0], mobility[:0]) is None
    assert task_conditions.judge("arm", task, doubt[:1], mobility[:1]) is None
    with pytest.raises(TypeError):  # a row that may be lost, or is no number, takes the longer way
        task_conditions.judge("arm", task, np.full((2, 4), np.nan), mobility[:2])


def test_a_direction_has_its_largest_parts_in_their_order_if_they_are_equal():
    def words(direction):
        return direction_in_words(direction, ("x", "y", "z", "rx", "ry", "rz"))

    assert words([0.0, -1.0, 0.05, 0.0, 0.0, 0.0]) == "y"
    assert words([0.5, -0.5 - 1e-9, 0.5 + 1e-8, 0.5, 0.0, 0.0]) == "+0.50 x -0.50 y +0.50 z"
    assert words([0.2, 0.3, 0.0, 0.5, -0.7, 0.09]) == "+0.70 ry -0.50 rx -0.30 y"


def test_of_rows_with_nearly_equal_bounds_the_worst_is_found():
    """Two hard directions: the largest bound is not that of the largest condition."""
    hard = np.array(
        [[0.5, 1e-7, 1e-7], [0.5, 0.9e-7, 0.5], [0.5, 0.5, 0.5]]
    )  # squared, in 1e7: bounds 1.4 and 1.1, conditions 1 and 1.1
    mobility = np.einsum("ki,ij->kij", hard, np.eye(3))
    doubt = figures(mobility)
    assert doubt[0, 0] > doubt[1, 0]
    with pytest.warns(dal.DalembertWarning, match=r"row 1 is the worst\): condition 3\.3e\+03, hardly moved along y"):
        assert task_conditions.judge("arm", task_directions(directions=("x", "y", "z")), doubt, mobility) is None


def figures(mobility):
    """What a kernel would say of a mobility whose easy directions have the size of one."""
    bounds = [condition_bound(A.tolist(), np.linalg.inv(A).tolist(), [1.0] * len(A)) for A in mobility]
    return np.column_stack([np.array(bounds, dtype=float), np.ones((len(mobility), 3))])


def test_a_row_whose_bound_alone_is_above_is_not_told_of():
    mobility = np.diag([1.0, 1.2e-6, 1.2e-6])[None]  # condition 913; the bound is above 1000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert figures(mobility)[0, 0] > NEAR**2
        assert task_conditions.judge("arm", task_directions(directions=("x", "y", "z")), figures(mobility), mobility) is None


@pytest.mark.parametrize("m", range(1, 7))
def test_the_bound_is_between_the_squared_condition_and_m_times_it(m, rng):
    """Equation (3) of task_dynamics, for random matrices of all conditions and random sizes."""
    for _ in range(50):
        Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
        values = np.sort(10.0 ** rng.uniform(-4, 1, m))
        sizes = np.where(np.arange(m) < 3, *rng.uniform(0.1, 10, 2))
        A = (Q * values) @ Q.T * np.sqrt(sizes[:, None] * sizes)
        bound = condition_bound(A.tolist(), np.linalg.inv(A).tolist(), sizes.tolist())
        squared = max(values[-1], 1.0) / values[0]
        assert (1 - 1e-9) * squared <= bound <= (1 + 1e-9) * m * squared  # an inverse, of condition 1e5


def test_near_angles_the_worst_row_is_that_of_angles_and_conditions_together(rng, monkeypatch):
    robot = dal.robots.puma560()
    q = rng.uniform(-3, 3, (3000, 6))
    q[:5] = [0.3, 0.4, -0.9, 0.0, np.pi / 2 + 0.5, 0.0]
    q[:5, 1] += [0.02, 0.005, 0.002, 1e-3, 0.0]  # how far the pitch is from π/2
    found, said = told(lambda: dal.operational_space(robot, q, angles="rpy"))
    monkeypatch.setattr("dalembert.opspace.operational_functions.judge", lambda *given, **more: None)
    whole = dal.operational_space(robot, q, angles="rpy")
    margin, exact = whole.doubt[:, 1], conditions(spectra(whole.directions, whole)[0])
    lost = (margin < ANGLES_LOST) | (exact > SINGULAR)
    assert np.array_equal(np.isnan(found.Lambda).all(axis=(1, 2)), lost)
    near = ~lost & ((exact > NEAR) | (margin < ANGLES_NEAR))
    weight = np.where(near, np.maximum(np.where(exact > NEAR, exact, 1.0), 1.0 / margin), 0.0)
    assert f"(row {weight.argmax()} is the worst)" in said["near-singular-task"]
