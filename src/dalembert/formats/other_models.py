"""Models of other programs, which are refused: what they are, which loops they close, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import listed
from .xml_tree import Element

_CLOSE = 'close its loops with <closure name="..." type="..."> inside of <dalembert>'


def about_mujoco(root: Element) -> str:
    """Of a MuJoCo model, with the loops its equality constraints close."""
    held = [_constraint(child) for element in root.all("equality") for child in element.children]
    sentence = "a MuJoCo model (MJCF), which is not supported yet. Convert it to URDF first"
    return f"{sentence}, and {_CLOSE}: {listed(held)}." if held else f"{sentence}."


def _constraint(element: Element) -> str:
    keys = (f"{kind}{k}" for kind in ("body", "site", "joint") for k in (1, 2))
    ends = [element.attributes[key] for key in keys if key in element.attributes]
    return f"{element.tag} of {' and '.join(ends) or element.attributes.get('name', '?')}"


def about_sdf(root: Element) -> str:
    """Of an SDF model, with the joints that close loops."""
    loops = list(_loops([element for element in root.walk() if element.tag == "joint"]))
    sentence = "an SDF model, which is not supported. Convert it to URDF first"
    return f"{sentence} without {listed(loops)}, and {_CLOSE}." if loops else f"{sentence}."


def _loops(joints: list[Element]) -> Iterator[str]:
    """The joints between links that others connect already: links that are connected have the same group."""
    group: dict[str, str] = {}
    for joint in joints:
        a, b = ("".join(element.text.strip() for element in joint.all(tag)) for tag in ("parent", "child"))
        first, second = group.setdefault(a, a), group.setdefault(b, b)
        if first == second:
            yield joint.attributes.get("name", "?")
        group |= {link: first for link, found in group.items() if found == second}


__all__ = ["about_mujoco", "about_sdf"]
