"""Random robots that use every field of every part."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dalembert.formats.poses import make_pose, rotation_from_rpy
from dalembert.model import Body, Friction, Joint, Limits, Link, Mimic, Motor, Robot, Rotor, Tool

numbers = st.floats(-3, 3) | st.sampled_from([0.0, 1.0, 1e-300, 0.1 + 0.2])
positive = st.floats(1e-3, 3)
vectors = st.tuples(numbers, numbers, numbers)
BARRED = {"exclude_categories": ["Cc", "Zl", "Zp"], "exclude_characters": "\ufffe\uffff"}  # what a name may not contain
names = st.text(st.characters(codec="utf-8", **BARRED), min_size=1, max_size=8)  # quotes, blanks and every alphabet
poses = st.builds(lambda xyz, rpy: make_pose(xyz, rotation_from_rpy(rpy)), vectors, vectors) | st.just(np.eye(4))
axes = vectors.filter(lambda v: np.linalg.norm(v) > 1e-3)
tensors = st.builds(lambda a, b: np.array([[a[0], b[0], b[1]], [b[0], a[1], b[2]], [b[1], b[2], a[2]]]), vectors, vectors)
bodies = st.builds(Body, names, numbers, vectors, tensors)
limits = st.builds(lambda a, b, c, d: Limits(min(a, b), max(a, b), abs(c), abs(d)), numbers, numbers, numbers, numbers) | st.just(
    Limits()
)
frictions = st.builds(Friction, numbers, numbers, numbers) | st.builds(
    Friction, numbers, positive, numbers, breakaway=positive, stribeck_velocity=positive, width=positive
)


motors = st.builds(
    Motor,
    st.none() | positive,
    st.none() | positive,
    st.none() | positive,
    inductance=positive | st.just(0.0),
    efficiency=st.floats(0.1, 1.0),
    voltage_limit=positive | st.just(np.inf),
    thermal_resistance=st.none() | positive,
    name=names | st.just(""),
)


@st.composite
def rotors(draw, mounts):
    if draw(st.booleans()):
        return Rotor(draw(numbers), draw(numbers), axis=draw(axes))
    parts = (draw(numbers), draw(numbers), "full", draw(numbers), draw(numbers), draw(vectors), draw(axes))
    return Rotor(*parts, mount=draw(st.sampled_from([None, *mounts])))


@st.composite
def robots(draw):
    """A tree of up to five links."""
    link_names = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    joint_names = draw(st.lists(names, min_size=len(link_names) - 1, max_size=len(link_names) - 1, unique=True))
    links = [draw(_links(name)) for name in link_names]
    joints, masters, mounts = [], [], {link_names[0]: []}
    for name, child in zip(joint_names, link_names[1:], strict=True):
        parent = draw(st.sampled_from(sorted(mounts)))
        mounts[child] = [parent, *mounts[parent]]
        joints.append(draw(_joints(name, parent, child, masters)))
        if joints[-1].moves and joints[-1].mimic is None:
            masters.append(name)
    moving = [joint for joint in joints if joint.moves]
    tool = Tool(draw(st.sampled_from(link_names)), draw(poses))
    return Robot.from_parts(
        draw(names),
        links,
        joints,
        friction={joint.name: draw(frictions) for joint in moving if draw(st.booleans())},
        rotors={joint.name: draw(rotors(mounts[joint.child])) for joint in moving if draw(st.booleans())},
        motors={joint.name: draw(motors) for joint in moving if draw(st.booleans())},
        gravity=draw(vectors),
        tool=tool,
        payload=draw(st.none() | bodies),
        notes=draw(st.lists(names, max_size=2)),
    )


@st.composite
def _links(draw, name):
    more = draw(st.lists(bodies, max_size=2, unique_by=lambda body: body.name))
    return Link(name, draw(numbers), draw(vectors), draw(tensors), bodies=tuple(more), virtual=draw(st.booleans()))


@st.composite
def _joints(draw, name, parent, child, masters):
    kind = draw(st.sampled_from(["revolute", "continuous", "prismatic", "fixed"]))
    mimic = Mimic(draw(st.sampled_from(masters)), draw(numbers), draw(numbers)) if masters and draw(st.booleans()) else None
    return Joint(name, kind, parent, child, draw(poses), draw(axes), draw(poses), draw(numbers), draw(limits), mimic)
