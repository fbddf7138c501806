"""Evaluates a household task over many episodes, in worker processes.

An episode depends on (task, split, seed, index) alone: the number of workers changes how long the
evaluation takes, not what it finds.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from unified_planning.model import Problem

from planner import scenarios
from planner.executive import Executive
from planner.hand_offs import HandOffRecorder, Start
from planner.interactions import bind, without_navigation
from planner.monolithic import run_alone
from planner.problem import TaskProblem, build_problem, drawers_of
from planner.record import Execution, Observer
from planner.replanning import Replanner, ReplanSettings
from planner.rules import ExecutiveSettings
from planner.running import RunningEpisodes
from planner.search import OWN_ENGINE, Plan, PlanningError, find_plan
from rearrange.env import RearrangeEnv
from rearrange.episodes import EpisodeSet, spec_of
from rearrange.robot import DEFAULT_ROBOT
from rearrange.scenes.registry import DEFAULT_HOMES
from skills.base import Skill
from skills.knowledge import DEFAULT_LEVEL, Knowledge
from skills.modes import MONOLITHIC, parse_modes
from skills.workers import play_in_workers

if TYPE_CHECKING:
    from planner.video import EpisodeVideo


@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of an evaluation.

    Attributes:
        task: Name of a household task.
        split: "train", "val" or "test".
        episodes: How many.
        seed: Seeds the choice of episodes.
        skills: As `skills.load_skills` takes it.
        navigate: False: navigation is deleted from the plans (TP-SRL(NoNav)).
        close: Fridges and drawers shall be closed in the end (our extension).
        engine: Planner; see `search.find_plan`.
        validate_plans: Check every plan with unified-planning's validator.
        video_directory: Where mp4 files go, or None for no videos.
        dataset: Episode file; None: episodes are sampled.
        record_hand_offs: Keep the states in which skills begin.
        executive: Time-outs and masks.
        replanning: How often the plan may be changed; not at all by default.
        knowledge: What the robot may know, one of `skills.knowledge.LEVELS`.
        sim: Simulator, see rearrange.sim.backends.
        homes: Collection of homes, see rearrange.scenes.registry.
        robot: Name of the robot.
    """

    task: str
    split: str = "val"
    episodes: int = 10
    seed: int = 0
    skills: str = "mixed"
    navigate: bool = True
    close: bool = False
    engine: str = OWN_ENGINE
    validate_plans: bool = False
    video_directory: Path | None = None
    dataset: Path | None = None
    record_hand_offs: bool = False
    executive: ExecutiveSettings = field(default_factory=ExecutiveSettings)
    replanning: ReplanSettings = field(default_factory=ReplanSettings)
    knowledge: str = DEFAULT_LEVEL
    sim: str = "mujoco"
    homes: str = DEFAULT_HOMES
    robot: str = DEFAULT_ROBOT

    @property
    def named_skills(self) -> tuple[str, ...]:
        """Skills of which `skills` says who plays them."""
        return tuple(name for name in parse_modes(self.skills)[1] if name != MONOLITHIC)


@dataclass(frozen=True)
class EpisodeRecord:
    """One evaluated episode.

    Attributes:
        index: Position in the evaluation.
        layout: Macro layout of the apartment.
        variation: Variation of the layout.
        execution: What came of it.
        plan: The steps that were to be executed, as text; with replanning, of the first plan. A monolithic
            policy knows of none: its interactions are those of this one.
        problem_seconds: Writing the PDDL and reading it with unified-planning.
        plan_seconds: Grounding and search.
        expanded: States that the search expanded.
        wall_seconds: The whole episode, video included.
        skills: Skill -> its source.
        video: File, or None.
        starts: States in which skills began, if they were asked for.
    """

    index: int
    layout: int
    variation: int
    execution: Execution
    plan: tuple[str, ...]
    problem_seconds: float
    plan_seconds: float
    expanded: int
    wall_seconds: float
    skills: dict[str, str]
    video: str | None = None
    starts: tuple[Start, ...] = ()


def episode_seed(seed: int, index: int) -> int:
    """Return the reset seed of an evaluation's episode at a position."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0])


def solve(settings: EvaluationSettings, problem: Problem) -> Plan:
    """Plan as the settings say; raises a PlanningError where there is no plan."""
    plan = find_plan(problem, settings.engine, validate=settings.validate_plans)
    return plan if settings.navigate else without_navigation(plan)


def plan_of(settings: EvaluationSettings, problem: Problem, index: int) -> Plan:
    """The plan of an episode; raises a PlanningError that names it where there is none."""
    try:
        return solve(settings, problem)
    except PlanningError as error:
        raise PlanningError(f"episode {index} of {settings.task}: {error}") from None


class EpisodeRunner:
    """Owns one world and one set of skills and runs episodes in them; one per process."""

    def __init__(
        self,
        settings: EvaluationSettings,
        skills: Mapping[str, Skill] | None = None,
        running: RunningEpisodes | None = None,
    ) -> None:
        """Builds the world.

        Args:
            settings: What is evaluated.
            skills: By name, in the place of those that `settings.skills` says.
            running: Is told where each episode stands.
        """
        self._settings, self._running = settings, running
        place = settings.sim, settings.homes, settings.robot
        self._stage = scenarios.open_stage(settings.task, settings.split, settings.skills, *place)
        if skills:
            self._stage = replace(self._stage, skills={**self._stage.skills, **skills})
        self._executive = Executive(self._stage.skills, settings.executive, settings.knowledge)

    def play(
        self, index: int, video_path: Path | None = None, observers: Sequence[Observer] = ()
    ) -> EpisodeRecord:
        """Runs one episode from its beginning to its end.

        Args:
            index: Position in the evaluation.
            video_path: Also films it there; None: only where the settings ask for videos.
            observers: Called after every step.
        """
        settings = self._settings
        started = time.perf_counter()
        seed = episode_seed(settings.seed, index)
        if settings.dataset is None:
            self._stage.world.reset(seed=seed)
        else:
            place = settings.split, settings.homes, settings.robot
            given = EpisodeSet.load(settings.dataset, settings.task, *place)
            asked = given.episode(index, settings.seed)
            self._stage.world.reset(seed=seed, options={"episode": asked})
        episode = self._stage.world.episode
        posed = time.perf_counter()
        task = build_problem(episode, settings.close, settings.named_skills)
        problem_seconds = time.perf_counter() - posed
        plan = plan_of(settings, task.problem, index)
        replanner = None
        if settings.replanning.limit > 0:
            knowledge = Knowledge(self._stage.world, settings.knowledge, drawers_of(episode))
            asked = episode, settings.replanning, partial(solve, settings), knowledge
            replanner = Replanner(*asked, settings.close, settings.named_skills)
        recorder = HandOffRecorder(f"{settings.split}/{index}")
        with self._video(index, video_path) as video:
            watching: list[Observer] = [*observers]
            if video is not None:
                watching.append(video.observe)
            if settings.record_hand_offs:
                watching.append(recorder.observe)
            if self._running is not None:
                watching.append(partial(self._running.note, index))
            execution = self._execute(plan, task, watching, replanner)
            if video is not None:
                video.finish(execution)
        return EpisodeRecord(
            index=index,
            layout=episode.layout,
            variation=episode.variation,
            execution=execution,
            plan=tuple(str(step) for step in plan.steps),
            problem_seconds=problem_seconds,
            plan_seconds=plan.seconds,
            expanded=plan.expanded,
            wall_seconds=time.perf_counter() - started,
            skills={name: skill.source for name, skill in self._stage.skills.items()},
            video=None if video is None else str(video.path),
            starts=tuple(recorder.starts),
        )

    def _execute(
        self,
        plan: Plan,
        task: TaskProblem,
        observers: Sequence[Observer],
        replanner: Replanner | None,
    ) -> Execution:
        """Lets the skills follow the plan, or a policy do without it."""
        world, policy = self._stage.world, self._stage.skills.get(MONOLITHIC)
        if policy is None:
            return self._executive.run(world, plan, task.arguments, observers, replanner)
        calls = [bind(step, task.arguments, spec_of(world.episode)) for step in plan.steps]
        return run_alone(world, policy, calls, self._settings.executive.max_steps, observers)

    @property
    def world(self) -> RearrangeEnv:
        """In which all episodes are played."""
        return self._stage.world

    def close(self) -> None:
        """Frees the world."""
        self._stage.world.close()

    def _video(self, index: int, path: Path | None) -> AbstractContextManager[EpisodeVideo | None]:
        directory = self._settings.video_directory
        if path is None and directory is not None:
            path = directory / f"{self._settings.task}_{index:03d}.mp4"
        if path is None:
            return nullcontext()
        from planner.video import EpisodeVideo  # the renderer compiles: only when asked for

        title = scenarios.title_of(self._settings.task)
        if not self._settings.navigate:
            title += ", NoNav"
        sources = {name: skill.source for name, skill in self._stage.skills.items()}
        return EpisodeVideo(path, self._stage.world, title, sources)


def run_episodes(
    settings: EvaluationSettings,
    workers: int,
    done: Collection[int] = (),
    running: RunningEpisodes | None = None,
) -> Iterator[EpisodeRecord]:
    """Runs all episodes; records come as they are done, not in order.

    Args:
        settings: What to evaluate.
        workers: Processes; 1 runs in this one.
        done: Indices of episodes that are not run again.
        running: Is told where each episode stands.
    """
    cases = [(index,) for index in range(settings.episodes) if index not in done]
    if cases:
        make = partial(EpisodeRunner, settings, running=running)
        yield from play_in_workers(make, cases, workers)
