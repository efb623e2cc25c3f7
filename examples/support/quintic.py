"""A reference that controllers follow, over scalars: from rest to rest by a polynomial of the fifth degree."""

from dalembert.expr import ops


def quintic(t, duration, start, end):
    """q, q̇, q̈ at time t of a motion from start to end; at rest before and after. All may be symbols of a compiled law."""
    x = ops.minimum(ops.maximum(t / duration, 0.0), 1.0)
    way = end - start
    position = start + way * (x * x * x * (10.0 - 15.0 * x + 6.0 * x * x))
    rate = way * (30.0 * x * x * (1.0 - x) * (1.0 - x) / duration)
    acceleration = way * (60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (duration * duration))
    return position, rate, acceleration
