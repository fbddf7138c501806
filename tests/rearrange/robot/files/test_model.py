"""Base, arm and hand in a model."""

import pytest

from rearrange.compiled_models import Notes
from rearrange.errors import UserError
from rearrange.robot.files.declaration import read_declaration
from rearrange.robot.files.model import BASE, load_model
from tests.helpers.file_robot import MODEL, WORDS, write_robot


def load(folder, words=WORDS, model=MODEL):
    notes = Notes()
    return load_model(read_declaration(write_robot(folder, words=words, model=model)), notes)


def test_joints_between_base_and_hand_are_the_arm(tmp_path):
    source = load(tmp_path)
    assert source.names == ["lift", "pan", "raise", "elbow", "bend"]
    assert source.slides.tolist() == [True, False, False, False, False]
    by_name = {source.model.body(body).name: link for body, link in source.link_of.items()}
    assert by_name["stand"] == BASE
    assert by_name["finger"] == by_name["palm"] == by_name["wrist"] == 4


def test_what_is_named_alone_is_the_arm(tmp_path):
    source = load(tmp_path, WORDS + "arm: [pan, raise, elbow, bend]\n")
    assert source.names == ["pan", "raise", "elbow", "bend"]


def test_locked_joints_stand_where_they_are_told(tmp_path):
    source = load(tmp_path)
    assert source.data.joint("grasp").qpos[0] == 0.02
    odd = load(tmp_path, WORDS.replace("grasp: 0.02", "grasp: 0.5"))
    assert "grasp is locked at 0.5, outside its range 0 to 0.03" in odd.notes.remarks[0]


def test_the_base_stands_in_the_origin(tmp_path):
    source = load(tmp_path)
    stand = source.model.body("stand").id
    assert source.points(source.data.xpos[[stand]])[0] == pytest.approx([0, 0, 0], abs=1e-12)


def test_bodies_can_be_left_out(tmp_path):
    source = load(tmp_path, WORDS + "without: [finger]\n")
    assert source.model.body("finger").id not in source.link_of


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("hand: palm", "hand: plam", "hand: the model has no body 'plam': did you mean palm"),
        ("body: stand", "body: finger", "palm does not hang on base.body"),
        (
            "hand: palm",
            "hand: palm\narm: [lift, grasp]",
            "between base and hand is no joint 'grasp'",
        ),
        ("hand: palm", "hand: stand", "there is no joint between base and hand"),
        ("grasp: 0.02", "pan: 0.02", "locked: no joint 'pan' beside the arm"),
        ("at: [0, 0, 0.04]", "at: nowhere", "the model has no site 'nowhere': there are tip"),
        ("hand: palm", "hand: palm\nwithout: [thumb]", "without: the model has no body 'thumb'"),
    ],
)
def test_what_is_not_there_is_told(tmp_path, old, new, told):
    with pytest.raises(UserError, match=told):
        load(tmp_path, WORDS.replace(old, new))


def test_a_slide_without_a_range_is_refused(tmp_path):
    with pytest.raises(UserError, match="'lift' slides and has no range"):
        load(tmp_path, model=MODEL.replace(' range="-0.3 0.1"', ""))


def test_what_mujoco_refuses_is_told(tmp_path):
    with pytest.raises(UserError, match="model: "):
        load(tmp_path, model="<mujoco><worldbody><thing/></worldbody></mujoco>")
