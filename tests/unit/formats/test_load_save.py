"""The two doors: which file is read how, and what happens when it cannot be."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dalembert
from dalembert import files, formats
from dalembert.errors import DalembertWarning, FormatError, MissingExtraError, ModelError, Part, UnknownNameError
from dalembert.formats import xacro
from dalembert.loading import load, save
from dalembert.model import Joint, Link, Robot
from dalembert.robots import CATALOGUE

URDF = """<robot name="r"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
TOML = 'name = "r"\nconvention = "standard"\n[[dh]]\na = 1\nmass = 1\ninertia = [1, 1, 1]\n'
JSON = '{"convention": "modified", "links": [{"type": "R", "a": 1, "mass": 1, "inertia": [1, 1, 1]}]}'


def an_arm(mass: float = 1.0) -> Robot:
    return Robot.from_parts("r", [Link("base"), Link("arm", mass, (0.1, 0, 0))], [Joint("j", "revolute", "base", "arm")])


def test_a_catalogue_name_is_loaded():
    assert load("puma560") == CATALOGUE["puma560"]()


@pytest.mark.parametrize("name, text", [("r.urdf", URDF), ("r.toml", TOML), ("r.json", JSON), ("R.URDF", URDF)])
def test_a_file_is_loaded_by_its_suffix(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert load(tmp_path / name).n == load(str(tmp_path / name)).n == 1


def test_a_near_miss_of_a_catalogue_name_is_suggested():
    with pytest.raises(
        UnknownNameError, match=r"robot 'pumma560': neither a file nor in the catalogue; did you mean 'puma560'\?"
    ):
        load("pumma560")
    known = r"Robots: .*panda, .*\. Mechanisms: .*four_bar"
    with pytest.raises(UnknownNameError, match=rf"robot 'xyzzy': neither a file nor in the catalogue\. {known}"):
        load("xyzzy")


def test_messages_start_with_the_file_as_the_user_gave_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.urdf").write_text("<robot>\n<link/></robot>")
    with pytest.raises(FormatError, match=r"^bad\.urdf:1: robot"):
        load("bad.urdf")
    Path("bad.toml").write_text("name = 3")
    with pytest.raises(FormatError, match=r"^bad\.toml:1: name = 3"):
        load("bad.toml")


UNREADABLE = {
    "missing": ("gone.urdf", FormatError, r"gone\.urdf: no such file"),
    "missing xacro": ("gone.urdf.xacro", FormatError, r"gone\.urdf\.xacro: no such file"),
    "folder": (".", FormatError, r"this is a folder; a robot file or a catalogue name is expected"),
    "folder with a suffix": ("folder.urdf", FormatError, r"this is a folder"),
    "mjcf": ("model.xml", FormatError, r"^model\.xml:1: root element: a MuJoCo model \(MJCF\), which is not supported yet"),
    "suffix": ("robot.step", UnknownNameError, r"robot\.step: suffix '\.step' is not known\. Known: \.urdf, \.toml, \.json"),
    "null byte": ("a\0.urdf", FormatError, r"^a\\x00\.urdf: the file cannot be read \(no file can have this name\)"),
    "surrogate": ("\ud800.urdf", FormatError, r"^\\ud800\.urdf: the file cannot be read \(no file can have this name\)"),
    "long name": (f"{'x' * 300}.urdf", FormatError, r"x\.urdf: the file cannot be read \(File name too long\)"),
    "long name, no suffix": ("x" * 10_000_000, UnknownNameError, r"neither a file nor in the catalogue"),
    "pipe": (
        "pipe.urdf",
        FormatError,
        r"^pipe\.urdf: the file cannot be read \(it is a pipe, a device or a socket, not a file\)",
    ),
    "pipe as xacro": ("pipe.xacro", FormatError, r"it is a pipe"),
    "device": ("zero.json", FormatError, r"it is a pipe, a device or a socket"),
    "large": ("large.toml", FormatError, r"^large\.toml: it is larger than 16 MB, the most a robot file may have"),
    "nobody's home": ("~nobody_at_all/r.urdf", FormatError, r"~nobody_at_all/r\.urdf: no such file"),
    "number": (3, FormatError, r"^load: 3 found; the path of a file is expected, as a str or a Path"),
    "none": (None, FormatError, r"^load: None found; the path"),
    "bytes": (b"r.urdf", FormatError, r"^load: b'r\.urdf' found; the path"),
    "list": (["x" * 1000] * 1000, FormatError, r"^load: \['xxx.* found; the path"),
    "no suffix, null byte": ("a\0", UnknownNameError, r"neither a file nor in the catalogue"),
    "empty": ("", UnknownNameError, r"robot '': neither a file nor in the catalogue"),
}


@pytest.mark.parametrize("name, error, message", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_one_sentence(tmp_path, monkeypatch, name, error, message):
    monkeypatch.chdir(tmp_path)
    Path("folder.urdf").mkdir()
    Path("robot.step").write_text("solid")
    Path("model.xml").write_text("<mujoco/>")
    for name_of_pipe in ("pipe.urdf", "pipe.xacro"):
        os.mkfifo(name_of_pipe)
    os.symlink("/dev/zero", "zero.json")
    with open("large.toml", "wb") as file:
        file.truncate(formats.MOST_BYTES + 1)
    start = time.monotonic()
    with pytest.raises(error, match=message) as caught:
        load(name)
    assert time.monotonic() - start < 5
    assert len(str(caught.value)) < 2500


def test_a_file_without_permission_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "r.urdf"
    path.write_text(URDF)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.os, "open", refuse)
    with pytest.raises(FormatError, match=r"r\.urdf: the file cannot be read \(Permission denied\)\."):
        load(path)


def test_the_home_folder_may_be_written_as_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    save(an_arm(), "~/r.toml")
    assert load("~/r.toml") == load(Path("~/r.toml")) == an_arm()
    assert os.listdir(tmp_path) == ["r.toml"]
    (tmp_path / "bad.toml").write_text("name = 3")
    with pytest.raises(FormatError, match=r"^~/bad\.toml:1: name = 3"):
        load("~/bad.toml")


def test_a_urdf_may_be_called_xml(tmp_path):
    (tmp_path / "r.xml").write_text(URDF)
    assert load(tmp_path / "r.xml").n == 1


def test_errors_carry_file_line_and_part(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(URDF.replace('value="1"', 'value="x"'))
    with pytest.raises(FormatError) as caught:
        load(path)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.file, error.line, error.part) == (str(path), 2, Part("link", "arm"))
    assert str(error).startswith(f"{path}:2: link 'arm': mass: value: 'x' is not a number")


def test_strict_refuses_what_otherwise_warns(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(URDF.replace('mass value="1"', 'mass value="-1"'))
    with pytest.warns(DalembertWarning, match="mass -1 kg"):
        load(path)
    with pytest.raises(FormatError, match="mass -1 kg"):
        load(path, strict=True)


def test_strict_reaches_the_catalogue(monkeypatch):
    with pytest.warns(DalembertWarning):
        doubtful = an_arm(-1.0)
    monkeypatch.setitem(CATALOGUE, "doubtful", lambda: doubtful)
    assert load("doubtful") is doubtful
    with pytest.raises(ModelError, match="mass -1 kg"):
        load("doubtful", strict=True)


def test_xacro_without_its_extra_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    path = tmp_path / "r.urdf.xacro"
    path.write_text("<robot/>")
    with pytest.raises(MissingExtraError, match=r"needs xacrodoc, which is not installed\. Try: pip install xacrodoc, or"):
        load(path)


def fake_xacrodoc(tmp_path, monkeypatch, *body: str) -> Path:
    """A stand-in for the package, found by the process that expands, and a xacro file."""
    (tmp_path / "stand_in").mkdir()
    lines = ["import os, time", "class XacroDoc:", "  def from_file(path):", *(f"    {line}" for line in body)]
    (tmp_path / "stand_in" / "xacrodoc.py").write_text("\n".join([*lines, "  def to_urdf_string(self):", "    return self.text"]))
    monkeypatch.syspath_prepend(tmp_path / "stand_in")
    monkeypatch.delitem(sys.modules, "xacrodoc", raising=False)
    path = tmp_path / "r.urdf.xacro"
    path.write_text(URDF)
    return path


def test_xacro_is_expanded_when_the_extra_is_there(tmp_path, monkeypatch):
    body = ("doc = XacroDoc()", "doc.text = open(path).read()", "print('chatter')", "return doc")
    assert load(fake_xacrodoc(tmp_path, monkeypatch, *body)).n == 1


def test_a_macro_that_fails_is_one_sentence(tmp_path, monkeypatch):
    path = fake_xacrodoc(tmp_path, monkeypatch, "raise RuntimeError('package\\n  \\'ur\\' not found')")
    with pytest.raises(FormatError, match=r"r\.urdf\.xacro: xacro could not be expanded \(package 'ur' not found\)\.$"):
        load(path)


@pytest.mark.slow
def test_macros_that_never_end_are_stopped(tmp_path, monkeypatch):
    path = fake_xacrodoc(tmp_path, monkeypatch, f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))", "time.sleep(60)")
    monkeypatch.setattr(xacro, "SECONDS", 1.0)
    start = time.monotonic()
    with pytest.raises(FormatError, match=r"r\.urdf\.xacro: xacro was stopped after 1 s\. Expand it first"):
        load(path)
    assert time.monotonic() - start < 20
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_macros_that_give_endless_text_are_refused(tmp_path, monkeypatch):
    body = ("doc = XacroDoc()", "doc.text = '<!-- -->' * 5_000_000", "return doc")
    with pytest.raises(FormatError, match=r"could not be expanded \(it gives more URDF than a robot file may have\)"):
        load(fake_xacrodoc(tmp_path, monkeypatch, *body))


@pytest.mark.parametrize("suffix", [".toml", ".urdf"])
def test_what_is_saved_is_loaded_again(tmp_path, suffix):
    robot = an_arm()
    save(robot, tmp_path / f"r{suffix}")
    again = load(tmp_path / f"r{suffix}")
    assert again.parameters == robot.parameters
    assert again.structure == robot.structure
    assert os.listdir(tmp_path) == [f"r{suffix}"]


def test_saving_a_robot_that_urdf_cannot_hold_warns(tmp_path):
    with pytest.warns(DalembertWarning, match="URDF cannot express gravity"):
        save(an_arm().with_gravity((0, 0, 0)), tmp_path / "r.urdf")


def test_an_existing_file_is_replaced_and_a_link_to_it_kept(tmp_path):
    (tmp_path / "r.toml").write_text("old")
    (tmp_path / "link.toml").symlink_to(tmp_path / "r.toml")
    save(an_arm(), tmp_path / "link.toml")
    assert (tmp_path / "link.toml").is_symlink()
    assert load(tmp_path / "r.toml") == an_arm()


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    save(an_arm(), tmp_path / "r.toml")
    assert stat.S_IMODE((tmp_path / "r.toml").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_another_suffix_cannot_be_written(tmp_path):
    with pytest.raises(UnknownNameError, match=r"suffix '\.json' cannot be written\. Known: \.toml, \.urdf"):
        save(an_arm(), tmp_path / "r.json")


def test_what_is_no_robot_or_no_path_cannot_be_saved(tmp_path):
    with pytest.raises(FormatError, match=r"^save: 'x' found; a Robot or a Mechanism is expected"):
        save("x", tmp_path / "r.toml")
    for path in (3, None, b"r.toml"):
        with pytest.raises(FormatError, match=r"^save: .* found; the path of a file is expected"):
            save(an_arm(), path)


def test_a_private_file_stays_private(tmp_path):
    (tmp_path / "r.toml").write_text("old")
    (tmp_path / "r.toml").chmod(0o600)
    save(an_arm(), tmp_path / "r.toml")
    assert stat.S_IMODE((tmp_path / "r.toml").stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_written_to_is_told_by_the_users_path(tmp_path, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(files, "open", refuse, raising=False)
    with pytest.raises(FormatError, match=rf"^{tmp_path}/r\.toml: the file cannot be written \(Permission denied\)\.$"):
        save(an_arm(), tmp_path / "r.toml")


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(FormatError, match=r"the file cannot be written \(No such file or directory\)"):
        save(an_arm(), tmp_path / "nowhere" / "r.toml")
    with pytest.raises(FormatError, match=r"folder\.toml: the file cannot be written"):
        save(an_arm(), tmp_path / "folder.toml")
    with pytest.raises(FormatError, match=r"the file cannot be written"):
        save(an_arm(), "a\0.toml")
    assert os.listdir(tmp_path) == ["folder.toml"]


def test_nothing_half_written_is_left_when_the_disk_is_full(tmp_path, monkeypatch):
    (tmp_path / "r.toml").write_text("old")

    def full(draft, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(FormatError, match=r"No space left on device"):
        save(an_arm(), tmp_path / "r.toml")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.toml", "old")]


def test_a_note_that_is_not_unicode_text_is_one_sentence(tmp_path):
    robot = Robot.from_parts(
        "r",
        [Link("base"), Link("arm", 1.0, (0.1, 0, 0))],
        [Joint("j", "revolute", "base", "arm")],
        notes=["half a character: \ud800"],
    )
    with pytest.raises(FormatError, match="which is not Unicode text"):
        save(robot, tmp_path / "r.toml")


def test_importing_the_package_loads_no_reader():
    code = (
        "import sys, dalembert.formats; print([m for m in sys.modules if m == 'tomllib' or m.startswith('dalembert.formats.')])"
    )
    source = str(Path(dalembert.__file__).parents[1])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": source})
    assert run.stdout.strip() == "[]"
