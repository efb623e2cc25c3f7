"""Rank analysis, and what is said where a map has no inverse: an error, a marked row of a batch, a warning, never silence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer
from dalembert.errors import DalembertWarning, ModelError, ShapeError, SingularError

ARM = dal.robots.two_link_planar()
BENT, STRETCHED, NEAR = [0.3, 0.8], [0.3, 0.0], [0.3, 1e-10]


def tip(q: object) -> dal.Influence:
    return transfer.rows(dal.influence(ARM, q, order=3), [0, 1])


def test_rank_condition_and_what_vanishes() -> None:
    found = transfer.rank(tip(STRETCHED))
    assert found.rank == 1
    assert found.condition > 1e15
    along = np.array([np.cos(0.3), np.sin(0.3)])
    assert found.left_null_space[:, 0] == pytest.approx(along)  # nothing moves the tip along the arm
    assert np.abs(tip(STRETCHED).G @ found.null_space[:, 0]).max() < 1e-15
    assert found.null_space[:, 0] == pytest.approx(np.array([-1.0, 2.0]) / np.sqrt(5))
    regular = transfer.rank(tip(BENT).G)
    assert (regular.rank, regular.null_space.shape, regular.left_null_space.shape) == (2, (2, 0), (2, 0))
    assert regular.singular_values == pytest.approx(np.linalg.svd(tip(BENT).G)[1])
    assert regular.condition == pytest.approx(np.linalg.cond(tip(BENT).G))


def test_rank_of_wide_tall_and_zero_matrices() -> None:
    wide = transfer.rank(np.eye(3)[:2])
    assert (wide.rank, wide.null_space.tolist(), wide.left_null_space.shape) == (2, [[0.0], [0.0], [1.0]], (2, 0))
    assert transfer.rank(np.eye(3)[:, :2]).left_null_space.tolist() == [[0.0], [0.0], [1.0]]
    zero = transfer.rank(np.zeros((2, 2)))
    assert (zero.rank, zero.condition, zero.null_space.shape) == (0, np.inf, (2, 2))


def test_rank_of_a_batch_of_different_ranks() -> None:
    G = np.array([np.eye(2), np.diag([1.0, 0.0]), np.full((2, 2), np.nan)])
    found = transfer.rank(G)
    assert found.rank.tolist() == [2, 1, 0]
    assert found.null_space.shape == (3, 2, 2)
    assert not found.null_space[0].any()
    assert found.null_space[1].tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert found.condition[:2].tolist() == [1.0, np.inf]
    assert np.isnan(found.condition[2])
    assert repr(found) == (
        "RankAnalysis(rank: (3,), singular_values: (3, 2), condition: (3,), null_space: (3, 2, 2), left_null_space: (3, 2, 2))"
    )


def test_the_tolerance_decides_what_counts_as_zero() -> None:
    G = np.diag([1.0, 1e-3])
    assert (transfer.rank(G).rank, transfer.rank(G, tolerance=1e-2).rank) == (2, 1)
    with pytest.raises(ModelError, match=r"tolerance: 2 found; a part of the largest singular value, from 0 to below 1"):
        transfer.rank(G, tolerance=2.0)


@pytest.mark.parametrize("name", ["inverse", "dependent", "transferred", "transferred_state"])
def test_a_singular_map_is_an_error_that_names_what_vanishes(name: str) -> None:
    found, named = tip(STRETCHED), {"new": ["x", "y"], "old": ["shoulder", "elbow"]}
    calls = {
        "inverse": lambda: transfer.inverse(found, **named),
        "dependent": lambda: transfer.dependent(found, found, **named),
        "transferred": lambda: transfer.transferred(transfer.open_chain(ARM, STRETCHED), found, **named),
        "transferred_state": lambda: transfer.transferred_state((np.eye(4), np.eye(4)), found, [1, 1], [0, 0], **named),
    }
    with pytest.raises(SingularError) as caught:
        calls[name]()
    head, _, rest = str(caught.value).partition("(")
    assert head == f"{name}: G has rank 1 where 2 is needed "
    assert rest.startswith("least singular value ")
    assert rest.endswith(
        "largest 2.2): no motion gives 0.96 x + 0.3 y, and 0.89 elbow - 0.45 shoulder moves none of the new coordinates. "
        "Choose other coordinates here, or move away from this configuration."
    )
    assert isinstance(caught.value, ValueError)


def test_coordinates_without_names_are_numbered() -> None:
    with pytest.raises(SingularError, match=r"no motion gives 0\.96 u1 \+ 0\.3 u2, and 0\.89 q2 - 0\.45 q1 moves none"):
        transfer.inverse(tip(STRETCHED))
    with pytest.raises(SingularError, match=r"rank 0 where 6 is needed .* no motion gives 1 u6, and 1 q6 moves"):
        transfer.inverse(np.zeros((6, 6)))
    n = 6  # a direction with many components is cut
    with pytest.raises(SingularError, match=r"no motion gives 0\.41 u1 .*0\.41 u\d \+ \.\.\., and"):
        transfer.inverse(np.eye(n) - np.ones((n, n)) / n)


def test_a_batch_marks_its_singular_rows_and_goes_on() -> None:
    q = np.array([BENT, STRETCHED, [0.1, -0.7], STRETCHED])
    with pytest.warns(DalembertWarning) as caught:
        found = transfer.inverse(tip(q), new=["x", "y"])
    (warning,) = caught
    assert warning.message.code == "singular"
    assert str(warning.message).startswith(
        "inverse: 2 of 4 entries are singular and NaN in the result, the first at (1,): G has rank 1 where 2 is needed"
    )
    assert "no motion gives 0.96 x + 0.3 y" in str(warning.message)
    assert warning.filename == __file__
    for array, other in zip(found, transfer.inverse(tip(q[[0, 2]])), strict=True):
        assert np.isnan(array[[1, 3]]).all()
        assert np.array_equal(array[[0, 2]], other)


def test_rows_of_nan_stay_nan_without_a_word() -> None:
    G = np.array([np.eye(2), np.full((2, 2), np.nan)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = transfer.inverse(G).G
    assert np.array_equal(found[0], np.eye(2))
    assert np.isnan(found[1]).all()


def test_near_a_singularity_one_warning_says_how_near() -> None:
    with pytest.warns(DalembertWarning) as caught:
        found = transfer.inverse(tip(NEAR), new=["x", "y"])
    (warning,) = caught
    assert warning.message.code == "near-singular"
    assert str(warning.message) == (
        "inverse: condition 5e+10, since hardly anything moves 0.96 x + 0.3 y: some 11 of 16 digits are lost. "
        "Choose other coordinates here, or move away from this configuration."
    )
    assert np.abs(found.G @ tip(NEAR).G - np.eye(2)).max() < 1e-5  # the digits that are left
    with pytest.warns(
        DalembertWarning, match=r"inverse: 1 of 2 entries are nearly singular, the worst at \(1,\): condition 5e\+10"
    ):
        transfer.inverse(tip([BENT, NEAR]))


def test_beside_a_singular_configuration_all_is_quiet_and_right() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = transfer.inverse(tip([[0.3, -1e-3], [0.3, 1e-3]]))
    assert np.abs(found.G @ tip([[0.3, -1e-3], [0.3, 1e-3]]).G - np.eye(2)).max() < 1e-11


def test_a_map_that_is_not_square_says_what_to_use() -> None:
    with pytest.raises(ShapeError) as wide:
        transfer.inverse(np.zeros((2, 4)))
    assert str(wide.value) == (
        "inverse: G has 2 rows over 4 coordinates, but 4 are expected, since 2 new coordinates do not determine 4 old ones. "
        "Add 2 (transfer.stack), or choose one motion of many by transfer.right_inverse, with a weight or without."
    )
    with pytest.raises(ShapeError) as tall:
        transfer.transferred(transfer.open_chain(ARM, BENT), dal.influence(ARM, BENT))
    assert str(tall.value) == (
        "transferred: G has 6 rows over 2 coordinates, but 2 are expected, since 6 new coordinates depend on each other. "
        "Keep 2 of them (transfer.rows); transfer.rank shows what nothing moves."
    )


def test_names_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"new: 3 names found for 2 coordinates; one for each is expected\."):
        transfer.inverse(tip(BENT), new=["x", "y", "z"])
