"""Exact vertices and faces of two convex bodies: the image of a box under a linear map, and a box of functions cut out of space.

The image {G u: |u_k| ≤ 1} is a zonotope: each face is normal to a plane that m − 1 columns of G span, and is the image of
faces of the box along the columns in that plane [Ziegler1995, §7.3].
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray

_FLAT = 1e-9  # of the size of the columns: what is this near to a plane lies in it
_LOST = 1e-13  # of the largest column: what is shorter is lost in sums
_SAME = 1e-9  # of the size of the body: what is this near to a vertex is that vertex


class ConvexBody(NamedTuple):
    """A convex body {x: normals x ≤ offsets} with its vertices, and for each face the numbers of its vertices in their order."""

    vertices: FloatArray
    faces: tuple[tuple[int, ...], ...]
    normals: FloatArray
    offsets: FloatArray


class _Face(NamedTuple):
    """A face with its corners in their order."""

    normal: FloatArray
    corners: FloatArray


def zonotope(G: Any, centre: Any) -> ConvexBody:
    """The image of the box |u_k| ≤ 1 under G, moved to a centre; of up to three rows. G has to have full rank."""
    half = {1: _ends, 2: _edges, 3: _faces}[len(G)](np.asarray(G, dtype=float))
    faces = [side for face in half for side in (face, _Face(-face.normal, -face.corners))]
    return _body([_Face(face.normal, face.corners + centre) for face in faces], float(np.abs(G).sum()))


def rank_of_columns(G: Any) -> int:
    """How many dimensions the image of a box has."""
    values = np.linalg.svd(np.asarray(G, dtype=float), compute_uv=False)
    return int(np.sum(values > _FLAT * max(values[0], 1e-300)))


def _ends(G: FloatArray) -> list[_Face]:
    return [_Face(np.ones(1), np.abs(G).sum(axis=1, keepdims=True))]


def _half_way(G: FloatArray) -> FloatArray:
    """The corners of one half of a polygon, from one to its opposite, by adding up edges in the order of their angles."""
    size = np.linalg.norm(G, axis=0)
    g = G.T[size > _LOST * size.max()]
    g = g * np.where((g[:, 1] < 0.0) | ((g[:, 1] == 0.0) & (g[:, 0] < 0.0)), -1.0, 1.0)[:, None]
    angles = np.arctan2(g[:, 1], g[:, 0])
    order = np.argsort(angles, kind="stable")
    g, angles = g[order], angles[order]
    turns = np.append(np.diff(angles) > _FLAT, True)  # edges along one line are one edge
    return np.vstack([-g.sum(axis=0), (2.0 * np.cumsum(g, axis=0) - g.sum(axis=0))[turns]])


def _edges(G: FloatArray) -> list[_Face]:
    """One edge of each pair of opposite ones."""
    way = _half_way(G)
    steps = np.diff(way, axis=0)
    normals = np.column_stack([steps[:, 1], -steps[:, 0]]) / np.linalg.norm(steps, axis=1)[:, None]
    return [_Face(normal, np.array(pair)) for normal, *pair in zip(normals, way[:-1], way[1:], strict=True)]


def _faces(G: FloatArray) -> list[_Face]:
    """One face of each pair of opposite ones."""
    size = np.linalg.norm(G, axis=0)
    found: dict[tuple[int, ...], _Face] = {}
    for i, j in combinations(np.flatnonzero(size > _FLAT * size.max()), 2):
        normal = np.cross(G[:, i], G[:, j])
        if np.linalg.norm(normal) <= _FLAT * size[i] * size[j]:
            continue
        normal /= np.linalg.norm(normal)
        heights = normal @ G
        inside = np.abs(heights) <= _FLAT * size
        inside[[i, j]] = True
        key = tuple(int(k) for k in np.flatnonzero(inside))
        if key not in found:
            along = G[:, i] / size[i]
            plane = np.array([along, np.cross(normal, along)])
            half = _half_way(plane @ G[:, inside])[1:]
            middle = G[:, ~inside] @ np.sign(heights[~inside])
            found[key] = _Face(normal, middle + np.vstack([half, -half]) @ plane)
    return list(found.values())


def cut_out(A: Any, low: Any, high: Any) -> ConvexBody:
    """{x: low ≤ A x ≤ high}, of up to three columns; A has full rank, so that it is bounded. Empty ones have no vertices."""
    A = np.asarray(A, dtype=float)
    points = _corners(A, low, high)
    values, tolerance = points @ A.T, _FLAT * float(np.abs(np.concatenate([low, high])).max())
    points = points[((values >= low - tolerance) & (values <= high + tolerance)).all(axis=1)]
    points = _distinct(points, float(np.abs(points).max(initial=0.0)))
    faces = []
    for row, bounds in zip(A, zip(low, high, strict=True), strict=True):
        for sign, bound in zip((-1.0, 1.0), bounds, strict=True):
            on = points[np.abs(points @ row - bound) <= 2.0 * tolerance]
            if np.linalg.norm(row) > 0.0 and len(on) >= A.shape[1]:
                normal = sign * row / np.linalg.norm(row)
                faces.append(_Face(normal, _around(on, normal)))
    return _body(faces, float(np.abs(points).max(initial=0.0)), A.shape[1])


def _corners(A: FloatArray, low: Any, high: Any) -> FloatArray:
    """Where as many bounds meet as there are dimensions."""
    m, found = A.shape[1], [np.zeros((0, A.shape[1]))]
    for rows in combinations(range(len(A)), m):
        chosen = A[list(rows)]
        size = np.linalg.norm(chosen, axis=1)
        if (size > 0.0).all() and abs(np.linalg.det(chosen / size[:, None])) > _FLAT:
            sides = np.array(list(product(*((low[k], high[k]) for k in rows))))
            found.append(np.linalg.solve(chosen, sides.T).T)
    return np.concatenate(found)


def _around(points: FloatArray, normal: FloatArray) -> FloatArray:
    """The corners of a face in their order around it."""
    if len(points) < 3:
        return points
    spread = points - points.mean(axis=0)
    first = spread[0] / np.linalg.norm(spread[0])
    found: FloatArray = points[np.argsort(np.arctan2(spread @ np.cross(normal, first), spread @ first))]
    return found


def _body(faces: list[_Face], size: float, m: int = 0) -> ConvexBody:
    """Faces put together: corners that several have are one vertex; faces with too few of them are none."""
    corners = [face.corners for face in faces]
    vertices = _distinct(np.concatenate(corners) if corners else np.zeros((0, m)), size)
    kept = []
    for face in faces:
        numbers = [int(np.argmin(np.abs(vertices - corner).max(axis=1))) for corner in face.corners]
        if len(set(numbers)) >= vertices.shape[1]:
            kept.append((face, tuple(dict.fromkeys(numbers))))
    normals = np.array([face.normal for face, _ in kept]).reshape(-1, vertices.shape[1])
    offsets = np.array([float(face.normal @ face.corners.mean(axis=0)) for face, _ in kept])
    return _in_order(ConvexBody(vertices, tuple(numbers for _, numbers in kept), normals, offsets))


def _distinct(points: FloatArray, size: float) -> FloatArray:
    """Points without those that repeat another but for rounding."""
    kept: list[FloatArray] = []
    for point in points:
        if not kept or np.abs(np.array(kept) - point).max(axis=1).min() > _SAME * size:
            kept.append(point)
    return np.array(kept).reshape(-1, points.shape[1])


def _in_order(found: ConvexBody) -> ConvexBody:
    """The corners of a polygon in their order around it."""
    vertices = found.vertices
    if vertices.shape[1] != 2 or len(vertices) < 3:
        return found
    spread = vertices - vertices.mean(axis=0)
    order = [int(k) for k in np.argsort(np.arctan2(spread[:, 1], spread[:, 0]))]
    place = {old: new for new, old in enumerate(order)}
    return found._replace(vertices=vertices[order], faces=tuple(tuple(place[k] for k in face) for face in found.faces))


__all__ = ["ConvexBody", "cut_out", "rank_of_columns", "zonotope"]
