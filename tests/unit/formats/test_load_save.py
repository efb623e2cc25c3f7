"""The two doors: which file is read how, and what happens when it cannot be."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import types
from pathlib import Path

import pytest

import dalembert
from dalembert import formats
from dalembert.errors import DalembertWarning, FormatError, MissingExtraError, ModelError, UnknownNameError
from dalembert.formats import load, save
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
    with pytest.raises(UnknownNameError, match=r"robot 'xyzzy': neither a file nor in the catalogue\. Catalogue: panda, "):
        load("xyzzy")


def test_messages_start_with_the_file_as_the_user_gave_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.urdf").write_text("<robot>\n<link/></robot>")
    with pytest.raises(FormatError, match=r"^bad\.urdf:1: robot"):
        load("bad.urdf")
    Path("bad.toml").write_text("name = 3")
    with pytest.raises(FormatError, match=r"^bad\.toml: name = 3"):
        load("bad.toml")


UNREADABLE = {
    "missing": ("gone.urdf", FormatError, r"gone\.urdf: no such file"),
    "missing xacro": ("gone.urdf.xacro", FormatError, r"gone\.urdf\.xacro: no such file"),
    "folder": (".", FormatError, r"this is a folder; a robot file or a catalogue name is expected"),
    "folder with a suffix": ("folder.urdf", FormatError, r"this is a folder"),
    "mjcf": ("model.xml", FormatError, r"model\.xml: MuJoCo models \(MJCF\) are not supported yet"),
    "suffix": ("robot.step", UnknownNameError, r"robot\.step: suffix '\.step' is not known\. Known: \.urdf, \.toml, \.json"),
    "null byte": ("a\0.urdf", FormatError, r"the file cannot be read"),
    "no suffix, null byte": ("a\0", UnknownNameError, r"neither a file nor in the catalogue"),
    "empty": ("", UnknownNameError, r"robot '': neither a file nor in the catalogue"),
}


@pytest.mark.parametrize("name, error, message", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_one_sentence(tmp_path, monkeypatch, name, error, message):
    monkeypatch.chdir(tmp_path)
    Path("folder.urdf").mkdir()
    Path("robot.step").write_text("solid")
    Path("model.xml").write_text("<mujoco/>")
    with pytest.raises(error, match=message):
        load(name)


def test_a_file_without_permission_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "r.urdf"
    path.write_text(URDF)

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(FormatError, match=r"r\.urdf: the file cannot be read \(Permission denied\)\."):
        load(path)


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


def fake_xacrodoc(monkeypatch, expand):
    doc = types.SimpleNamespace(from_file=lambda path: types.SimpleNamespace(to_urdf_string=lambda: expand(path)))
    monkeypatch.setitem(sys.modules, "xacrodoc", types.SimpleNamespace(XacroDoc=doc))


def test_xacro_is_expanded_when_the_extra_is_there(tmp_path, monkeypatch):
    path = tmp_path / "r.urdf.xacro"
    path.write_text(URDF)
    fake_xacrodoc(monkeypatch, lambda name: Path(name).read_text())
    assert load(path).n == 1


def test_a_macro_that_fails_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "r.xacro"
    path.write_text(URDF)

    def fail(name):
        raise RuntimeError("package\n  'ur' not found")

    fake_xacrodoc(monkeypatch, fail)
    with pytest.raises(FormatError, match=r"r\.xacro: xacro could not be expanded \(package 'ur' not found\)"):
        load(path)


@pytest.mark.parametrize("suffix", [".toml", ".urdf"])
def test_what_is_saved_is_loaded_again(tmp_path, suffix):
    robot = an_arm()
    save(robot, tmp_path / f"r{suffix}")
    again = load(tmp_path / f"r{suffix}")
    assert again.parameters == robot.parameters
    assert again.structure == robot.structure
    assert os.listdir(tmp_path) == [f"r{suffix}"]


def test_saving_a_robot_that_urdf_cannot_hold_warns(tmp_path):
    with pytest.warns(DalembertWarning, match="URDF cannot say gravity"):
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

    monkeypatch.setattr(formats.os, "replace", full)
    with pytest.raises(FormatError, match=r"No space left on device"):
        save(an_arm(), tmp_path / "r.toml")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.toml", "old")]


def test_a_name_that_is_not_unicode_text_is_one_sentence(tmp_path):
    robot = Robot.from_parts("\ud800", [Link("base"), Link("arm", 1.0, (0.1, 0, 0))], [Joint("j", "revolute", "base", "arm")])
    with pytest.raises(FormatError, match="which is not Unicode text"):
        save(robot, tmp_path / "r.toml")


def test_importing_the_package_loads_no_reader():
    code = (
        "import sys, dalembert.formats; print([m for m in sys.modules if m == 'tomllib' or m.startswith('dalembert.formats.')])"
    )
    source = str(Path(dalembert.__file__).parents[1])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": source})
    assert run.stdout.strip() == "[]"
