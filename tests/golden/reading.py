"""Golden files and the robots they describe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.model import Body, Friction, Robot, Rotor
from dalembert.model.dh import from_dh


def golden(name: str) -> dict[str, Any]:
    """The content of a golden file."""
    return json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))


def robot_of(data: Mapping[str, Any]) -> Robot:
    """A robot in the golden files' words: DH rows with bodies, friction and full rotors on the link before."""
    payload = data.get("payload")
    return from_dh(
        [_row(link) for link in data["links"]],
        convention=data["convention"],
        gravity=data["gravity"],
        tool=data.get("tool"),
        payload=None if payload is None else Body("payload", payload["mass"], payload["com"], payload["inertia"]),
    )


def _row(link: Mapping[str, Any]) -> dict[str, Any]:
    row = {key: link[key] for key in ("type", "theta", "d", "a", "alpha", "mass", "com", "inertia") if key in link}
    row["friction"] = Friction(link.get("viscous", 0.0), link.get("coulomb", 0.0))
    if "rotor" in link:
        row["rotor"] = _rotor(link["rotor"])
    return row


def _rotor(data: Mapping[str, Any]) -> Rotor:
    return Rotor(
        data["Izz"],
        data["ratio"],
        "full",
        mass=data["mass"],
        transverse_inertia=data.get("Ixx", 0.0),
        position=np.array(data.get("position", [0.0, 0.0, 0.0])),
        axis=np.array(data.get("axis", [0.0, 0.0, 1.0])),
    )
