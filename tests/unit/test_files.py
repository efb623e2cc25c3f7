"""Files: what is read, what is refused without waiting, and what stays of a file that is replaced."""

from __future__ import annotations

import os
import socket
import stat

import pytest

from dalembert import files
from dalembert.files import TooLargeError, read_file, replace_file


def test_a_file_is_read_up_to_the_limit(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"x" * 1000)
    assert read_file(path, 1000) == b"x" * 1000
    with pytest.raises(TooLargeError, match="it is larger than 0 MB"):
        read_file(path, 999)


def test_a_file_that_hides_its_size_is_read_up_to_the_limit_too(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(b"x" * 5_000_000)
    real = os.fstat
    monkeypatch.setattr(files.os, "fstat", lambda fd: os.stat_result((real(fd).st_mode, *[0] * 9)))
    with pytest.raises(TooLargeError):
        read_file(path, 2_000_000)


def a_pipe(path):
    os.mkfifo(path)


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(path)


def a_device(path):
    os.symlink("/dev/zero", path)


@pytest.mark.parametrize("make", [a_pipe, a_socket, a_device, os.mkdir])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    make("f")
    with pytest.raises(OSError, match="not a file|directory|No such device"):
        read_file("f", 10)
    with pytest.raises(OSError, match="not a file|directory"):
        replace_file("f", b"new")
    assert os.listdir() == ["f"]


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 300])
def test_a_name_no_file_can_have_is_an_os_error(tmp_path, name):
    with pytest.raises(OSError, match="no file can have this name|too long"):
        read_file(tmp_path / name, 10)
    with pytest.raises(OSError, match="no file can have this name|too long") as caught:
        replace_file(tmp_path / name, b"")
    assert caught.value.filename == str(tmp_path / name)


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    for mode in (0o600, 0o664, 0o755):
        path.chmod(mode)
        replace_file(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_draft_of_a_private_file_is_private_before_anything_is_in_it(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o600)
    seen = []
    real = os.replace
    monkeypatch.setattr(files.os, "chmod", lambda draft, mode: seen.append((mode, os.stat(draft).st_size)))
    monkeypatch.setattr(files.os, "replace", lambda *paths: real(*paths))
    replace_file(path, b"new")
    assert seen == [(0o600, 0)]


def test_a_new_file_follows_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        replace_file(tmp_path / "f", b"new")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640


def test_a_name_as_long_as_names_can_be_is_written(tmp_path):
    path = tmp_path / ("x" * 255)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/f")
    replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "f").read_bytes() == b"new"
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="symbolic links"):
        replace_file(tmp_path / "round", b"new")


def test_an_error_names_the_path_given_and_leaves_no_draft(tmp_path):
    with pytest.raises(OSError, match="No such file or directory") as caught:
        replace_file(tmp_path / "nowhere" / "f", b"new")
    assert caught.value.filename == str(tmp_path / "nowhere" / "f")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["open", "replace"])
def test_a_folder_that_cannot_be_written_to_is_told_by_the_users_path(tmp_path, monkeypatch, step):
    def refuse(path, *more):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(*((files, "open", refuse, False) if step == "open" else (files.os, "replace", refuse)))
    with pytest.raises(PermissionError) as caught:
        replace_file(tmp_path / "f", b"new")
    assert caught.value.filename == str(tmp_path / "f")
    assert list(tmp_path.iterdir()) == []


def test_a_file_protected_from_writing_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    monkeypatch.setattr(files.os, "access", lambda path, mode: False)  # as root everything may be written
    with pytest.raises(PermissionError):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
