"""Any task of habitat-lab as something to train: `python -m skills.train habitat-lab:RearrangePickTask-v0`.

Its simulator, sensors, rewards and episodes are habitat-lab's own; the trainer is ours. It needs habitat-sim
and habitat-lab, which are imported where environments are made: in the main process, which makes one to see its
spaces, and in the workers, which they may end: the trainer starts another and goes on.
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from rearrange.errors import UserError
from skills.environments import Environments
from skills.recipe import Staged
from ver import TrainerConfig

PREFIX = "habitat-lab:"
INSTALL_LAB = "pip install --no-deps habitat-lab==0.3.320260507"
_NUMBER = (int, float, np.number, np.bool_)


@dataclass
class HabitatLabSettings(Staged):
    """One training run of a task of habitat-lab."""

    skill: str = ""  # what is trained: habitat-lab: and a task's type, or the path of its config
    run: str = ""  # run directory; empty: runs/<task>
    split: str = "train"  # episodes to train on
    # Settings of habitat-lab, e.g. [habitat.simulator.habitat_sim_v0.gpu_device_id=-1]
    overrides: list[str] = field(default_factory=list)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)  # the learner


def run_name(skill: str) -> str:
    """Name of the run directory of a task."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", skill)


@lru_cache
def config_of(skill: str) -> str:
    """The habitat-lab config of a task: its own path, or the benchmark of that task type.

    Raises:
        UserError: habitat-lab is not installed, or has no such task.
    """
    found = importlib.util.find_spec("habitat")
    if found is None or not found.submodule_search_locations:
        raise UserError(
            f"{skill} needs habitat-lab, which is not installed: {INSTALL_LAB}, beside habitat-sim "
            "(see docs/habitat.md)"
        )
    name = skill.removeprefix(PREFIX)
    if name.endswith((".yaml", ".yml")):
        return name
    folder = Path(found.submodule_search_locations[0]) / "config"
    types = _benchmarks(folder)
    if name not in types:
        raise UserError(
            f"habitat-lab has no benchmark of a task '{name}': choose one of "
            f"{', '.join(sorted(types))}, or give a config's path, e.g. "
            "benchmark/nav/pointnav/pointnav_hm3d.yaml"
        )
    return types[name]


def _benchmarks(folder: Path) -> dict[str, str]:
    """Benchmark of each task type; of several that of one agent with the shortest name."""
    found: dict[str, str] = {}

    def rank(path: Path) -> tuple[bool, int, Path]:
        return "multi_agent" in path.parts, len(path.name), path

    for path in sorted((folder / "benchmark").rglob("*.yaml"), key=rank):
        text = path.read_text(encoding="utf-8")
        for kind in re.findall(r"^\s+type:\s*[\"']?([\w-]+-v\d+)", text, re.MULTILINE):
            if kind.endswith("Sim-v0"):
                continue  # a simulator's type
            found.setdefault(kind, str(path.relative_to(folder)))
    return found


@dataclass(frozen=True)
class HabitatLabEnvironments(Environments):
    """Makes the environments of a task of habitat-lab; picklable.

    Attributes:
        skill: `PREFIX` and the task.
        overrides: Settings of habitat-lab.
        split: Its episodes.
    """

    overrides: tuple[str, ...]
    split: str

    @classmethod
    def settings_type(cls, skill: str) -> type[HabitatLabSettings]:
        """See Environments."""
        del skill
        return HabitatLabSettings

    @classmethod
    def config_names(cls, skill: str) -> tuple[str, ...]:
        """See Environments; all tasks share one."""
        del skill
        return ("habitat_lab",)

    @classmethod
    def from_settings(cls, settings: Any, split: str | None = None) -> HabitatLabEnvironments:
        """See Environments."""
        config_of(settings.skill)
        return cls.of_settings(settings, split=split or settings.split)

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any], split: str) -> HabitatLabEnvironments:
        """Raise a UserError: policies of habitat-lab's tasks are not judged by us."""
        del split
        raise UserError(
            f"the policy was trained on {metadata['skill']}: judge it by the success in its log, "
            "evaluations are of our own tasks"
        )

    def __call__(self, environment_index: int, seed: int) -> HabitatLabEnv:
        """One environment; its episodes are shuffled by its own seed."""
        del environment_index
        seeded = [f"habitat.seed={seed}", f"habitat.simulator.seed={seed}"]
        chosen = [f"habitat.dataset.split={self.split}", *seeded, *self.overrides]
        return HabitatLabEnv(config_of(self.skill), chosen)


class HabitatLabEnv(gymnasium.Env[dict[str, np.ndarray], Any]):
    """A Gym environment of habitat-lab, of the kind that Gym had before Gymnasium, as one of today.

    Actions are cut to [-1, 1], as habitat-lab itself does with those for which it declares more. What an
    episode ends by, success or its time limit, is told apart by the limit.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, config: str, overrides: list[str]) -> None:
        """Load a task.

        Args:
            config: Of habitat-lab: a path, or one within its own folder of configs.
            overrides: Settings to change.

        Raises:
            UserError: habitat-lab cannot make the environment; the line says why.
        """
        for name in ("MAGNUM_LOG", "HABITAT_SIM_LOG"):
            os.environ.setdefault(name, "quiet")  # else dozens of lines about each start
        import habitat  # pyright: ignore[reportMissingImports]
        from habitat.gym import make_gym_from_config  # pyright: ignore[reportMissingImports]

        # habitat-lab writes its default physics settings into it, and does not make it.
        Path("data").mkdir(exist_ok=True)
        try:
            settings = habitat.get_config(config, overrides)
            self._env = make_gym_from_config(settings)
        except Exception as error:  # habitat-lab's own, hydra's and OmegaConf's, of any kind
            reason = " ".join(str(error).split())[:400] or type(error).__name__
            raise UserError(
                f"habitat-lab cannot make {config}: {reason}{_missing(reason)}"
            ) from error
        self._limit = int(settings.habitat.environment.max_episode_steps)
        self._success = settings.habitat.task.success_measure
        self._steps, self._return = 0, 0.0
        # Gymnasium types a Dict space by its sub-spaces, not by what they hold.
        self.observation_space = _converted(self._env.observation_space)  # pyright: ignore[reportAttributeAccessIssue]
        self.action_space = _actions(self._env.action_space)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start the next episode."""
        super().reset(seed=seed)
        if seed is not None:
            self._env.unwrapped.seed(seed % 2**31)
        self._steps, self._return = 0, 0.0
        return _plain(self._env.reset()), {}

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Take an action; `info["metrics"]` of the last step sums up the episode, all measures included."""
        space: Any = self.action_space
        taken: Any = (
            int(action)
            if isinstance(space, spaces.Discrete)
            else np.clip(np.asarray(action, np.float32), space.low, space.high)
        )
        observation, reward, done, info = self._env.step(taken)
        self._steps += 1
        self._return += float(reward)
        truncated = bool(done) and self._steps >= self._limit
        success = float(np.any(info.get(self._success, False)))
        truncated = truncated and not success
        told: dict[str, Any] = {}
        if done:
            told["metrics"] = {
                **{
                    name: float(value) for name, value in info.items() if isinstance(value, _NUMBER)
                },
                "success": success,
                "length": float(self._steps),
                "return": self._return,
            }
        return _plain(observation), float(reward), bool(done) and not truncated, truncated, told

    def close(self) -> None:
        """Free the simulator."""
        self._env.close()


def _actions(space: Any) -> spaces.Space[Any]:
    """An action space of Gym as one of Gymnasium: choices, or numbers from -1 to 1."""
    if hasattr(space, "n"):
        return spaces.Discrete(int(space.n))
    low, high = np.maximum(space.low, -1.0), np.minimum(space.high, 1.0)
    return spaces.Box(low, high, dtype=np.float32)


def _plain(observation: Any) -> dict[str, np.ndarray]:
    """Observations by name; a single vector is named so."""
    if not isinstance(observation, dict):
        return {"observation": np.asarray(observation, np.float32)}
    return {key: np.asarray(value) for key, value in observation.items()}


def _converted(space: Any) -> spaces.Dict:
    """An observation space of Gym as one of Gymnasium."""
    boxes = space.spaces if hasattr(space, "spaces") else {"observation": space}
    return spaces.Dict(
        {
            key: spaces.Box(box.low, box.high, box.shape, box.dtype.type)
            for key, box in boxes.items()
        }
    )


def _missing(reason: str) -> str:
    """Say how to get what is missing, where that is a data set."""
    for part, uids in DOWNLOADS.items():
        if part in reason:
            return f"; get it with: {download_command(uids)}"
    return ""


# What habitat's downloader calls the data of its tasks.
DOWNLOADS = {
    "replica_cad": "rearrange_task_assets",
    "robots": "hab_fetch",
    "objects/ycb": "ycb",
}


def download_command(uids: str, folder: str = "data") -> str:
    """The command that gets data sets of Habitat into `folder`."""
    return f"python -m habitat_sim.utils.datasets_download --uids {uids} --data-path {folder}"
