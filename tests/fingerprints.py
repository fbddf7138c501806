"""Compares what two checkouts do, bit by bit: worlds, navigation, household plans and a training.

A refactoring must change none of it. Floating-point results differ between machines, so nothing is kept in
the repository: record with the old checkout and compare with the new one, on the same machine:

    cd OLD && PYTHONPATH=. python NEW/tests/fingerprints.py > before.json
    cd NEW && PYTHONPATH=. python tests/fingerprints.py --compare before.json

`--only worlds` (or navigation, plans, training) does a part; all take about three minutes on one core.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

# Names are written down, not asked for: what is compared must not depend on the checkout.
SKILLS = ("navigate", "pick", "place", "open_cab", "close_cab", "open_fridge", "close_fridge")
SCENARIOS = ("tidy_house", "prepare_groceries", "set_table")
SEED, STEPS = 7, 200
NAVIGATION = ("pointnav", "objectnav", "flee", "explore")
AGENTS = 6  # side by side, whose episodes end after SHORT steps
SHORT = 25
# Task, who plays, whether receptacles are closed, how many new plans: every skill once as each kind.
PLANS = (
    ("tidy_house", "oracle", False, 0),
    ("prepare_groceries", "oracle", False, 0),
    ("set_table", "oracle", True, 0),
    ("tidy_house", "learned", False, 0),
    ("prepare_groceries", "learned", False, 3),
    ("set_table", "learned", True, 3),
    ("set_table", "spa", True, 3),
    ("tidy_house", "random", False, 0),
)
TRAINING = [
    "trainer.system=batched",  # in lockstep and in one process: no clock decides
    "trainer.learner_threads=1",
    "trainer.collect.num_environments=4",
    "trainer.collect.environments_per_worker=4",
    "trainer.collect.rollout_length=32",
    "trainer.total_steps=512",
    "trainer.log_interval_s=1e9",
    "trainer.tensorboard=false",
    "trainer.network.hidden_size=32",
    "camera_size=40",
]


class Digest:
    """SHA-256 of values as they come; floats count with every bit."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, value: Any) -> None:
        """Take an array, a number, a text, or a mapping of them."""
        if isinstance(value, dict):
            for key in sorted(value):
                self.add(key)
                self.add(value[key])
        elif isinstance(value, np.ndarray):
            self._hash.update(f"{value.dtype}{value.shape}".encode())
            self._hash.update(np.ascontiguousarray(value).tobytes())
        else:
            self._hash.update(repr(value).encode())

    def __str__(self) -> str:
        return self._hash.hexdigest()


def rollout(task: str, rules: str) -> str:
    """Observations, rewards, endings and metrics of random actions in one world."""
    from rearrange.env import RearrangeEnv
    from rearrange.rules import hab_config, simulator_config

    config = hab_config(task) if rules == "hab" else None
    # Written down, as its default has changed
    simulator = replace(simulator_config(rules), camera_size=128)
    env = RearrangeEnv(task, config, "val", simulator=simulator)
    digest = Digest()
    env.action_space.seed(SEED)
    observation, _ = env.reset(seed=SEED)
    digest.add(observation)
    for _ in range(STEPS):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        digest.add(observation)
        digest.add((reward, terminated, truncated))
        digest.add(info)
        if terminated or truncated:
            digest.add(env.reset()[0])
    env.close()
    return str(digest)


def navigation(task: str, scanned: bool) -> str:
    """Observations, rewards, endings and metrics of agents side by side; in a home, or in the file of one."""
    from nav.agent import AgentConfig
    from nav.buildings import building_names, load_building
    from nav.env import NavVectorEnv
    from nav.episode_files import ScanEpisodes
    from nav.export import building_glb
    from nav.table import default_config

    config = default_config(task)
    config.max_steps = SHORT
    agent = AgentConfig(camera_size=32, rgb=True, goal_mask=task == "objectnav")
    digest = Digest()
    with tempfile.TemporaryDirectory() as folder:
        files = None
        if scanned:
            for name in building_names("generated", "val")[:2]:
                Path(folder, f"{name}.glb").write_bytes(building_glb(load_building(name)))
            files = ScanEpisodes(task, "", folder)
        env = NavVectorEnv(AGENTS, task, config, "val", agent=agent, files=files, threads=1)
        rng = np.random.default_rng(SEED)
        space: Any = env.single_action_space
        digest.add(env.reset(seed=SEED)[0])
        for _ in range(3 * SHORT):
            actions = rng.integers(space.start, space.start + space.n, AGENTS)
            actions[rng.random(AGENTS) < 0.8] = 1
            observation, *ends, infos = env.step(actions)
            digest.add(observation)
            digest.add(tuple(values.tolist() for values in ends))
            if "final_info" in infos:
                digest.add([each for each in infos["final_info"]["metrics"] if each])
        env.close()
    return str(digest)


def plan(task: str, skills: str, close: bool, limit: int) -> str:
    """One episode of a household task: the robot and the objects in every step, hand-offs and endings."""
    import torch

    from planner.evaluation import EpisodeRunner, EvaluationSettings
    from planner.executive import Executive
    from planner.replanning import ReplanSettings

    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    settings = EvaluationSettings(
        task, seed=SEED, skills=skills, close=close, replanning=ReplanSettings(limit=limit)
    )
    digest, run = Digest(), Executive.run

    def watched(
        self: Any, world: Any, plan: Any, arguments: Any, observers: Any, *rest: Any
    ) -> Any:
        def watch(world: Any, moment: Any) -> None:
            digest.add((moment.skill, moment.plan_index, moment.skill_step))
            for name in ("base_pose", "arm_joints", "object_position", "articulated_joints"):
                digest.add(np.asarray(getattr(world.state, name)))

        return run(self, world, plan, arguments, [*observers, watch], *rest)

    Executive.run = watched  # pyright: ignore[reportAttributeAccessIssue]
    runner = EpisodeRunner(settings)
    try:
        record = runner.play(0)
    finally:
        Executive.run = run
        runner.close()
    digest.add(record.plan)
    digest.add(record.execution)
    # Checkpoints lie in the checkout: only their names are compared.
    digest.add({name: Path(source).name for name, source in record.skills.items()})
    told = f"{record.execution.steps} steps, {record.execution.failure or 'success'}"
    return f"{digest} ({told})"


def training(skill: str) -> str:
    """Weights and logged figures of a short training in lockstep."""
    from skills.settings import make_environments
    from skills.train import load_settings
    from ver import Trainer

    times = ("time/", "seconds", "steps_per_second", "loss/samples_per_second")
    settings = load_settings(skill, TRAINING)
    digest = Digest()
    with tempfile.TemporaryDirectory() as folder:
        environments = make_environments(settings)
        trainer = Trainer(
            settings.trainer, environments, Path(folder), metadata=environments.metadata()
        )
        trainer.train()
        for name, value in sorted(trainer.policy.state_dict().items()):
            digest.add(name)
            digest.add(value.numpy())
        for line in (Path(folder) / "metrics.jsonl").read_text().splitlines():
            digest.add({k: v for k, v in json.loads(line).items() if not k.startswith(times)})
    return str(digest)


def fingerprints(only: str) -> Iterator[tuple[str, str]]:
    """Name and fingerprint of everything that is compared, or of one part."""
    if only in ("", "worlds"):
        for task in (*SKILLS, *SCENARIOS):
            for rules in ("ours", "hab"):
                yield f"worlds/{task}/{rules}", rollout(task, rules)
    if only in ("", "navigation"):
        for task in NAVIGATION:
            yield f"navigation/{task}", navigation(task, scanned=False)
        for task in ("pointnav", "explore"):
            yield f"navigation/{task}/scanned", navigation(task, scanned=True)
    if only in ("", "plans"):
        for task, skills, close, limit in PLANS:
            yield f"plans/{task}/{skills}", plan(task, skills, close, limit)
    if only in ("", "training"):
        for skill in ("pick", "open_fridge"):
            yield f"training/{skill}", training(skill)


def main() -> int:
    """Print the fingerprints as JSON, or compare them; the exit status is 1 where any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("worlds", "navigation", "plans", "training"), default="")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="recorded by another checkout")
    options = parser.parse_args()
    before = {} if options.compare is None else json.loads(options.compare.read_text())
    found: dict[str, str] = {}
    differing: list[str] = []
    for name, value in fingerprints(options.only):
        found[name] = value
        verdict = "" if not before else "same" if before.get(name) == value else "DIFFERS"
        if verdict == "DIFFERS":
            differing.append(name)
        print(f"{name}: {value.partition(' ')[0][:12]} {verdict}", file=sys.stderr, flush=True)
    if options.compare is None:
        print(json.dumps(found, indent=1))
    elif differing:
        print(f"{len(differing)} of {len(found)} differ: {', '.join(differing)}")
    else:
        print(f"all {len(found)} are the same bit by bit")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
