"""The batched collector: one process steps all worlds together (BPS: Shacklett et al. 2021, 3).

Simulation, inference and writing of experience take turns, N worlds at a time: there are no worker
processes, and what the worlds show is copied once, into the rollout that is learned from. All else
is VER's: each world's row (without a second process, a message to ourselves), the inference
engine, slots, and what is carried from one rollout to the next.

Worlds on a device may show torch tensors [N, ...], and get their actions as one. Where the policy is on that
device, what they show is copied straight into the rollout, and never sent to the host. What is one number of a
world, its reward and its end, is, once a step.

A run that is resumed goes on in mid-episode where worlds can be brought back (`ver.collect.worlds`); else all
start new episodes. One world cannot be made anew alone: after a fault all are, and N steps are lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from gymnasium import Space
from torch import Tensor

from ver.action_space import to_environment_action
from ver.collect.collector import Collector
from ver.collect.environment_worker import (
    TOO_LONG,
    DivergedError,
    NotFiniteError,
    told_fault,
    told_observation,
)
from ver.collect.episode_order import EpisodeOrder, is_first_try, newest_told
from ver.collect.faults import LARGEST, Fault, largest, strange
from ver.collect.in_flight import (
    EpisodeActions,
    InFlight,
    continuations,
    fits,
    newest_steps,
)
from ver.collect.inference import BatchLimits, InferenceEngine
from ver.collect.mailboxes import make_mailboxes
from ver.collect.processes import describe_error, one_line_errors
from ver.collect.systems.ver import check_one_batch
from ver.collect.worlds import make_worlds
from ver.config import TrainerConfig
from ver.errors import UserError
from ver.preemption import Preemption
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TERMINATED, TRUNCATED

_REPORT_INTERVAL_S = 0.05


class BatchedCollector(Collector):
    """Collects T x N steps in lockstep, in this process.

    Arguments and attributes as for `Collector`; `make_env` as for `make_worlds`. `keep_going` is not asked at
    the start: nothing is waited for.

    Attributes:
        engine: Inference.
    """

    together = True

    def start(self, in_flight: InFlight | None, keep_going: Callable[[], bool]) -> None:
        """Makes the rollout and all worlds; goes on with what is in flight if these worlds can."""
        config, policy = self.config, self._policy
        n = config.collect.num_environments
        spaces = policy.observation_space, policy.action_space
        self.buffer = RolloutBuffer(
            *spaces,
            n,
            config.collect.rollout_length,
            policy.state_size,
            policy.device,
            shared=False,
        )
        self._mailboxes = make_mailboxes(*spaces, n, n)
        self._rows = self._mailboxes.arrays
        self._held_back = np.zeros(n, np.uint8)
        self._version = np.zeros(1, np.int64)
        self.engine = InferenceEngine(
            policy,
            self.buffer,
            self._mailboxes,
            BatchLimits(n, n, 0.0),
            self._held_back,
            self._version,
        )
        self._episodes: list[dict[str, float]] = []
        self._returns = np.zeros(n)  # of the running episodes
        self._actions = EpisodeActions(n)
        self._order = EpisodeOrder(self._seed, config.collect.repeat_failed)
        self._make_worlds()
        if in_flight is not None and self._can_take_up(in_flight):
            self.went_on = True
            self._take_up(in_flight)
        else:
            self._begin_worlds(NO_ACTION)

    @classmethod
    def check(cls, config: TrainerConfig) -> None:
        """Refuses settings that make no sense in one process and in lockstep."""
        collect = config.collect
        wanted = {
            "collect.overlap": (collect.overlap, False),
            "collect.num_inference_workers": (collect.num_inference_workers, 1),
            "distributed.preemption": (config.distributed.preemption, "none"),
        }
        for name, (found, only) in wanted.items():
            if found != only:
                raise UserError(
                    f"system=batched collects in one process and in lockstep, found {name}="
                    f"{str(found).lower()}; set it to {str(only).lower()}, or choose system=ver."
                )
        check_one_batch(config)

    @classmethod
    def why_runs_differ(cls, config: TrainerConfig) -> str:
        """Nothing is left to chance here; worlds that cannot be brought back start anew when resumed."""
        del config
        return ""

    @property
    def busy_seconds(self) -> dict[str, float]:
        """Seconds so far by kind of work; "wait" is the simulation."""
        return self.engine.seconds

    def collect(
        self,
        version: int,
        keep_going: Callable[[], bool] = lambda: True,
        preemption: Preemption | None = None,
    ) -> bool:
        """Fills the buffer; `check` refuses preemption."""
        del preemption
        self._version[0] = version
        self.buffer.begin(may_end_early=False)
        self.engine.replay()
        asked_at = time.perf_counter()
        while not self.buffer.full:
            if self._rows["action_ready"][0]:
                self._step()
            self.engine.serve(0.0)
            if time.perf_counter() - asked_at > _REPORT_INTERVAL_S:
                if not keep_going():
                    return False
                asked_at = time.perf_counter()
        if self._take_up_episodes:
            self._actions.record(self.buffer)
        return True

    def capture(self) -> InFlight:
        """Copies what is under way after a full rollout, where these worlds can be brought back to it."""
        if not self._take_up_episodes:
            return {}
        clock = getattr(self._worlds, "clock", None)
        return {
            **({} if clock is None else {"clock": torch.tensor([clock])}),
            **newest_steps(self.buffer),
            **self._actions.capture(),
            "held_back": torch.from_numpy(self._held_back.copy()),
            "episodes_reported": torch.from_numpy(newest_told(self._rows["episode"])),
        }

    def drain_episodes(self) -> list[dict[str, float]]:
        """Returns the metrics of the episodes that ended since the last call."""
        episodes, self._episodes = self._episodes, []
        return episodes

    def close(self) -> None:
        """Frees the worlds."""
        self._worlds.close()

    def _step(self) -> None:
        """Carries out all actions, and asks for the next ones."""
        begin = time.perf_counter()
        self._rows["action_ready"][:] = 0
        try:
            self._advance()
        except Exception as error:
            self._lose(error)
        self._rows["request_ready"][:] = 1
        self.engine.seconds["wait"] += time.perf_counter() - begin

    def _advance(self) -> None:
        rows, worlds = self._rows, self._worlds
        actions = to_environment_action(worlds.single_action_space, rows["action"])
        if self._takes_tensors:
            actions = _as_tensors(actions, self.buffer.device)
        observations, *ends, infos = worlds.step(actions)
        rewards, terminated, truncated = (_on_host(values) for values in ends)
        if not (np.abs(rewards) < LARGEST).all():  # nor NaN
            raise NotFiniteError(f"returned the rewards {rewards}")
        # An episode that both ends and runs out of time has ended.
        outcomes = np.where(terminated, TERMINATED, np.where(truncated, TRUNCATED, CONTINUES))
        self._show(observations)
        self._show_final(np.flatnonzero(outcomes == TRUNCATED), infos)
        ended = np.flatnonzero(outcomes != CONTINUES)
        metrics = _episode_metrics(infos, ended.tolist())
        rows["reward"][:] = rewards
        rows["outcome"][:] = outcomes
        rows["step"][:] += 1
        self._returns += rewards
        for index, own in zip(ended.tolist(), metrics, strict=True):
            length, total = float(rows["step"][index]), float(self._returns[index])
            number = int(rows["episode"][index])
            if is_first_try(number):
                self._episodes.append({"episode_return": total, "episode_length": length} | own)
            rows["episode"][index] = self._order.after(index, number, own)
        rows["step"][ended] = 0
        self._returns[ended] = 0.0

    def _show(self, observations: dict[str, Any]) -> None:
        """Lets the engine copy from the environment's own arrays before the next step."""
        source = self.engine.observations
        for key in source:
            source[key] = self._readable(key, observations[key])
        self._takes_tensors = any(isinstance(observations[key], Tensor) for key in source)
        _check_finite(source)

    def _readable(self, key: str, values: Any) -> Any:
        """Observations [N, ...] as the engine reads them: a tensor on the policy's device, or an array."""
        if not isinstance(values, Tensor):
            return np.asarray(values, self._policy.observation_space[key].dtype)
        device = self.buffer.device
        if values.device.type not in ("cpu", device.type):
            raise UserError(
                f"the observation '{key}' is on {values.device}, the policy on {device}: "
                f"set device={values.device.type}"
            )
        values = values.detach().to(self.buffer.observations[key].dtype)
        return values if values.device.type == device.type else values.numpy()

    def _show_final(self, cut: np.ndarray, infos: dict[str, Any]) -> None:
        """Shows the last observations of the worlds whose time was out."""
        if not len(cut):
            return
        final, source = infos["final_obs"], self.engine.final_observations
        if isinstance(final, dict):  # [N, ...], of which those that were cut count
            for key in source:
                source[key] = self._readable(key, final[key])
        else:
            for key, rows in source.items():
                for index in cut.tolist():
                    rows[index] = final[index][key]
        _check_finite({key: rows[cut] for key, rows in source.items()})

    def _lose(self, error: Exception) -> None:
        """Makes all worlds anew, as the results of their actions will never be known."""
        kind, what, detail = told_fault(error)
        what = f"the vectorised environment {what}"
        self.faults.record(Fault(kind, what, self.buffer.num_environments, detail))
        with suppress(Exception):
            self._worlds.close()
        self._make_worlds()
        self._begin_worlds(LOST)

    def _make_worlds(self) -> None:
        with one_line_errors("The vectorised environment"):
            self._worlds = make_worlds(self._make_env, self.buffer.num_environments, self._seed)
        self._take_up_episodes = getattr(self._worlds, "takes_up", False)
        chance = self._order.repeat_failed
        if chance and not self._take_up_episodes:
            raise UserError(
                f"collect.repeat_failed={chance} needs episodes that follow from their seeds, and these "
                "worlds begin theirs by themselves: set it to 0, or choose system=ver"
            )

    def _begin_worlds(self, outcome: int) -> None:
        """Starts a new episode in each world.

        Args:
            outcome: What became of the actions before: NO_ACTION or LOST.

        Raises:
            WorkerCrashError: If that fails.
        """
        rows = self._rows
        rows["episode"][:] = [self._order.next(number) for number in rows["episode"].tolist()]
        rows["step"][:] = 0
        self._returns[:] = 0.0
        with one_line_errors("The vectorised environment"):
            self._show(self._observations([()] * len(self._returns)))
        rows["outcome"][:] = outcome
        rows["request_ready"][:] = 1

    def _observations(self, actions: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """Begins the episodes whose numbers stand in the rows, and repeats actions where worlds can."""
        numbers: list[int] = self._rows["episode"].tolist()
        worlds: Any = self._worlds
        if self._take_up_episodes:
            observations, self._returns[:] = worlds.begin(self._order, numbers, actions)
            return observations
        # Gymnasium's own environments take a list too, though the base class does not say so.
        return worlds.reset(seed=[self._order.beginning(i, k)[0] for i, k in enumerate(numbers)])[0]

    def _can_take_up(self, in_flight: InFlight) -> bool:
        """Tells if all steps in flight are held back, as here, and of such worlds."""
        return (
            self._take_up_episodes
            and fits(self.buffer, in_flight)
            and bool(in_flight["held_back"].all())
        )

    def _take_up(self, in_flight: InFlight) -> None:
        """Brings all worlds back to where a stopped run left them; begins anew where one is not there."""
        rows, buffer = self._rows, self.buffer
        parts = continuations(in_flight, buffer, self._held_back, self._mailboxes, self._actions)
        rows["episode"][:] = buffer.episodes[buffer.newest]
        rows["step"][:] = buffer.steps[buffer.newest]
        space = self._worlds.single_action_space
        expected = rows.group("observation")
        if "clock" in in_flight:
            self._worlds.clock = int(in_flight["clock"])  # pyright: ignore[reportAttributeAccessIssue]
        try:
            found = self._observations([_done(space, part.actions) for part in parts.values()])
            for key, values in expected.items():
                if not np.array_equal(_on_host(found[key]), values):
                    raise DivergedError(f"'{key}' is not what it was")
            self._show(found)
        except UserError:
            raise
        except Exception as error:
            line, _ = describe_error(error)
            self._lose(DivergedError(f"did not repeat its episodes from the same seeds: {line}"))


def _done(space: Space, actions: np.ndarray | None) -> list[Any]:
    """Actions of an episode so far, as an environment takes them; DivergedError where they are not kept."""
    if actions is None:
        raise DivergedError(TOO_LONG)
    return [to_environment_action(space, row) for row in actions]


def _episode_metrics(infos: dict[str, Any], ended: list[int]) -> list[dict[str, float]]:
    """Reads `info["metrics"]` of worlds' last steps, as dicts or as gymnasium folds them.

    Gymnasium turns the worlds' dicts into one of arrays [N], each with a mask beside it; one without is of all.
    """
    metrics = infos.get("final_info", {}).get("metrics", {}) if ended else {}
    if not isinstance(metrics, dict):
        found = [metrics[index] or {} for index in ended]
        return [{name: float(value) for name, value in own.items()} for own in found]
    columns = {name: _on_host(values) for name, values in metrics.items()}
    masks = {name: columns.get(f"_{name}") for name in columns if not name.startswith("_")}
    return [
        {
            name: float(columns[name][index])
            for name, mask in masks.items()
            if mask is None or mask[index]
        }
        for index in ended
    ]


def _check_finite(observations: dict[str, Any]) -> None:
    """Raises NotFiniteError for what cannot be learned from; of all tensors one number reaches the host."""
    arrays = {key: x for key, x in observations.items() if not isinstance(x, Tensor)}
    bad = [key for key, x in arrays.items() if x.dtype.kind == "f" and strange(x)]
    sound = {
        key: (x.abs() <= largest(torch.finfo(x.dtype))).all()
        for key, x in observations.items()
        if key not in arrays and x.is_floating_point()
    }
    if sound and not torch.stack(list(sound.values())).all().item():
        bad += [key for key, flag in sound.items() if not flag]
    if bad:
        raise NotFiniteError(told_observation(bad[0]))


def _on_host(values: Any) -> np.ndarray:
    """Numbers of the worlds [N] as an array."""
    return values.cpu().numpy() if isinstance(values, Tensor) else values


def _as_tensors(actions: Any, device: torch.device) -> Any:
    """Actions [N, ...], or a dict or tuple of such, as tensors on a device."""
    if isinstance(actions, dict):
        return {name: _as_tensors(part, device) for name, part in actions.items()}
    if isinstance(actions, tuple):
        return tuple(_as_tensors(part, device) for part in actions)
    return torch.from_numpy(actions).to(device)


SYSTEMS = {"batched": BatchedCollector}
