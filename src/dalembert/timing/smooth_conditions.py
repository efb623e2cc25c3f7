"""The conditions of one convex programme: limits at both ends of every interval, tangents where they are curved
[DebrouwereEtAl2013].

About the last profile x₀, u₀ a limit of a rate (rate_rows), divided by √x and times √x₀, is

    √x₀ (A u′ + B u + C x + G) + V (u − u₀ (x/x₀ − 1)/2) + W (x₀ + x)/2  ≤  (r − K) (3 − x/x₀)/2                (1)

r/√x is convex and above its tangent, so that without viscous friction (1) keeps the limit wherever the programme ends; with it,
up to second order, which is nothing once the profiles stand. Of a voltage, most is V u + K, which is linear as it is: it is not
divided, and with P = A u′ + B u + C x + G

    √x₀ P + P₀ (x − x₀) / 2√x₀ + V u + W x + K  ≤  r                                                            (2)

Rows of torque have √x ≈ (x₀ + x) / 2√x₀, those of power p/√x as above. What drives press against each other is linear in further
unknowns ζ (pressing): in rows of torque as it is, and in (1) within the bracket of √x₀.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from .banded_programme import Chain, ChainConditions
from .fastest_profile import ProfileSolver
from .path_grid import BoolArray
from .smooth_look import Look
from .smooth_shape import Shape, SmoothProfile, beside_rest, place_of, shape_of

_MOST, _LEAST = 2.9, 0.04  # x / x₀: above three the tangents would leave nothing
_BETWEEN = (0.25, 0.5, 0.75)  # places within intervals at which ṡ² is held above zero
_BENT_BETWEEN = (0.08, 0.16, *_BETWEEN, 0.84, 0.92)  # where friction bends it may change much over an interval
_DIP = 0.1  # within an interval, ṡ² as a share of the lower end of the reference at least
_FAR = 1e6  # a bound so many times above what it bounds is left out
_STEEP = 30.0  # coefficients of a condition that may be passed at most: the price is not for its units
_SMALL_USE = 0.4  # rows that use less of their limit are left out until they do not


class Reference(NamedTuple):
    """The profile that tangents are laid at, grid points (N + 1,), the scale of s̈ there, and ζ (N + 1, r)."""

    x: FloatArray
    u: FloatArray
    scale: FloatArray
    y: FloatArray

    @property
    def shape(self) -> Shape:
        """Of the next profile."""
        return shape_of(self.x)

    def at(self, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ṡ² and s̈ at shares of the intervals (N, K), where conditions have their tangents."""
        a, b = (part[:, None] for part in self.shape)
        flipped = b < a
        near, far = Shape(np.minimum(a, b), np.maximum(a, b))
        v = beside_rest(Shape(near, far), place_of(Shape(near, far), np.where(flipped, 1 - shares, shares)))
        last = np.where(flipped, 1 - v, v)
        return (near + (far - near) * v) ** 4, self.u[:-1, None] * (1 - last) + self.u[1:, None] * last


class Tightened(NamedTuple):
    """What was taken off limits, as shares of them: of rows above and below, of rates (N, R); and of ṡ, as a factor (N + 1,)."""

    up: FloatArray
    down: FloatArray
    rates: FloatArray
    slower: FloatArray


class _Block(NamedTuple):
    """ChainConditions of one kind: coefficients (4, N, R) of ξ and η, bounds (N, R), which are there, and coefficients
    (2, N, R, r) of ζ, if any; `firm` ones are kept in any case.
    """

    of: FloatArray
    b: FloatArray
    there: BoolArray
    pressed: FloatArray | None = None
    firm: bool = True


def chain_of(reference: Reference, lengths: FloatArray, resting: BoolArray, held: BoolArray) -> Chain:
    """The profile's own equation x_{k+1} = x_k + 2h (...), in shares of its larger end."""
    x, scale, whole = reference.x, reference.scale, reference.shape.whole
    E = np.stack([-x[:-1], -2 * lengths * (1 - whole) * scale[:-1], x[1:], -2 * lengths * whole * scale[1:]])
    fixed = np.column_stack([held, resting, np.zeros(reference.y.shape, dtype=bool)])
    values = np.column_stack([np.ones_like(x), np.zeros_like(x), np.zeros_like(reference.y)])
    return Chain(E / np.maximum(x[:-1], x[1:]), x, lengths, fixed, values)


class ConditionMaker:
    """Rows of limits and rates of one path, made into conditions about a reference."""

    def __init__(self, base: ProfileSolver, look: Look, resting: BoolArray) -> None:
        self.base, self.look, self.resting = base, look, resting
        self.h = base.grid.lengths[0]
        self.N, self.R = len(self.h), base.R
        self.seen: dict[str, Any] = {}
        # which rates, and which other rows, are held within their intervals too
        self.within = np.zeros((self.N, len(look.rates.size)), dtype=bool)
        self.rows_within = np.zeros((self.N, self.R), dtype=bool)
        self.act = ~np.isin(np.arange(self.R), look.without)  # voltages without inductance do not, where a motor has some
        # at rest, only what is pressed is not given yet, and no power
        self.pressed: BoolArray = np.zeros(self.R, dtype=bool)
        if look.pressing is not None:
            self.pressed = look.pressing.limits.any(axis=(0, 1, 2, 4)) & (np.arange(self.R) < base.kinds.plain)
        self.all = True  # rows, those far from their limits too
        self.one_sided = False  # whether motors that are driven stay so in the next profile

    def __call__(self, reference: Reference, tight: Tightened, *, soft: bool = False) -> ChainConditions:
        """All conditions of one programme; with `soft` ones, limits but those of speeds may be passed."""
        firm = [self._speeds(reference, tight), *self._speeds_between(reference, tight)]
        blocks: list[_Block] = []
        if self.R:
            blocks += self._limits(reference, tight)
        places, acting = self.look.shares.shape[1], self._acting(reference)
        for k in range(places) if self.within.any() else (0, places - 1):
            blocks += self._rates(reference, tight, k, acting[:, k])
        for k in range(1, places - 1) if self.rows_within.any() else ():
            blocks += self._limits_within(reference, tight, k)
        if soft:
            blocks = [block._replace(firm=False) for block in blocks]
        return _gathered(firm + blocks, reference.y.shape[1])

    def _sides(
        self, name: str, reference: Reference, of: FloatArray, b: FloatArray, there: BoolArray, pressed: FloatArray | None
    ) -> list[_Block]:
        """A pair of conditions ±, of rows that use much of their limit at the reference, or have done so before.

        `there` is that of both, or (2, N, R) where rows have a limit to one side only.
        """
        blocks = _both(of, b, np.broadcast_to(there, b.shape), pressed)
        if self.all:
            return blocks
        use = 1 - np.minimum(*(self._room(block, reference) for block in blocks))
        near = use > np.minimum(_SMALL_USE, 0.5 * use.max(axis=1, keepdims=True))
        self.seen[name] = near = near | self.seen.get(name, False)
        return [block._replace(there=block.there & near) for block in blocks]

    def _room(self, block: _Block, reference: Reference) -> FloatArray:
        """What the reference leaves of conditions, (N, R)."""
        z, y = self._shares(reference), reference.y
        found: FloatArray = block.b - sum(block.of[k] * z[k][:, None] for k in range(4))
        if block.pressed is not None:
            found -= ((block.pressed[0] @ y[:-1, :, None]) + (block.pressed[1] @ y[1:, :, None]))[..., 0]
        return found

    def _shares(self, reference: Reference) -> list[FloatArray]:
        xi, eta = np.ones_like(reference.x), reference.u / reference.scale
        return [xi[:-1], eta[:-1], xi[1:], eta[1:]]

    def _speeds(self, reference: Reference, tight: Tightened) -> _Block:
        """Bounds of ξ at grid points; that of the last one stands with the last interval."""
        free = reference.x > 0
        cap = self.base.caps[0] * tight.slower**2 / np.where(free, reference.x, 1.0)
        most, least = np.minimum(cap, _MOST), np.minimum(_LEAST, 0.5 * cap)
        zero, one = np.zeros((self.N, 1)), np.ones((self.N, 1))
        of = np.stack([np.hstack([one, -one]), np.hstack([zero] * 2), np.hstack([zero] * 2), np.hstack([zero] * 2)])
        b = np.stack([most[:-1], -least[:-1]], axis=1)
        return _Block(of, b, (free & ~self.held)[:-1, None] & np.ones((1, 2), dtype=bool))

    def _speeds_between(self, reference: Reference, tight: Tightened) -> list[_Block]:
        """ṡ within intervals, where a profile along a limit could swing beyond it, or below zero."""
        x, h, scale = reference.x, self.h, reference.scale
        moving = ~(self.resting[:-1] | self.resting[1:])
        size = np.where(moving, np.minimum(x[:-1], x[1:]), 1.0)
        slowness = self.base.slowness[0][:, 2:-2].mean(axis=1)
        cap = np.minimum(tight.slower[:-1], tight.slower[1:]) ** 2 / slowness**2
        limited = moving & (cap < _FAR * np.maximum(x[:-1], x[1:]))
        found = []
        for place in _BENT_BETWEEN if self.look.bends else _BETWEEN:
            v = np.full(self.N, place)
            theta, psi = reference.shape.share(v), reference.shape.moment(v)
            of = np.stack([x[:-1], 2 * h * (theta - psi) * scale[:-1], np.zeros(self.N), 2 * h * psi * scale[1:]]) / size
            found.append(_Block(-of[..., None], np.full((self.N, 1), -_DIP), moving[:, None]))
            if place == 0.5:
                found.append(_Block(of[..., None], (cap / size)[:, None], limited[:, None]))
        return found

    @property
    def held(self) -> BoolArray:
        """Where ṡ is given."""
        found = self.resting.copy()
        found[[0, -1]] = True
        return found

    def _limits(self, reference: Reference, tight: Tightened) -> list[_Block]:
        """Rows at grid points, from the intervals to both sides; at the last one only where it is passed with a speed."""
        found = []
        for first in (True, False):
            of, b, there, size = self._limits_at(reference, tight, first)
            pressed = self._pressed_at(first, size)
            found += self._sides("first" if first else "last", reference, of, b, there, pressed)
        return found

    def _pressed_at(self, first: bool, size: FloatArray) -> FloatArray | None:
        """Coefficients of ζ in rows at first or last ends, (2, N, R, r)."""
        if self.look.pressing is None:
            return None
        found = np.zeros_like(self.look.pressing.limits[:, :, 0])
        end, place = (0, 0) if first else (1, -1)
        found[end] = self.look.pressing.limits[end, :, place] / size[..., None]
        return found

    def _own_limits(self, k: int) -> FloatArray | float:
        """What dry friction of driven joints adds to rows at a place, (N, R)."""
        return 0.0 if self.look.pressing is None else self.look.pressing.own_limits[:, k]

    def _rows_at(self, first: bool) -> tuple[tuple[FloatArray, ...], FloatArray, FloatArray]:
        """m, c, v and p of rows at first or last ends of intervals, and what gravity and dry friction leave, (N, R) each."""
        base, k = self.base, 0 if first else -1
        rows = base.left if first else base.right
        m, c, v = rows.m[0], rows.c[0], rows.v[0]
        hi, lo = (base.hi_left[0], base.lo_left[0]) if first else (base.hi_right[0], base.lo_right[0])
        if self.look.bends:
            m, c, v, g, d = (part[:, k] for part in self.look.rows[:5])
            hi, lo = base.hi[0] - g - d, base.lo[0] - g - d
        p = np.zeros_like(m)
        if rows.p is not None:
            p[:, base.kinds.plain :] = rows.p[0]
        return (m, c, v, p), hi, lo

    def _limits_at(
        self, reference: Reference, tight: Tightened, first: bool
    ) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
        """Coefficients, bounds, which are there, and what rows are measured by."""
        base, node = self.base, slice(None, -1) if first else slice(1, None)
        (m, c, v, p), hi, lo = self._rows_at(first)
        own = self._own_limits(0 if first else -1)
        hi, lo = hi - own - tight.up * base.scale[0], lo - own + tight.down * base.scale[0]
        x, scale = reference.x[node][:, None], reference.scale[node][:, None]
        z = np.sqrt(np.where(x > 0, x, 1.0))
        m, c, v, p = m * scale, c * x, v * np.sqrt(x) / 2, p / z
        size = base.scale[0] + p
        slots = (0, 1) if first else (2, 3)
        of = np.zeros((2, 4, *m.shape))
        room = p * (1 - tight.up), p * (1 - tight.down)
        for side, sign in enumerate((1.0, -1.0)):
            of[side, slots[0]], of[side, slots[1]] = (sign * (c + v) + room[side] / 2) / size, sign * m / size
        b = np.stack([hi - v + 1.5 * room[0], v - lo + 1.5 * room[1]]) / size
        there = (~self.resting[node][:, None] | self.pressed) & self.act & (np.abs(b) < _FAR)
        return of, b, there, size

    def _limits_within(self, reference: Reference, tight: Tightened, k: int) -> list[_Block]:
        """Rows at a place within intervals, where they were exceeded."""
        rows, base, R = self.look.rows, self.base, self.R
        place = _Place.at(reference, self.h, self.look.shares[:, k])
        z = np.sqrt(place.x)[:, None]
        p = np.zeros((self.N, R))
        if rows.p is not None:
            p[:, base.kinds.plain :] = rows.p[:, k] / z
        size, still, half = base.scale[0] + p, rows.g[:, k] + rows.d[:, k] + self._own_limits(k), rows.v[:, k] * z / 2
        found, pressed = [], None
        if self.look.pressing is not None:
            pressed = self.look.pressing.of_limits(place.last, k) / size[..., None]
        for sign, limit, cut in ((1.0, base.hi[0], tight.up), (-1.0, -base.lo[0], tight.down)):
            room = p * (1 - cut)
            by_x = sign * (rows.c[:, k] + half / z**2) + room / (2 * z**2)
            parts = [sign * rows.m[:, k] * u[:, None] + by_x * x[:, None] for u, x in zip(place.u_of, place.x_of, strict=True)]
            b = (limit - cut * base.scale[0] - sign * (still + half) + 1.5 * room) / size
            there = self.rows_within & self.act & (np.abs(b) < _FAR)
            found.append(_Block(np.stack(parts) / size, b, there, None if pressed is None else sign * pressed))
        return found

    def _acting(self, reference: Reference) -> BoolArray:
        """Which rows of rates act at places of the intervals (N, K, R)."""
        profile = SmoothProfile(reference.x, reference.u, reference.shape, self.h, reference.y)
        found = self.look.acting(profile)
        voltage, own = self.look.maker.limits.voltage, self.look.voltages
        if voltage is not None and self.one_sided:
            found[..., own] = voltage.held(found[..., own])
        return found

    def _rates(self, reference: Reference, tight: Tightened, k: int, acting: BoolArray) -> list[_Block]:
        """(1) or (2) at one place of every interval: at its first or last end, or within."""
        place = _Place.at(reference, self.h, self.look.shares[:, k])
        line = self._divided(place, k, tight)
        if self.look.voltages.any():
            whole = self._undivided(place, k, tight, self._hurried(reference, place, k))
            line = _Line(*(np.where(self.look.voltages, two, one) for one, two in zip(line, whole, strict=True)))
        size = self.look.rates.size * np.ones_like(line.room)
        of = np.zeros((2, 4, *size.shape))
        for side, sign in enumerate((1.0, -1.0)):
            by_x = sign * line.by_x + line.falls
            for slot in range(4):
                parts = line.by_slope * place.slope_of[slot][:, None] + line.by_u * place.u_of[slot][:, None]
                of[side, slot] = (sign * parts + by_x * place.x_of[slot][:, None]) / size
        pressed, z = None, np.sqrt(place.x)[:, None]
        if self.look.pressing is not None:
            pressing = self.look.pressing
            by = z[..., None] * pressing.of_rates(place.last, place.growth, k) + pressing.directly(place.last, k)
            pressed = by / size[..., None]
            own = z * pressing.own_rates[:, k] + pressing.own_direct[:, k]
            line = line._replace(constant=line.constant + own)
        b = np.stack([line.room - line.constant, line.room + line.constant]) / size
        if 0 < k < self.look.shares.shape[1] - 1:
            return _both(of, b, np.broadcast_to(self._within() & acting, b.shape), pressed)
        return self._sides(f"rates{k}", reference, of, b, acting, pressed)

    def _within(self) -> BoolArray:
        """Which rates are held within intervals."""
        voltage, own = self.look.maker.limits.voltage, self.look.voltages
        if voltage is None:
            return self.within
        found = self.within.copy()
        found[:, own] = voltage.with_sides(found[:, own])
        return found

    def _divided(self, place: _Place, k: int, tight: Tightened) -> _Line:
        """(1) at a place."""
        A, B, C, G, V, W, K = (part[:, k] for part in self.look.rates[:-1])
        x, u, z = place.x[:, None], place.u[:, None], np.sqrt(place.x)[:, None]
        limit = self.look.rates.size * (1 - tight.rates)
        by_x, constant = z * C + (W - (V * u + K) / x) / 2, z * G + (V * u + W * x) / 2 + 1.5 * K
        return _Line(z * A, z * B + V, by_x, constant, 1.5 * limit, limit / (2 * x))

    def _hurried(self, reference: Reference, place: _Place, k: int) -> FloatArray | float:
        """What drives press adds to P of (2) at the reference, (N, R)."""
        if self.look.pressing is None:
            return 0.0
        first, last = self.look.pressing.of_rates(place.last, place.growth, k)
        pressed: FloatArray = (first @ reference.y[:-1, :, None] + last @ reference.y[1:, :, None])[..., 0]
        return pressed + self.look.pressing.own_rates[:, k]

    def _undivided(self, place: _Place, k: int, tight: Tightened, hurried: FloatArray | float) -> _Line:
        """(2) at a place."""
        A, B, C, G, V, W, K = (part[:, k] for part in self.look.rates[:-1])
        x, u, z = place.x[:, None], place.u[:, None], np.sqrt(place.x)[:, None]
        P = A * place.slope[:, None] + B * u + C * x + G + hurried
        limit = self.look.rates.size * (1 - tight.rates)
        return _Line(z * A, z * B + V, z * C + W + P / (2 * z), z * G + K - P * z / 2, limit, np.zeros_like(limit))


class _Line(NamedTuple):
    """±(by_slope u′ + by_u u + by_x x + constant) ≤ room − falls x, of rows at one place of every interval, (N, R) each."""

    by_slope: FloatArray
    by_u: FloatArray
    by_x: FloatArray
    constant: FloatArray
    room: FloatArray
    falls: FloatArray


class _Place(NamedTuple):
    """A place of every interval: the reference there, how u′, u and x follow from the unknowns (4, N), and v and dv/ds."""

    x: FloatArray
    u: FloatArray
    slope: FloatArray
    slope_of: FloatArray
    u_of: FloatArray
    x_of: FloatArray
    last: FloatArray
    growth: FloatArray

    @staticmethod
    def at(reference: Reference, h: FloatArray, share: FloatArray) -> _Place:
        """From the slower end of each interval, as smooth_shape has it; x = x_k + 2h (u_k (θ − Ψ) + u_{k+1} Ψ)."""
        scale, (a, b) = reference.scale, reference.shape
        flipped = b < a
        shape = Shape(np.minimum(a, b), np.maximum(a, b))
        v = beside_rest(shape, place_of(shape, np.where(flipped, 1 - share, share)))
        near, far = (np.where(flipped, *ends) for ends in ((scale[1:], scale[:-1]), (scale[:-1], scale[1:])))
        x0, sign, zero = np.where(flipped, reference.x[1:], reference.x[:-1]), np.where(flipped, -1.0, 1.0), np.zeros_like(h)
        stretch, theta, psi = h * shape.rate(v), shape.share(v), shape.moment(v)
        slope_of = zero, -sign * near / stretch, zero, sign * far / stretch
        u_of = zero, (1 - v) * near, zero, v * far
        x_of = x0, sign * 2 * h * (theta - psi) * near, zero, sign * 2 * h * psi * far
        slope_in, u_in, x_in = (_swapped(np.stack(parts), flipped) for parts in (slope_of, u_of, x_of))
        first, last = (
            np.where(flipped, *ends) for ends in ((reference.u[1:], reference.u[:-1]), (reference.u[:-1], reference.u[1:]))
        )
        slope = sign * (last - first) / stretch
        x, u = (shape.a + (shape.b - shape.a) * v) ** 4, first * (1 - v) + last * v
        return _Place(x, u, slope, slope_in, u_in, x_in, np.where(flipped, 1 - v, v), 1 / stretch)


def _swapped(parts: FloatArray, flipped: BoolArray) -> FloatArray:
    """Coefficients of the unknowns of the slower and the faster end, in the order of the path."""
    return np.where(flipped, parts[[2, 3, 0, 1]], parts)


def _both(of: FloatArray, b: FloatArray, there: BoolArray, pressed: FloatArray | None) -> list[_Block]:
    """Conditions above and below."""
    signed = (None, None) if pressed is None else (pressed, -pressed)
    return [_Block(*parts) for parts in zip(of, b, there, signed, strict=True)]


def _gathered(blocks: list[_Block], further: int) -> ChainConditions:
    """All conditions in the order of their intervals, with so many unknowns ζ."""
    interval = np.concatenate([np.nonzero(block.there)[0] for block in blocks])
    of = np.zeros((len(interval), 2, 2 + further))
    ends = np.cumsum([np.count_nonzero(block.there) for block in blocks])
    for block, own in zip(blocks, np.split(of, ends[:-1]), strict=True):
        own[..., :2] = block.of[:, block.there].T.reshape(-1, 2, 2)
        if block.pressed is not None:
            own[..., 2:] = np.swapaxes(block.pressed[:, block.there], 0, 1)
    b = np.concatenate([block.b[block.there] for block in blocks])
    firm = np.concatenate([np.full(np.count_nonzero(block.there), block.firm) for block in blocks])
    if not firm.all():
        size = np.where(firm, 1.0, np.maximum(np.abs(of).max(axis=(1, 2)) / _STEEP, 1.0))
        of, b = of / size[:, None, None], b / size
    order = np.argsort(interval, kind="stable")
    return ChainConditions(interval[order], of.reshape(len(of), -1)[order], b[order], firm[order])


__all__ = ["ConditionMaker", "Reference", "Tightened", "chain_of"]
