"""The segmenter: what it marks, its file, and agents whose goal mask it makes."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from nav.categories import CATEGORIES
from nav.env import NavEnv, NavVectorEnv
from nav.episode import NavEpisode
from nav.objectnav import ObjectNav
from nav.segmenter import LABELS, Segmenter, inputs, lens_of, load_segmenter, save_segmenter
from rearrange import UserError

SMALL = replace(ObjectNav.agent_config(), camera_size=16, rgb=False, goal_mask=True)
TV = CATEGORIES.index("tv_monitor")
NORTH, SOUTH = (1.0, 2.5, math.pi / 2), (1.0, 2.5, -math.pi / 2)


def dark_is_tv() -> Segmenter:
    """Tells what is dark and near to be of a television and all else of nothing, by weights set by hand."""
    segmenter = Segmenter(lens_of(SMALL))
    with torch.no_grad():
        for weight in segmenter.parameters():
            weight.zero_()
        narrow, block = segmenter.up[-1]
        for square in range(4):  # each pixel of a square has channels of its own
            # the sum of colours and depth, each less 0.5
            segmenter.down[0][0].weight[square, square::4, 1, 1] = 1.0
            segmenter.down[0][1].weight[square], segmenter.down[0][1].bias[square] = 1.0, 2.0
            narrow[0].weight[square, 64 + square] = 1.0  # beside what comes up from below
            block[0].weight[square, square, 1, 1] = block[1].weight[square] = 1.0
            segmenter.last.weight[4 * (1 + TV) + square, square] = -1.0
            # Black where nothing is has a depth of 1
            segmenter.last.bias[4 * (1 + TV) + square] = 0.9
    return segmenter.eval()


@pytest.fixture
def file(tmp_path):
    save_segmenter(dark_is_tv(), tmp_path / "x.safetensors")
    return str(tmp_path / "x.safetensors")


def begin(env, start):
    episode = NavEpisode("test", "empty_hall", start, category="tv_monitor")
    return env.reset(options={"episode": episode})[0]


@pytest.mark.parametrize(("height", "width"), [(16, 16), (64, 64), (22, 30)])
def test_each_pixel_is_rated_whatever_the_size(height, width):
    logits = Segmenter({})(torch.zeros(2, 4, height, width))
    assert logits.shape == (2, LABELS, height, width)


def test_inputs_by_hand():
    rgb, depth = np.zeros((1, 2, 3, 3), np.uint8), np.ones((1, 2, 3, 1), np.float32)
    rgb[0, 1, 2] = (255, 0, 51)
    x = inputs(rgb, depth)
    assert x.shape == (1, 4, 2, 3)
    assert x[0, :, 1, 2].tolist() == pytest.approx([0.5, -0.5, -0.3, 0.5])


def test_marks_are_where_the_wanted_label_is_the_likeliest():
    rgb, depth = np.full((2, 16, 16, 3), 200, np.uint8), np.full((2, 16, 16, 1), 0.5, np.float32)
    rgb[:, 3:5, 7] = 20
    marked = dark_is_tv().mark(rgb, depth, np.array([1 + TV, 1], np.uint8))
    assert (marked.dtype, marked.shape) == (np.uint8, (2, 16, 16, 1))
    expected = np.zeros((16, 16), np.uint8)
    expected[3:5, 7] = 255
    np.testing.assert_array_equal(marked[0, ..., 0], expected)
    assert not marked[1].any()
    nothing = dark_is_tv().mark(rgb, depth, np.zeros(2, np.uint8))  # label 0 is no category
    assert not nothing.any()


def test_a_file_holds_all_of_it(file):
    kept, asked = load_segmenter(file, SMALL), dark_is_tv()
    assert kept.lens == lens_of(SMALL)
    for name, value in asked.state_dict().items():
        assert torch.equal(value, kept.state_dict()[name])


def test_what_is_no_segmenter_of_this_camera_is_refused(tmp_path, file):
    with pytest.raises(UserError, match=r"with agent\.depth_range=5, not 10: train another"):
        load_segmenter(file, replace(SMALL, depth_range=10.0))
    with pytest.raises(UserError, match=r"agent\.segmenter=.*none.*cannot be read"):
        load_segmenter(str(tmp_path / "none.safetensors"), SMALL)
    other = tmp_path / "other.safetensors"
    save_file(load_file(file), other, {"segmenter": '{"categories": ["boat"], "lens": {}}'})
    with pytest.raises(UserError, match="is no segmenter of these categories"):
        load_segmenter(str(other), SMALL)
    for told, reason in (
        ("[]", "is no segmenter of these categories"),
        (json.dumps({"categories": CATEGORIES, "lens": [1]}), "its lens is no object of numbers"),
        (
            json.dumps({"categories": CATEGORIES, "lens": {"depth_range": "far"}}),
            "its lens is no object",
        ),
    ):
        path = tmp_path / f"{len(told)}.safetensors"
        save_file(load_file(file), path, {"segmenter": told})
        with pytest.raises(UserError, match=reason):
            load_segmenter(str(path), SMALL)
    (tmp_path / "torn.safetensors").write_bytes(b"nothing")
    with pytest.raises(UserError, match="cannot be read"):
        load_segmenter(str(tmp_path / "torn.safetensors"), SMALL)
    with pytest.raises(UserError, match=r"makes the goal mask: set agent\.goal_mask=true"):
        replace(SMALL, segmenter=file, goal_mask=False).check()


@pytest.mark.parametrize("rgb", [False, True])
def test_it_makes_the_goal_mask(file, rgb):
    env = NavEnv("objectnav", None, "val", agent=replace(SMALL, segmenter=file, rgb=rgb))
    true = NavEnv("objectnav", None, "val", agent=SMALL)
    seen, told = begin(env, SOUTH), begin(true, SOUTH)
    assert env.observation_space.contains(seen)
    assert ("rgb" in seen) == rgb
    np.testing.assert_array_equal(seen["depth"], told["depth"])
    np.testing.assert_array_equal(seen["goal_mask"], told["goal_mask"])  # all else here is bright
    assert seen["goal_mask"].any()
    assert not begin(env, NORTH)["goal_mask"].any()


def test_who_begins_anew_gets_a_mask_and_the_others_keep_theirs(file):
    agent = replace(SMALL, segmenter=file)
    env = NavVectorEnv(3, "objectnav", None, "val", agent=agent, threads=1)
    for i, start in enumerate((SOUTH, NORTH, SOUTH)):
        env.worlds.place(i, "empty_hall", start)
        env.worlds.wanted[i] = 1 + TV
    images = env.worlds.new_images()
    env.worlds.draw(images)
    assert [bool(mask.any()) for mask in images["goal_mask"]] == [True, False, True]
    before = images["goal_mask"].copy()
    env.worlds.place(1, "empty_hall", SOUTH)
    env.worlds.place(2, "empty_hall", NORTH)
    env.worlds.draw(images, np.array([1]))
    np.testing.assert_array_equal(images["goal_mask"][[0, 2]], before[[0, 2]])
    np.testing.assert_array_equal(images["goal_mask"][1], before[0])
    env.close()
