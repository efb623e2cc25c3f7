"""What reaches the terminal: no control character of a name, no lost name, no cut number, whatever its width."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.cli import sheets, show, terminal
from dalembert.cli.catalogue import ROBOTS
from dalembert.cli.digits import aligned
from dalembert.errors import DalembertWarning
from dalembert.wording import printable
from tests.project.source import modules, name_of

EVIL = "\x1b]0;owned\x07\x1b[31m[red]x[/] [s]\u202e\x9b1m\u2028\x7f"
SHOWN = r"\x1b]0;owned\x07\x1b[31m[red]x[/] [s]\u202e\x9b1m\u2028\x7f"
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
WIDTHS = [40, 80, 200]


@pytest.fixture
def screen(run, monkeypatch):
    """Run the command in a terminal of so many columns: what stands there, without colours."""

    def command(columns: int, *arguments: str) -> str:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        code, out, err = run(*arguments)
        assert code == 0, err
        return re.sub(r"\x1b\[[\d;]*m", "", out)

    return command


# control characters


def test_a_control_character_is_shown_and_not_obeyed():
    assert printable(EVIL) == SHOWN
    assert printable("q̇, ü, α → β, 中文 −1.5") == "q̇, ü, α → β, 中文 −1.5"
    assert printable("a\tb\n\x1b", keep="\n\t") == "a\tb\n\\x1b"


def test_nothing_but_the_terminal_module_prints():
    """One door: whoever prints elsewhere would let names through as they are."""
    found = []
    for module in modules():
        if module.parent.name == "cli" and module.stem != "terminal":
            text = module.read_text(encoding="utf-8")
            found += [
                f"{name_of(module)}: {word}" for word in ("rich.text", "rich.console", 'print("', ".write(") if word in text
            ]
            found += [f"{name_of(module)}: print" for _ in re.findall(r"(?<![\w.])print\(", text)]
    assert found == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", EVIL),
        ("show", f"{EVIL}.urdf"),
        ("check", f"{EVIL}.toml"),
        (EVIL,),
        ("list", f"--{EVIL}"),
        ("list", EVIL),
        ("dynamics", "pendulum", "--q", EVIL),
        ("dynamics", "pendulum", "--formulation", EVIL),
        ("contributions", "pendulum", "--to", "1", "--time", "1", "--by", EVIL),
        ("contributions", "pendulum", "--to", "1", "--time", "1", "--figure", f"{EVIL}.png"),
        ("contributions", "pendulum", "--to", "1", "--time", "1", "--figure", f"{EVIL}"),
        ("simplify", "pendulum", "--form", EVIL),
        ("simplify", "pendulum", "--tolerance", EVIL),
        ("equations", "pendulum", "--quantity", EVIL),
        ("equations", "pendulum", "--symbols", EVIL),
        ("export", "pendulum", "--language", EVIL),
        ("export", "pendulum", "-o", f"{EVIL}/x.c"),
        ("export", "pendulum", "--quantity", "jacobian", "--link", EVIL),
    ],
    ids=lambda arguments: arguments[0] if arguments[0] != EVIL else "command",
)
def test_no_argument_reaches_the_terminal_as_a_control_sequence(run, arguments):
    code, out, err = run(*arguments)
    assert code in (1, 2)
    assert err
    assert not HIDDEN.search(out + err)


@pytest.fixture
def wicked(monkeypatch):
    """Let every command load an arm whose names end in something wicked, past all checks, as if there were a way around them."""

    def patch(name: str) -> None:
        bodies = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": 0.1 * np.eye(3)}
        links = [dal.Link("base"), dal.Link("upper", **bodies), dal.Link("lower", **bodies)]
        pairs = [("shoulder", "base", "upper"), ("elbow", "upper", "lower")]
        joints = [dal.Joint(joint, "revolute", parent, child, axis=[0, 1, 0]) for joint, parent, child in pairs]
        robot = dal.Robot.from_parts("arm", links, joints)
        for part in (robot, *robot.structure.joints):
            object.__setattr__(part, "name", f"{part.name}{name}")
        for module in ("check", "dynamics", "contributions", "trajectory", "compare", "simplify", "equations", "export"):
            monkeypatch.setattr(importlib.import_module(f"dalembert.cli.{module}"), "load", lambda source: robot)

    return patch


COMMANDS = [
    ("show", "x"),
    ("check", "x"),
    ("dynamics", "x", "--q", "1", "2"),
    ("contributions", "x", "--to", "1", "2", "--time", "1"),
    ("trajectory", "x", "--to", "1", "2", "--time", "1"),
    ("compare", "x", "--samples", "3"),
    ("simplify", "x", "--samples", "100"),
    ("equations", "x"),
    ("export", "x"),
    ("dynamics", "x", "--q", "1"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_names_with_brackets_are_printed_as_they_are(run, wicked, arguments):
    wicked("[red]x[/][s]")
    _, out, err = run(*arguments)
    assert "[red]x[/][s]" in out + err


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_no_name_reaches_the_terminal_as_a_control_sequence(run, wicked, arguments):
    wicked(EVIL)
    _, out, err = run(*arguments)
    assert not HIDDEN.search(out + err)
    assert r"\x1b" in out + err


def test_json_stays_json_and_escapes_what_is_not_visible(capsys):
    terminal.print_json({EVIL: [EVIL, "q̇ 中文"]})
    out = capsys.readouterr().out
    assert not HIDDEN.search(out)
    assert json.loads(out) == {EVIL: [EVIL, "q̇ 中文"]}


def test_a_warning_is_shown_without_its_control_characters(run, monkeypatch):
    monkeypatch.setattr(show, "run", lambda *a, **k: warnings.warn(f"link {EVIL!s}", DalembertWarning, stacklevel=1))
    _, out, err = run("show", "pendulum")
    assert err.startswith("warning: link \\x1b")
    assert not HIDDEN.search(out + err)


# narrow terminals


LONG = "left_shoulder_pitch_actuator_joint"  # 34 letters


def long_names() -> dal.Robot:
    """A UR10 whose joints and links have names as long as those of humanoids."""
    robot = dal.robots.ur10()
    links = {link.name: f"{LONG[:-6]}_{link.name}" for link in robot.parameters.links}
    joints = {joint.name: f"{LONG}_{k}" for k, joint in enumerate(robot.structure.joints)}
    return dal.Robot.from_parts(
        "long",
        [link.replace(name=links[link.name]) for link in robot.parameters.links],
        [j.replace(name=joints[j.name], parent=links[j.parent], child=links[j.child]) for j in robot.structure.joints],
    )


ARMS = {
    "puma560": dal.robots.puma560,
    "panda": dal.robots.panda,
    "long": long_names,
    "chain12": lambda: dal.robots.chain(12),
    "chain30": lambda: dal.robots.chain(30),
}


@pytest.fixture
def saved(tmp_path):
    def path(name: str) -> str:
        dal.save(ARMS[name](), tmp_path / f"{name}.toml")
        return str(tmp_path / f"{name}.toml")

    return path


def whole(text: str, name: str) -> bool:
    """Whether a name stands in a text, in one piece or folded after its signs."""
    return name in text or all(piece in text for piece in re.findall(r"[^_]*_|[^_]+", name))


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", ARMS)
def test_dynamics_shows_every_name_and_number_at_any_width(screen, saved, columns, name):
    robot = ARMS[name]()
    rng = np.random.default_rng(3)
    state = rng.normal(size=(3, robot.n)).round(3)
    given = [word for option, row in zip(("--q", "--qd", "--qdd"), state, strict=True) for word in (option, *map(str, row))]
    out = screen(columns, "dynamics", saved(name), *given)
    words = out.split()
    assert all(whole(out, joint) for joint in robot.joint_names)
    for values in (dal.mass_matrix(robot, state[0]), dal.bias(robot, *state[:2]), state[0]):
        assert set(aligned(values).ravel().tolist()) <= set(words)
    assert max(map(len, out.splitlines()[2:])) <= columns or columns == 40
    assert "…" not in out


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", ["puma560", "panda", "long", "chain12"])
def test_contributions_shows_every_name_and_number_at_any_width(screen, saved, columns, name):
    robot = ARMS[name]()
    out = screen(
        columns, "contributions", saved(name), "--to", *["1"] * robot.n, "--time", "1", "--by", "joint", "--samples", "20"
    )
    assert all(whole(out, joint) for joint in robot.joint_names)
    path = dal.trajectory.triangular(np.zeros(robot.n), np.ones(robot.n), duration=1.0).sample(count=20)
    parts = dal.contributions(robot, path.q, path.qd, path.qdd)
    columns_of = [v for v in parts.by_joint.values() if np.any(v != 0)]
    peaks = np.column_stack([np.abs(v).max(axis=0) for v in (*columns_of, parts.tau)])
    assert set(aligned(peaks).ravel().tolist()) <= set(out.split())


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", ARMS)
def test_show_loses_nothing_at_any_width(screen, run, saved, columns, name, monkeypatch):
    path = saved(name)
    narrow = screen(columns, "show", path)
    for variable in ("FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(variable)
    wide = run("show", path)[1]
    words = {word for word in wide.split() if "─" not in word}
    assert [word for word in words if not whole(narrow, word)] == []


@pytest.mark.parametrize("columns", WIDTHS)
def test_compare_and_simplify_lose_no_column_at_any_width(screen, columns):
    out = screen(columns, "compare", "scara", "--samples", "3")
    for word in (*dal.FORMULATIONS, "published", "customised", "smallest", "holds"):
        assert whole(out, word)
    out = screen(columns, "simplify", "scara", "--samples", "100")
    for word in (*dal.robots.scara().joint_names, "largest", "torque", "found"):
        assert word in out


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_catalogue_is_whole_at_any_width(screen, columns):
    out = screen(columns, "list")
    assert set(ROBOTS) <= set(out.split())
    for joints, about in ROBOTS.values():
        assert joints in out.split()
        assert set(about.split()) <= set(out.split())
    assert max(map(len, out.splitlines())) <= columns


def table(heads, rows, room, **options):
    return [line for line, _ in sheets.lines(sheets.sheet("", heads, rows, **options), room)]


def test_a_table_that_fits_is_left_alone():
    assert table(["joint", "q"], [("shoulder", "−1.5")], 80) == ["joint        q", "──────────────", "shoulder  −1.5"]


def test_a_table_that_is_too_wide_is_cut_into_groups_with_the_names_beside_each():
    heads, rows = ["", "a", "b", "c"], [("one", "1.25", "2.25", "3.25"), ("two", "4.25", "5.25", "6.25")]
    assert table(heads, rows, 15) == [
        *("        a     b", "───────────────", "one  1.25  2.25", "two  4.25  5.25", ""),
        *("        c", "─────────", "one  3.25", "two  6.25"),
    ]


def test_long_names_are_folded_after_their_signs_before_a_row_becomes_a_list():
    rows = [("left_knee_joint", "1.25")]
    assert table(["joint", "q"], rows, 16) == ["joint          q", "────────────────", "left_knee_  1.25", "joint"]
    assert table(["joint", "q"], rows, 9) == ["left_knee_joint", "  q  1.25"]


def test_words_are_folded_at_spaces():
    rows = [("arm", "two revolute joints")]
    assert table(["name", "about"], rows, 15, left=2) == [
        "name  about",
        "───────────────",
        "arm   two",
        "      revolute",
        "      joints",
    ]


def test_wide_letters_count_twice():
    assert table(["", "q"], [("中文", "1"), ("abcd", "2")], None) == ["      q", "───────", "中文  1", "abcd  2"]


# the catalogue


@pytest.mark.parametrize("name", dal.robots.CATALOGUE)
def test_the_list_is_in_step_with_the_catalogue(name):
    assert list(ROBOTS) == list(dal.robots.CATALOGUE)
    robot = dal.robots.CATALOGUE[name]()
    first = inspect.getdoc(dal.robots.CATALOGUE[name]).partition("\n")[0].rstrip(".").partition(" [")[0]
    assert ROBOTS[name] == ("".join("R" if joint.turns else "P" for joint in robot.structure.coordinates), first)
