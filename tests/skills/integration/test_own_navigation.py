"""A navigation task of another package: found, trained and judged without an edit."""

import json

import pytest

from nav.gym_ids import GROUP
from tests.helpers import ROOT
from tests.helpers.installed_package import entry_points_of, install, run

PACKAGE = ROOT / "examples" / "range_nav"
SMALL = (
    *("trainer.total_steps=64", "trainer.collect.num_environments=2", "agent.camera_size=40"),
    *("trainer.collect.rollout_length=16", "trainer.tensorboard=false", "homes=classic"),
)


@pytest.fixture
def installed(tmp_path):
    """Environment variables of a process in which the package is installed."""
    assert entry_points_of(PACKAGE) == [(GROUP, "range_nav", "range_nav:RangeNav")]
    return install(PACKAGE, tmp_path)


def test_it_is_found_with_its_config_and_told_a_distance(installed, tmp_path):
    told = run(
        *(installed, tmp_path),
        "import gymnasium, nav, numpy as np\n"
        "from skills.train import load_settings\n"
        "made = {'split': 'val', 'homes': 'classic', 'camera_size': 8}\n"
        "env = gymnasium.make('rearrange/RangeNav-v0', **made).unwrapped\n"
        "seen, _ = env.reset(seed=0)\n"
        "goal = np.array(env.episode.goal) - env.episode.start[:2]\n"
        "print(sorted(seen), abs(np.linalg.norm(goal) - seen['range'][0]) < 1e-5)\n"
        "print(load_settings('range_nav').trainer.network.distances)",
        how="-c",
    )
    assert told == "['compass', 'depth', 'gps', 'range'] True\n{'range': [0]}\n"


@pytest.mark.slow
def test_it_is_trained_and_judged(installed, tmp_path):
    run(installed, tmp_path, "skills.train", "range_nav", f"run={tmp_path / 'run'}", *SMALL)
    shared = ["skills.eval", "range_nav", "--episodes", "2", "--workers", "1"]
    players = (["--policy", "oracle"], ["--checkpoint", str(tmp_path / "run/policy.safetensors")])
    for player in players:
        file = tmp_path / "evaluation.json"
        run(
            installed,
            tmp_path,
            *shared,
            *player,
            *(("--homes", "classic") if player[0] == "--policy" else ()),
            "--json",
            str(file),
        )
        result = json.loads(file.read_text())
        assert result["episodes"] == 2
        assert result["success_at_end"]["mean"] in (0.0, 0.5, 1.0)
