"""Imports follow the layers: a module imports from lower numbers only."""

from __future__ import annotations

import sys

import pytest

from tests.project.source import PACKAGE, imported, modules, name_of

LAYERS = {
    "brief": 0,
    "errors": 0,
    "checks": 0,
    "files": 0,
    "wording": 0,
    "lazy": 0,
    "options": 0,
    "expr": 1,
    "spatial": 2,
    "model": 3,
    "formats": 4,
    "robots": 4,
    "algorithms": 4,
    "formulations": 5,
    "codegen": 4,
    "dynamics": 6,
    "trajectories": 6,
    "analysis": 7,
    "simulate": 7,
    "export": 8,
    "plots": 8,
    "cli": 8,
}
SIBLINGS = {
    ("checks", "errors"),  # a check raises
    ("checks", "wording"),  # both echo what they found
    ("errors", "wording"),
    ("brief", "wording"),
    *(("options", other) for other in ("checks", "errors", "wording")),
    ("formats", "robots"),  # `load` takes the name of a catalogue robot
    ("cli", "plots"),  # the demo draws
    ("cli", "export"),  # a command writes code
}
BELOW = {  # stricter than the numbers
    "expr": {"errors", "checks"},
    "codegen": {"errors", "checks", "wording", "expr"},
}
OPTIONAL = {
    "llvmlite": {"codegen"},
    "rich": {"cli"},
    "matplotlib": {"cli", "plots"},
    "sympy": {"export"},
    "xacrodoc": {"formats"},
    "scipy": set(LAYERS) - {"errors", "checks", "expr", "spatial", "model"},
    "numpy": set(LAYERS),
}
INNER = [module for module in modules() if module.parent != PACKAGE or module.stem in LAYERS]


def package_of(name: str) -> str:
    return name.split(".")[1]


def layer_of(module) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_package_has_a_layer():
    found = {layer_of(module) for module in modules()} - {"__init__", "__main__"}
    assert found <= set(LAYERS)


@pytest.mark.parametrize("module", INNER, ids=name_of)
def test_a_module_imports_from_lower_layers_only(module):
    own = layer_of(module)
    for name, line in imported(module):
        if not name.startswith("dalembert"):
            continue
        if own == "cli" and name == "dalembert.__version__":
            continue
        other = package_of(name)
        allowed = other == own or LAYERS[other] < LAYERS[own] or (own, other) in SIBLINGS
        assert allowed, f"{name_of(module)}:{line} imports {name}: layer {LAYERS[own]} from layer {LAYERS[other]}"


@pytest.mark.parametrize("module", [m for m in INNER if layer_of(m) in BELOW], ids=name_of)
def test_the_language_and_the_compiler_know_nothing_of_robots(module):
    own = layer_of(module)
    others = {package_of(name) for name, _ in imported(module) if name.startswith("dalembert")}
    assert others <= BELOW[own] | {own}


@pytest.mark.parametrize("module", modules(), ids=name_of)
def test_third_party_packages_are_imported_only_where_they_belong(module):
    for name, line in imported(module):
        top = name.partition(".")[0]
        if top == "dalembert" or top in sys.stdlib_module_names:
            continue
        assert top in OPTIONAL, f"{name_of(module)}:{line} imports {top}, which is no dependency"
        assert layer_of(module) in OPTIONAL[top], f"{name_of(module)}:{line} imports {top}"
