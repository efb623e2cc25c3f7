"""The public names: what is listed is there, documented, and refuses misspelt keywords."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import types

import pytest

import dalembert as dal
from dalembert import plots
from tests.project.source import PACKAGE, ROOT

PUBLIC = {name: getattr(dal, name) for name in dal.__all__}
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)}
FUNCTIONS |= {f"plots.{name}": getattr(plots, name) for name in plots.__all__}
FUNCTIONS |= {f"trajectory.{name}": getattr(dal.trajectory, name) for name in dal.trajectory.__all__ if name.islower()}
FUNCTIONS |= {f"transfer.{name}": getattr(dal.transfer, name) for name in dal.transfer.__all__ if name.islower()}
CATALOGUE = {
    f"{module}.{name}": getattr(getattr(dal, module), name)
    for module in ("mechanisms", "robots")
    for name in getattr(dal, module).__all__
    if name != "CATALOGUE"
}
CALLABLES = {name: thing for name, thing in PUBLIC.items() if callable(thing)} | FUNCTIONS | CATALOGUE


def test_the_list_of_exports_is_sorted_and_without_repetition():
    """Tables first, then classes, then functions, each by the alphabet: the order that ruff keeps."""
    in_order = sorted(set(dal.__all__), key=lambda name: (not name.isupper(), name[0].islower(), name))
    assert dal.__all__ == in_order


def test_the_list_of_exports_is_what_the_package_offers():
    offered = {name for name, thing in vars(dal).items() if not name.startswith("_") and not isinstance(thing, types.ModuleType)}
    assert offered - {"annotations"} | {"mechanisms", "plots", "robots", "trajectory", "transfer"} == set(dal.__all__)
    assert set(dal.__all__) <= set(dir(dal))


def test_what_a_type_checker_sees_is_what_is_loaded():
    """Names are loaded when asked for, so the imports that checkers and editors read are never run."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    named = {alias.name: node.module for node in block.body for alias in node.names}
    everything = importlib.import_module(f"dalembert.{named.pop('*')}")
    seen = {name: "dynamics" for name in dal.__all__ if hasattr(everything, name)} | named
    assert set(seen) == set(dal.__all__)
    for name, module in seen.items():
        loaded = importlib.import_module(f"dalembert.{module or name}")
        assert (getattr(loaded, name) if module else loaded) is getattr(dal, name)


def test_the_page_of_all_names_lists_each_of_them_once():
    page = (ROOT / "docs" / "reference" / "functions.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)", page, re.MULTILINE)
    assert sorted(listed) == sorted(dal.__all__)


@pytest.mark.parametrize("name", ["plots", "trajectory", "transfer"])
def test_the_page_of_all_names_names_the_functions_of_a_module(name):
    page = (ROOT / "docs" / "reference" / "functions.md").read_text(encoding="utf-8")
    module = getattr(dal, name)
    functions = {f"{name}.{entry}" for entry in module.__all__ if inspect.isfunction(getattr(module, entry))}
    assert functions == set(re.findall(rf"`({name}\.\w+)`", page))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dalembert' has no attribute 'inverse_dynamic'"):
        dal.inverse_dynamic  # noqa: B018


@pytest.mark.parametrize("name", CALLABLES)
def test_everything_public_is_documented(name):
    text = inspect.getdoc(CALLABLES[name]) or ""
    assert len(text.split()) >= 4
    assert text != inspect.getdoc(object)


@pytest.mark.parametrize("name", FUNCTIONS | CATALOGUE)
def test_every_public_function_has_an_example(name):
    """It runs with the other tests, as `--doctest-modules` runs all of them."""
    _, _, example = (inspect.getdoc((FUNCTIONS | CATALOGUE)[name]) or "").partition("\nExamples\n--------\n")
    assert example.startswith(">>> ")
    assert "+SKIP" not in example


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_arrays_says_their_shape(name):
    function = FUNCTIONS[name]
    takes_arrays = any("ArrayLike" in str(annotation) for annotation in function.__annotations__.values())
    assert not takes_arrays or "shape" in (inspect.getdoc(function) or "")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_are_given_by_name(name):
    """An option in the wrong place would be taken for another."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    optional = [
        p
        for p in parameters
        if p.default is not p.empty and p.name not in ("link", "quantity", "q", "qd", "qdd", "qddd", "udd", "closures")
    ]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in optional)


@pytest.mark.parametrize("name", CALLABLES)
def test_an_unknown_keyword_is_refused(name):
    with pytest.raises(TypeError, match="keyword"):
        CALLABLES[name](gravitty=9.81)
