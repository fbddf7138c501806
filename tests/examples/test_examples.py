"""Every example runs, for a few steps; those of other libraries where these are installed."""

import importlib.util
import math
from pathlib import Path

import pytest

from tests.helpers import ROOT

EXAMPLES = ROOT / "examples"


def load(name):
    """The module of an example, which is no package's."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested():
    tested = Path(__file__).read_text()
    for path in EXAMPLES.glob("*.py"):
        assert f'load("{path.stem}")' in tested


@pytest.mark.parametrize("name", ["pick", "pointnav"])
def test_a_shipped_policy_plays(name, capsys):
    share = load("play_policy").main(name, episodes=1)
    told = "success" if share == 1.0 else "failure"
    assert capsys.readouterr().out == f"{name}: {told}\n"


def test_a_function_is_a_skill_of_a_chore(capsys):
    (share,) = load("own_skill").main(noise=0.0, episodes=1)
    assert 0.0 <= share <= 1.0
    assert "interactions done" in capsys.readouterr().out


def test_a_chore_of_ones_own_is_planned_and_done(capsys):
    assert load("own_chore").main("oracle", episodes=1) == [True]
    assert capsys.readouterr().out.count("pick") == 2


def test_ppo_learns_from_two_rollouts():
    ppo = load("ppo")
    ppo.WORLDS, ppo.LENGTH = 2, 32
    means = ppo.main(2 * 2 * 32)
    assert len(means) == 2
    assert all(map(math.isfinite, means))


def test_gymnasium_films(tmp_path):
    pytest.importorskip("moviepy", reason="pip install moviepy")
    load("record_video").main(str(tmp_path), steps=3)
    (film,) = tmp_path.glob("*.mp4")
    assert film.stat().st_size > 1000


def test_stable_baselines_trains():
    pytest.importorskip("stable_baselines3", reason="pip install stable-baselines3")
    assert load("stable_baselines").main(256).num_timesteps == 256


def test_torchrl_trains():
    pytest.importorskip("torchrl", reason="pip install torchrl")
    torchrl = load("torchrl_ppo")
    torchrl.BATCH, torchrl.EPOCHS = 32, 2
    means = torchrl.main(2 * 32)
    assert len(means) == 2
    assert all(map(math.isfinite, means))
