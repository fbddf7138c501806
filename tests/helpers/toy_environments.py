"""Tiny environments for tests of the learner. Must not import torch."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium import spaces


class RememberCue(gymnasium.Env):
    """A cue of -1 or 1 is shown at the first step only; every action must share its sign."""

    def __init__(self, length: int = 6):
        self.length = length
        self.observation_space = spaces.Dict({"cue": spaces.Box(-2, 2, (2,), np.float32)})
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cue = float(self.np_random.choice([-1.0, 1.0]))
        self.t = 0
        self.total = 0.0
        return {"cue": np.array([self.cue, 1.0], np.float32)}, {}

    def step(self, action):
        self.t += 1
        reward = float(np.sign(action[0])) * self.cue / self.length
        self.total += reward
        terminated = self.t >= self.length
        info = {"metrics": {"success": float(self.total > 0.8)}} if terminated else {}
        return {"cue": np.zeros(2, np.float32)}, reward, terminated, False, info


class Reach(gymnasium.Env):
    """A point on a line is pushed towards zero; episodes are only ever truncated."""

    def __init__(self):
        self.observation_space = spaces.Dict({"x": spaces.Box(-9, 9, (1,), np.float32)})
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(-1, 1))
        self.t = 0
        return {"x": np.array([self.x], np.float32)}, {}

    def step(self, action):
        self.x += 0.1 * (action - 1)
        self.t += 1
        return {"x": np.array([self.x], np.float32)}, -abs(self.x), False, self.t >= 20, {}


class Picture(gymnasium.Env):
    """64x64 depth and a vector, for measuring speed; `work` numbers are sorted in each step."""

    def __init__(self, work: int = 4000, size: int = 64):
        self.observation_space = spaces.Dict(
            {
                "depth": spaces.Box(0, 1, (size, size, 1), np.float32),
                "state": spaces.Box(-9, 9, (30,), np.float32),
            }
        )
        self.action_space = spaces.Box(-1, 1, (10,), np.float32)
        self.work = np.random.default_rng(0).random(work)
        self.image = np.random.default_rng(0).random((size, size, 1)).astype(np.float32)

    def _observation(self):
        return {"depth": self.image, "state": np.full(30, self.t / 100, np.float32)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.length = int(self.np_random.integers(100, 300))
        return self._observation(), {}

    def step(self, action):
        np.sort(self.work)
        self.t += 1
        done = self.t >= self.length
        metrics = {"metrics": {"success": 0.0}} if done else {}
        return self._observation(), float(action[0]), False, done, metrics


class AimAndPress(gymnasium.Env):
    """A number and a colour are shown; the action must aim at the one and press the other's key."""

    def __init__(self, length: int = 5):
        self.length = length
        self.observation_space = spaces.Dict({"shown": spaces.Box(-1, 1, (4,), np.float32)})
        self.action_space = spaces.Dict(
            {"aim": spaces.Box(-2, 2, (1,), np.float32), "press": spaces.Discrete(3, start=7)}
        )

    def _show(self):
        self.target = float(self.np_random.uniform(-1, 1))
        self.colour = int(self.np_random.integers(3))
        return {"shown": np.array([self.target, *np.eye(3)[self.colour]], np.float32)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self._show(), {}

    def step(self, action):
        if not self.action_space.contains(action):
            raise ValueError(f"the action {action} is not in {self.action_space}")
        aimed = max(0.0, 1.0 - abs(float(action["aim"][0]) - self.target))
        reward = (aimed + (action["press"] - 7 == self.colour)) / 2 / self.length
        self.t += 1
        return self._show(), reward, self.t >= self.length, False, {}


class Crashing(RememberCue):
    """Raises in its tenth step."""

    def step(self, action):
        self.count = getattr(self, "count", 0) + 1
        if self.count == 10:
            raise RuntimeError("the gears jammed")
        return super().step(action)


class Compiling(RememberCue):
    """Its first step in a process takes two seconds, as one that compiles."""

    compiled = False

    def step(self, action):
        if not Compiling.compiled:
            time.sleep(2.0)
            Compiling.compiled = True
        return super().step(action)


class Clockwork(gymnasium.Env):
    """Nothing is drawn: a world's k-th episode is always the same. Even ones are truncated."""

    def __init__(self, index: int = 0):
        self.index = index
        self.episode = 0
        self.observation_space = spaces.Dict({"hands": spaces.Box(-9, 9, (3,), np.float32)})
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)

    def _observe(self):
        return {"hands": np.array([np.sin(self.index), np.cos(self.episode), self.t], np.float32)}

    def reset(self, *, seed=None, options=None):
        self.episode += 1
        self.t = 0
        return self._observe(), {}

    def step(self, action):
        self.t += 1
        reward = float(action[0]) * np.cos(self.episode)
        ended = self.t >= 3 + (5 * self.episode + self.index) % 7
        odd = self.episode % 2 == 1
        info = {"metrics": {"reached": float(self.t)}} if ended else {}
        return self._observe(), reward, ended and odd, ended and not odd, info


def make_cue(index: int, seed: int) -> gymnasium.Env:
    return RememberCue()


def make_reach(index: int, seed: int) -> gymnasium.Env:
    return Reach()


def make_clockwork(index: int, seed: int) -> gymnasium.Env:
    return Clockwork(index)


def make_picture(index: int, seed: int) -> gymnasium.Env:
    return Picture()


def make_aim_and_press(index: int, seed: int) -> gymnasium.Env:
    return AimAndPress()


def make_compiling(index: int, seed: int) -> gymnasium.Env:
    return Compiling()


def make_crashing(index: int, seed: int) -> gymnasium.Env:
    return Crashing() if index == 1 else RememberCue()


def make_dying(index: int, seed: int) -> gymnasium.Env:
    """Kills the worker process that makes its environment, but not the trainer."""
    if multiprocessing.current_process().name.startswith("environment worker"):
        os.kill(os.getpid(), signal.SIGABRT)
    return RememberCue()


class KilledOnce:
    """Kills the first worker process that makes an environment, but not the trainer.

    Args:
        mark: File that says that it was done.
    """

    def __init__(self, mark: Path):
        self.mark = mark

    def __call__(self, index: int, seed: int) -> gymnasium.Env:
        if multiprocessing.current_process().name.startswith("environment worker"):
            with suppress(FileExistsError):
                self.mark.open("x").close()
                os.kill(os.getpid(), signal.SIGKILL)
        return RememberCue()
