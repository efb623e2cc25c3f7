"""Python's search for cycles while graphs grow."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from dalembert.expr import trace
from dalembert.expr.collection_pause import growing
from dalembert.expr.rewrite import PASSES, apply_passes


@pytest.fixture(autouse=True)
def searching() -> Iterator[None]:
    """Every test begins and ends with the search on."""
    gc.enable()
    yield
    gc.enable()


def test_tracing_holds_the_search_and_lets_it_go_again() -> None:
    seen: list[bool] = []
    trace(lambda x: seen.append(gc.isenabled()) or x, {"x": ()}, ["y"])
    assert seen == [False]
    assert gc.isenabled()


def test_passes_hold_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    monkeypatch.setitem(PASSES, "look", lambda program: seen.append(gc.isenabled()) or program)
    apply_passes(trace(lambda x: x + 1.0, {"x": ()}, ["y"]), ["look"])
    assert seen == [False]
    assert gc.isenabled()


def test_an_error_lets_it_go_as_well() -> None:
    with pytest.raises(KeyError):
        trace(lambda x: {}[x], {"x": ()}, ["y"])
    assert gc.isenabled()


def test_who_had_switched_it_off_finds_it_off() -> None:
    gc.disable()
    with growing():
        pass
    assert not gc.isenabled()


def test_the_last_of_several_lets_it_go() -> None:
    inside, leave = Event(), Event()

    def other() -> None:
        with growing():
            inside.set()
            leave.wait()

    thread = Thread(target=other)
    thread.start()
    inside.wait()
    with growing(), growing():
        assert not gc.isenabled()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
