"""Moving pictures: their pace, what is in them, and files that are complete or not there."""

from __future__ import annotations

import shutil
import subprocess
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, DalembertWarning, ShapeError, UnknownNameError

matplotlib.use("Agg")
Image = pytest.importorskip("PIL.Image")
SMALL = {"dpi": 30}


@pytest.fixture(scope="module")
def swing():
    return dal.simulate(dal.robots.two_link_planar(), [0.3, 0.2], [0.0, 0.0], t_end=0.5)


def read(path):
    """Pictures and how long each is shown [ms]."""
    with Image.open(path) as file:
        pictures, durations = [], []
        for k in range(file.n_frames):
            file.seek(k)
            pictures.append(np.asarray(file.convert("RGB"), dtype=int))
            durations.append(file.info["duration"])
    return pictures, durations


@pytest.mark.parametrize(("fps", "speed", "total"), [(25, 1.0, 520), (30, 1.0, 530), (20, 0.5, 1050), (10, 5.0, 200)])
def test_the_pace_is_that_of_the_motion(swing, tmp_path, fps, speed, total):
    """0.5 s from the first picture to the last one, which is shown for 1 / fps more; times of a GIF are in steps of 10 ms."""
    dal.animate(swing, tmp_path / "swing.gif", fps=fps, speed=speed, **SMALL)
    _, durations = read(tmp_path / "swing.gif")
    assert sum(durations) == pytest.approx(total, abs=10)
    assert [entry.name for entry in tmp_path.iterdir()] == ["swing.gif"]


def test_each_picture_shows_the_arm_where_it_is(swing, tmp_path):
    """The links, of one colour, are drawn about the middle of the figure that forward kinematics tells."""
    dal.animate(swing, tmp_path / "swing.gif", fps=10, dpi=60)
    pictures, _ = read(tmp_path / "swing.gif")
    assert len(pictures) == 6
    body = np.array([0x44, 0x54, 0x6A])
    heights = [np.argwhere(np.abs(p - body).sum(-1) < 40)[:, 0].mean() for p in pictures]
    assert all(np.diff(heights) > 0)  # rows of a picture go down, and so does the arm


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "stewart", "slider_crank"])
def test_arms_and_mechanisms_in_space_and_plane_are_drawn(name, tmp_path):
    system = getattr(dal.robots, name, None) or getattr(dal.mechanisms, name)
    made = system()
    q0 = np.zeros(made.n) if isinstance(made, dal.Robot) else made.q0
    motion = dal.rollout(made, q0, np.full(made.n, 0.1), None, dt=2e-3, steps=50)
    dal.animate(
        motion, tmp_path / "motion.gif", fps=20, trace=made.link_names[-1] if isinstance(made, dal.Robot) else None, **SMALL
    )
    pictures, _ = read(tmp_path / "motion.gif")
    assert len(pictures) == 3
    assert (pictures[0] != pictures[-1]).any()


def test_one_motion_of_a_batch_is_chosen(tmp_path):
    q0 = np.array([[0.3, 0.2], [0.5, 0.1]])
    many = dal.simulate(dal.robots.two_link_planar(), q0, [0.0, 0.0], t_end=0.2, dense=True)
    one = dal.simulate(dal.robots.two_link_planar(), q0[1], [0.0, 0.0], t_end=0.2, dense=True)
    dal.animate(many, tmp_path / "many.gif", which=1, fps=10, **SMALL)
    dal.animate(one, tmp_path / "one.gif", fps=10, **SMALL)
    assert (tmp_path / "many.gif").read_bytes() == (tmp_path / "one.gif").read_bytes()
    with pytest.raises(ShapeError, match=r"which: None found for a batch \(2,\)"):
        dal.animate(many, tmp_path / "none.gif")
    with pytest.raises(ShapeError, match=r"which: 2 found, but the batch is \(2,\)"):
        dal.animate(many, tmp_path / "none.gif", which=2)


def test_a_trajectory_and_plain_samples_are_shown_with_their_system(tmp_path):
    arm, t = dal.robots.two_link_planar(), np.linspace(0.0, 0.4, 5)
    samples = SimpleNamespace(t=t, q=np.stack([t, 2 * t], -1))
    dal.animate(samples, tmp_path / "samples.gif", system=arm, fps=10, **SMALL)
    with_rates = SimpleNamespace(t=t, q=samples.q, qd=np.tile([1.0, 2.0], (5, 1)))
    dal.animate(with_rates, tmp_path / "rates.gif", system=arm, fps=10, **SMALL)
    assert (tmp_path / "samples.gif").read_bytes() == (tmp_path / "rates.gif").read_bytes()
    with pytest.raises(ShapeError, match="system: nothing found; the Robot or Mechanism that moves is expected"):
        dal.animate(samples, tmp_path / "none.gif")
    with pytest.raises(ShapeError, match="motion: 3 found; a result of simulate, or samples with t and q are expected"):
        dal.animate(3, tmp_path / "none.gif", system=arm)


def test_a_motion_that_ended_early_is_shown_as_far_as_it_went(tmp_path):
    with pytest.warns(dal.DalembertWarning, match="ended early"):
        motion = dal.simulate(
            dal.robots.two_link_planar(), [0.3, 0.2], [0.0, 0.0], t_eval=np.linspace(0, 1, 101), max_steps=4, rtol=1e-10
        )
    assert np.isnan(motion.q).any()
    dal.animate(motion, tmp_path / "part.gif", fps=20, **SMALL)
    _, durations = read(tmp_path / "part.gif")
    assert sum(durations) < 700


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        (
            {"path": "a.avi"},
            UnknownNameError,
            "'a.avi' ends in '.avi', not a format of animations. Known: .gif",
        ),
        ({"path": 3}, ShapeError, "path: 3 found, the name of a .gif or .mp4 file expected"),
        ({"fps": 0}, ShapeError, "fps: 0 found, a number above 0 is expected"),
        ({"fps": 60}, ShapeError, "a GIF shows at most 50 pictures a second"),
        ({"speed": -1}, ShapeError, "speed: -1 found, a number above 0 is expected"),
        ({"speed": 1e-4}, ShapeError, r"pictures asked for, at most 5000 are drawn"),
        ({"trace": "hand"}, UnknownNameError, "trace: link"),
        ({"frames": "hand"}, UnknownNameError, "frames: link"),
        ({"frames": 3}, ShapeError, "frames: 3 found; names of links expected"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(swing, tmp_path, monkeypatch, options, kind, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=words):
        dal.animate(swing, **{"path": "swing.gif", **options})
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_when_drawing_is_interrupted(swing, tmp_path):
    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dal.animate(swing, tmp_path / "swing.gif", progress=stop, **SMALL)
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg_an_mp4_file_is_refused_before_anything_is_drawn(swing, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DalembertError, match="needs the program ffmpeg, which was not found on the path. Install it"):
        dal.animate(swing, tmp_path / "swing.mp4", progress=pytest.fail)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_an_mp4_file_lasts_as_long_as_the_motion(swing, tmp_path):
    dal.animate(swing, tmp_path / "swing.mp4", fps=20, dpi=81)
    told = subprocess.run(["ffmpeg", "-i", str(tmp_path / "swing.mp4")], capture_output=True, text=True, check=False).stderr
    assert "Duration: 00:00:00.55" in told
    assert [entry.name for entry in tmp_path.iterdir()] == ["swing.mp4"]


@pytest.mark.skipif(shutil.which("sh") is None, reason="a stand-in for ffmpeg needs a shell")
def test_what_ffmpeg_says_is_passed_on(swing, tmp_path, monkeypatch):
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho 'Unknown encoder' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "out").mkdir()
    with pytest.raises(DalembertError, match="animate: ffmpeg failed: Unknown encoder. Name a .gif file instead"):
        dal.animate(swing, tmp_path / "out" / "swing.mp4", **SMALL)
    assert list((tmp_path / "out").iterdir()) == []


def test_frames_are_drawn_as_three_lines_of_one_length():
    arm = dal.robots.two_link_planar()
    ax = dal.plots.skeleton(arm, [0.4, 0.8], frames=["tool"], legend=False)
    plain = dal.plots.skeleton(arm, [0.4, 0.8], legend=False)
    lines = ax.get_lines()[len(plain.get_lines()) :]
    X = dal.forward_kinematics(arm, [0.4, 0.8])
    assert len(lines) == 3
    for line, axis in zip(lines, X[:2, :3].T, strict=True):
        start, end = np.array(line.get_data()).T
        np.testing.assert_allclose(start, X[:2, 3], atol=1e-12)
        np.testing.assert_allclose((end - start) / max(np.linalg.norm(end - start), 1e-300), axis, atol=1e-12)


def test_the_histories_of_a_motion_are_drawn():
    arm = dal.robots.two_link_planar()
    swing = dal.simulate(arm, [[0.3, 0.2], [0.1, 0.0]], [0.0, 0.0], tau=[1.0, 0.5], t_eval=np.linspace(0, 1, 21), dense=True)
    axes = dal.plots.simulation(swing, which=1)
    labels = ["position [rad]", "velocity [rad/s]", "torque [N m]", "energy [J]", "power [W]", "energy balance [J]"]
    assert [ax.get_ylabel() for ax in axes] == labels
    np.testing.assert_array_equal(axes[0].get_lines()[1].get_ydata(), swing.q[1, :, 1])
    np.testing.assert_allclose(axes[4].get_lines()[0].get_ydata(), swing.power.kinetic_rate[1])
    assert [text.get_text() for text in axes[4].get_legend().get_texts()] == ["motors", "gravity", "sum"]
    with pytest.raises(ShapeError, match="result: 3 found; what dal.simulate or dal.rollout returns is expected"):
        dal.plots.simulation(3)


def test_the_paper_of_a_gif_is_white_in_every_picture(tmp_path):
    """Also where faint lines lie close to it."""
    stewart = dal.mechanisms.stewart()
    ends = np.array([stewart.q0, 1.02 * np.array(stewart.q0)])
    dal.animate(SimpleNamespace(t=np.array([0.0, 0.2]), q=ends), tmp_path / "legs.gif", system=stewart, fps=10)
    for picture in read(tmp_path / "legs.gif")[0]:
        assert (picture[0, 0] == 255).all()
        assert (picture == 255).all(axis=-1).mean() > 0.8


def test_legends_of_energies_and_powers_are_above_what_is_drawn():
    swing = dal.simulate(dal.robots.two_link_planar(), [0.3, 0.2], [0.0, 0.0], t_eval=np.linspace(0, 1, 21), dense=True)
    axes = dal.plots.simulation(swing)
    axes[0].figure.canvas.draw()
    for ax in axes[3:5]:
        assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


def test_causes_that_never_act_are_no_part_of_a_motion_that_ended_early():
    with pytest.warns(DalembertWarning, match="ended early"):
        swing = dal.simulate(
            dal.robots.two_link_planar(), [0.3, 0.2], [0.0, 0.0], t_eval=np.linspace(0, 1, 501), dense=True, max_steps=3
        )
    assert np.isnan(swing.q[-1]).all()
    assert list(swing.power.by_cause) == ["gravity"]


def test_motions_without_joints_or_numbers_are_refused_in_a_sentence(tmp_path):
    arm, path = dal.robots.two_link_planar(), tmp_path / "none.gif"
    line = dal.trajectory.line(np.eye(4), np.eye(4), duration=1.0)
    with pytest.raises(ShapeError, match="which has no positions of joints. Try dal.trajectory.follow first"):
        dal.animate(line, path, system=arm)
    t, q = np.linspace(0.0, 1.0, 11), np.zeros((11, 2))
    q[5, 1] = np.nan
    with pytest.raises(ShapeError, match=r"motion: NaN or infinity found among q at t = 0\.\d+ s"):
        dal.animate(SimpleNamespace(t=t, q=q, qd=0 * q), path, system=arm)
    with pytest.raises(ShapeError, match=r"q of shape \(2, 26, 2\) found, .* Try motion\[0\]"):
        dal.animate(dal.trajectory.quintic(np.zeros((2, 2)), np.ones((2, 2)), duration=1.0), path, system=arm)
    assert list(tmp_path.iterdir()) == []
