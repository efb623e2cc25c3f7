"""Batches of mechanisms as of robots: shapes, threads, outputs, kinds of arrays; and mechanisms as records."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import dalembert as dal
from tests.mechanism_cases import CASES

FOUR_BAR = CASES["four_bar"]()
Q = FOUR_BAR.q0 + np.linspace(-0.1, 0.1, 6)[:, None]
QD, QDD = np.full((6, 1), 0.7), np.full((6, 1), -0.4)
TAU = dal.inverse_dynamics(FOUR_BAR, Q, QD, QDD)


def test_leading_axes_broadcast():
    assert dal.inverse_dynamics(FOUR_BAR, Q.reshape(2, 3, 1), QD[0], QDD[0]) == pytest.approx(TAU.reshape(2, 3, 1), rel=1e-13)
    assert dal.inverse_dynamics(FOUR_BAR, Q[:, None], QD[None, :3], QDD[0]).shape == (6, 3, 1)
    assert dal.mass_matrix(FOUR_BAR, np.zeros((0, 1))).shape == (0, 1, 1)
    assert dal.constraint_forces(FOUR_BAR, np.zeros((0, 1)), QD[:0], QDD[:0]).closures.shape == (0, 1, 6)


def test_one_and_many_are_the_same():
    singles = [dal.inverse_dynamics(FOUR_BAR, *state) for state in zip(Q, QD, QDD, strict=True)]
    np.testing.assert_allclose(TAU, singles, rtol=1e-12)  # rounding of vectorised sines
    again = [dal.inverse_dynamics(FOUR_BAR, *state) for state in zip(Q, QD, QDD, strict=True)]
    np.testing.assert_array_equal(singles, again)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_results(threads):
    given = [np.tile(array, (2000, 1)) for array in (Q, QD, QDD)]
    np.testing.assert_array_equal(dal.inverse_dynamics(FOUR_BAR, *given, threads=threads), np.tile(TAU, (2000, 1)))
    placed = FOUR_BAR.at(x=FOUR_BAR.assemble(given[0], threads=threads).x)
    np.testing.assert_allclose(dal.inverse_dynamics(placed, *given, threads=threads), np.tile(TAU, (2000, 1)), rtol=1e-12)


def test_results_go_where_they_are_told():
    out = np.empty((6, 1))
    assert dal.inverse_dynamics(FOUR_BAR, Q, QD, QDD, out=out) is out
    np.testing.assert_array_equal(out, TAU)
    shared = Q.copy()
    dal.gravity_torque(FOUR_BAR, shared, out=shared)  # an output may be an input
    np.testing.assert_array_equal(shared, dal.gravity_torque(FOUR_BAR, Q))
    with pytest.raises(dal.DalembertError, match="out"):
        dal.inverse_dynamics(FOUR_BAR, Q, QD, QDD, out=np.empty((5, 1)))


@pytest.mark.parametrize("kind", ["list", "float32", "int", "fortran", "strided", "read-only"])
def test_kinds_of_arrays(kind):
    read_only = Q.copy()
    read_only.flags.writeable = False
    given = {
        "list": Q.tolist(),
        "float32": Q.astype(np.float32),
        "int": np.array([[1], [1]]),
        "fortran": np.asfortranarray(Q),
        "strided": np.repeat(Q, 2, axis=0)[::2],
        "read-only": read_only,
    }[kind]
    expected = dal.gravity_torque(FOUR_BAR, np.asarray(given, dtype=float).copy())
    np.testing.assert_allclose(dal.gravity_torque(FOUR_BAR, given), expected, rtol=1e-12)


@pytest.mark.slow
def test_dask_arrays_stay_dask_arrays():
    da = pytest.importorskip("dask.array")
    found = dal.gravity_torque(FOUR_BAR, da.from_array(Q, chunks=(2, 1)))
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), dal.gravity_torque(FOUR_BAR, Q), rtol=1e-12)


def test_xarray_is_taken():
    xr = pytest.importorskip("xarray")
    np.testing.assert_array_equal(dal.gravity_torque(FOUR_BAR, xr.DataArray(Q)), dal.gravity_torque(FOUR_BAR, Q))


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda m: m.replace(), lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_equal_and_compute_the_same(way):
    again = way(FOUR_BAR)
    assert again == FOUR_BAR
    assert hash(again) == hash(FOUR_BAR)
    np.testing.assert_allclose(dal.inverse_dynamics(again, Q, QD, QDD), TAU, rtol=1e-12)
    assert len(pickle.dumps(again)) < 20_000  # without kernels


def test_a_mechanism_is_frozen_and_different_ones_are_not_equal():
    for field in dataclasses.fields(FOUR_BAR):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(FOUR_BAR, field.name, None)
    for array in (FOUR_BAR.guess, FOUR_BAR.seed, FOUR_BAR.q0):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    assert FOUR_BAR.replace(guess=FOUR_BAR.seed) != FOUR_BAR
    assert FOUR_BAR.replace(springs=()) != FOUR_BAR
    assert FOUR_BAR.replace(coordinates=("turn3",)) != FOUR_BAR
    assert repr(FOUR_BAR) == "Mechanism 'four-bar': 1 coordinate (turn1), 3 joints, 1 closure"
    assert len(repr(CASES["stewart"]())) < 300
