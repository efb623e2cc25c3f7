"""Torques as polynomials of rates, and functions of one rate alone as variables of their own."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.bounds.rate_polynomial import NotPolynomialError, RateReading
from dalembert.dynamics import engine
from dalembert.expr import Expr, interpret, ops, trace
from tests.robots import PLAIN, random_robot


def read(program, inputs, lo=-1.0, hi=2.0):
    """All outputs as polynomials in the entries of these inputs."""
    ranges = {node.index: (lo, hi) for k in inputs for node in program.entries[k]}
    reading = RateReading(ranges)
    return reading, reading.read([x for result in program.results for x in result])


def coefficient(scalar, q):
    """The value of a coefficient at some q."""
    if not isinstance(scalar, Expr):
        return float(scalar)
    program = trace(lambda x: [replay(scalar, x)], {"q": (len(q),)}, ["c"])
    return float(interpret.run(program, q)[0][0])


def replay(scalar, x):
    from dalembert.expr.graph import reachable

    graph, values = x[0].graph, {}
    for node in reachable([scalar]):
        if node.op == "input":
            values[node] = x[int(node.value[2:-1])]
        elif node.op == "const":
            values[node] = node.value
        else:
            values[node] = graph.apply(node.op, *(values[a] for a in node.args))
    return values[scalar]


def test_a_torque_is_the_polynomial_of_its_coefficients(rng):
    robot = random_robot(rng, 3, PLAIN)
    program = engine.program(robot, "inverse_dynamics", rolled=False)
    reading, polynomials = read(program, (1, 2))
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))
    place = {
        node.index: x
        for nodes, values in zip(program.entries[1:], (qd, qdd), strict=True)
        for node, x in zip(nodes, values, strict=True)
    }
    for i, polynomial in enumerate(polynomials):
        total = sum(coefficient(c, q) * np.prod([place[reading.variables[v]] for v in m]) for m, c in polynomial.items())
        assert total == pytest.approx(dal.inverse_dynamics(robot, q, qd, qdd)[i], rel=1e-9, abs=1e-9)
        assert max(len(m) for m in polynomial) <= 2


def test_friction_is_one_variable_with_the_range_of_its_law():
    law = dal.Friction(viscous=0.5, coulomb=2.0, coulomb_negative=1.0, breakaway=3.0, stribeck_velocity=0.1)
    arm = dal.robots.pelican().replace(parameters=dal.robots.pelican().parameters.replace(friction={"joint1": law}))
    program = engine.program(arm, "friction_torque", rolled=False)
    reading, (first, second) = read(program, [k for k, slot in enumerate(program.inputs) if slot.name == "qd"])
    assert list(first) == [(len(reading.variables) - 1,)]
    lo, hi = reading.bounds[-1]
    speeds = np.append(np.linspace(-1.0, 2.0, 100_001), [1e-9, -1e-9])
    torque = dal.friction_torque(arm, np.stack([speeds, 0 * speeds], axis=1))[:, 0]
    assert lo <= torque.min()
    assert hi >= torque.max()
    # Pieces are a thousandth wide and slopes some ten.
    assert hi - torque.max() < 0.05
    assert torque.min() - lo < 0.05
    assert set(second) <= {(), (0,), (1,)}


def test_the_difference_of_two_laws_of_one_input_is_one_variable():
    program = trace(lambda y, q: [(ops.sign(y[0]) * 2.0 + q[0]) - (ops.sign(y[0]) + y[0])], {"y": (1,), "q": (1,)}, ["f"])
    reading, (polynomial,) = read(program, (0,), -1.0, 1.0)
    assert len([m for m in polynomial if m]) == 1
    lo, hi = reading.bounds[-1]
    # sign(y) - y is between -1 and 1 but for the pieces of the range
    assert -1.01 < lo <= -1.0
    assert 1.0 <= hi < 1.01


def test_an_input_with_one_value_is_a_number():
    program = trace(lambda y, q: [y[0] * q[0] + y[0]], {"y": (1,), "q": (1,)}, ["f"])
    reading, (polynomial,) = read(program, (0,), 0.5, 0.5)
    assert list(polynomial) == [()]
    assert reading.variables == []


@pytest.mark.parametrize(
    "function",
    [
        lambda y, q: [q[0] / (y[0] + q[0])],
        lambda y, q: [ops.sin(y[0] * q[0])],
        lambda y, q: [1.0 / y[0]],
        lambda y, q: [ops.where(q[0], y[0], 1.0)],
    ],
)
def test_what_is_no_polynomial_is_told(function):
    with pytest.raises(NotPolynomialError):
        read(trace(function, {"y": (1,), "q": (1,)}, ["f"]), (0,))


@pytest.fixture
def rng():
    return np.random.default_rng(21)
