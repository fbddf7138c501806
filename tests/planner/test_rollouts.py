"""Rollouts: what is written is what the robot saw and did."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from planner import rollouts
from rearrange import RearrangeEnv, SimulatorConfig
from rearrange.errors import UserError

pyarrow = pytest.importorskip("pyarrow", reason="pip install pyarrow pandas")
pytest.importorskip("pandas", reason="pip install pyarrow pandas")

SMALL = ("--homes", "classic", "--split", "val", "--camera-size", "16")


def read(folder):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(folder / "data/chunk-000/file-000.parquet").to_pydict()


def test_frames_are_those_of_the_environment(tmp_path, capsys):
    arguments = ["pick", "--skills", "random", "--episodes", "1", "--output", str(tmp_path / "new")]
    assert rollouts.main([*arguments, *SMALL]) == 0
    assert "1 episode: " in capsys.readouterr().out
    rows = read(tmp_path / "new")

    world = RearrangeEnv(
        "pick", split="val", homes="classic", simulator=SimulatorConfig(camera_size=16)
    )
    seen, _ = world.reset(seed=0)
    world.action_space.seed(0)
    scale = world.task.action.scale(world.robot.actions)
    for index in range(len(rows["index"])):
        senses = [seen[key] for key in ("joint", "is_holding", "relative_resting_position")]
        state = np.array(rows["observation.state"][index], np.float32)
        assert np.array_equal(state[:11], np.concatenate(senses))
        around = np.array(rows["observation.environment_state"][index], np.float32)
        assert np.array_equal(around, seen["obj_start_sensor"])
        picture = np.array(Image.open(BytesIO(
            rows["observation.images.head_depth"][index]["bytes"])))  # fmt: skip
        assert np.array_equal(picture[..., 0], np.rint(255 * seen["head_depth"][..., 0]))
        millimetres = np.array(rows["head_depth_mm"][index])
        assert np.array_equal(millimetres, np.rint(10_000 * seen["head_depth"][..., 0]))
        action = world.action_space.sample()
        seen, reward, terminated, truncated, _ = world.step(action)
        done = np.array(rows["action"][index])
        wanted = np.zeros(11)
        wanted[world.task.action_slice] = action
        np.testing.assert_allclose(done[:10], np.clip(wanted[:10], -1, 1) * scale, atol=1e-6)
        assert done[10] == (1.0 if wanted[10] > 0 else -1.0)
        assert rows["next.reward"][index] == np.float32(reward)
        assert rows["next.done"][index] == (terminated or truncated)
    assert terminated or truncated


@pytest.mark.slow
def test_a_plan_tells_what_it_is_doing(tmp_path):
    arguments = ["tidy_house", "--skills", "oracle", "--episodes", "1"]
    assert rollouts.main([*arguments, "--output", str(tmp_path / "new"), *SMALL]) == 0
    import pandas

    tasks = list(pandas.read_parquet(tmp_path / "new/meta/tasks.parquet").index)
    assert tasks[0].startswith("driving to ")
    assert tasks[1] == "folding the arm"
    assert "waiting before the stop" in tasks


def test_failures_can_be_left_out(tmp_path, capsys):
    arguments = ["pick", "--skills", "random", "--episodes", "1", "--successes"]
    assert rollouts.main([*arguments, "--output", str(tmp_path / "new"), *SMALL]) == 0
    told = capsys.readouterr().out
    assert "failure, left out" in told
    assert "none is kept" in told
    assert not list((tmp_path / "new").iterdir())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["jump"], "unknown skill 'jump'"),
        (["pick", "--episodes", "0"], "--episodes must be from 1"),
        (["pick", "--camera-size", "7"], "--camera-size must be from 8"),
        (["pick", "--skills", "spa"], "spa plays whole chores"),
    ],
)
def test_mistakes_are_told(arguments, told):
    with pytest.raises(UserError, match=told):
        rollouts.main(arguments)
