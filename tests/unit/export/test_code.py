"""What `export_code` accepts, refuses and writes."""

from __future__ import annotations

import pytest

import dalembert as dal
from dalembert.errors import DalembertError, ShapeError, UnknownNameError
from dalembert.export.naming import Names, identifier

PENDULUM = dal.robots.pendulum()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"language": "pyton"}, "language: 'pyton' is not known; did you mean 'python'?"),
        ({"quantity": "mass_matrx"}, "quantity: 'mass_matrx' is not known; did you mean 'mass_matrix'?"),
        ({"quantity": []}, "quantity: an empty list found, at least one expected."),
        ({"dtype": "float23"}, "dtype: 'float23' is not known; did you mean 'float32'?"),
        ({"frame": "world"}, "option: 'frame' means nothing to inverse_dynamics, which takes formulation, wrenches,"),
        ({"quantity": "energy", "link": "rod"}, "option: 'link' means nothing to energy, which takes no options."),
        ({"quantity": "jacobian", "link": "rood"}, "link: 'rood' is not known; did you mean 'rod'?"),
        ({"formulation": "newton"}, "formulation: 'newton' is not known"),
    ],
)
def test_what_is_not_known_is_refused_with_the_near_match(arguments, message):
    with pytest.raises(UnknownNameError) as refused:
        dal.export_code(PENDULUM, **arguments)
    assert message in str(refused.value)


def test_something_else_than_a_robot_is_refused():
    with pytest.raises(DalembertError, match=r"system: str found, a Robot is expected. Try dal.load"):
        dal.export_code("panda")


def test_wrenches_are_names_here_and_not_numbers():
    with pytest.raises(ShapeError, match="a list of link names such as"):
        dal.export_code(PENDULUM, wrenches={"tool": [0.0] * 6})


def test_several_quantities_each_take_the_options_they_know():
    text = dal.export_code(PENDULUM, ["jacobian", "bias"], link="rod", formulation="newton_euler")
    assert "void pendulum_jacobian(" in text
    assert "void pendulum_bias(" in text


def test_a_quantity_named_twice_is_written_once():
    assert dal.export_code(PENDULUM, ["energy", "energy"]).count("void pendulum_energy(") == 1


def test_several_links_give_several_poses():
    text = dal.export_code(PENDULUM, "forward_kinematics", link=["base", "rod"])
    assert "X[2 x 4 x 4]" in text


def test_the_same_robot_gives_the_same_text():
    assert dal.export_code(PENDULUM) == dal.export_code(PENDULUM.replace())


@pytest.mark.parametrize(("language", "name"), [("python", "arm.py"), ("c_header", "arm.h")])
def test_the_file_holds_the_text(language, name, tmp_path):
    text = dal.export_code(PENDULUM, language=language, path=tmp_path / name)
    assert (tmp_path / name).read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_suffix_of_another_language_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(UnknownNameError, match=r"arm.h: suffix '.h' found, '.c' expected"):
        dal.export_code(PENDULUM, path=tmp_path / "arm.h")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_one_sentence(tmp_path):
    with pytest.raises(DalembertError, match=r"the file cannot be written \(No such file or directory\)"):
        dal.export_code(PENDULUM, path=tmp_path / "nowhere" / "arm.c")


def test_identifiers_are_made_of_letters_digits_and_underscores():
    texts = ["panda", "wrenches['tool']", "7dof", "é", "a--b", "_x_"]
    assert [identifier(text) for text in texts] == ["panda", "wrenches_tool", "robot_7dof", "robot", "a_b", "x"]


def test_a_name_is_handed_out_once():
    names = Names(["double"])
    assert [names.fresh(name) for name in ("q", "q", "double", "q")] == ["q", "q_", "double_", "q__"]
