"""`python -m planner.household`: from nothing to skills that tidy homes, by one command.

Records with oracles where each skill will begin, trains every skill from there, and judges skills and
chains on validation apartments. With --rounds 2 it records again with the skills as they are by then, and
trains the stages that are left, before it judges. From where each skill succeeds is learned, too
(`skills.initiation`). Jobs run side by side, as many as there are processors.
Trainings step all their worlds in lockstep, which leaves nothing to chance but how many processors each
has. Stopped or killed, the same command goes on where it was. `key=value` settings hold for every training,
such as trainer.total_steps=65536.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from planner.ship import add_skills, checked_skills
from rearrange.command_line import OneLineParser, check_counts, output_folder
from rearrange.errors import UserError
from rearrange.robot import DEFAULT_ROBOT
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.tasks import household_names
from rearrange.tasks.true_state import BOTH
from skills.command import run_command, short_path
from skills.initiation import LEAST_STARTS, STARTS
from skills.jobs import Job, Progress, processor_ids, run_jobs
from skills.recipe import trained_stages
from skills.registry import find
from skills.train import POLICY, load_stages

BLIND = ("navigate",)  # skills that also begin where a robot that drove without looking got stuck
ORACLES, LEARNED = "oracles", "learned"  # who has recorded hand-offs
CHAINS = "in_chains"  # the stage from which on a skill begins where the learned ones end
# On one processor worlds that are stepped together are quickest, and nothing is left to chance
LOCKSTEP = "trainer.system=batched"
RECORD, TRAIN = "record", "train"  # begin the names of jobs that decide what is learned
# Settings of a training that this command says itself, and by what
OWN = {
    "run": "--run",
    "trainer.seed": "--seed",
    "split": "its recordings, which are of train",
    "starts.paths": "what it records",
    "since": "--rounds",
    "until": "--rounds",
}
SYNTAX = ",[]{}"  # of lists in settings
# Options of recordings, as they are given here
CALLED = {"--episodes": "--recordings"}
FOLDERS = (
    "run",
    "starts.paths",
    "--record-hand-offs",
    "--output",
)  # of a run that was moved they differ


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="planner.household", description=__doc__)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="of every training")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of everything (1)")
    parser.add_argument("--run", type=output_folder, metavar="DIR", help="runs/household/seed_<S>")
    add_skills(parser)
    parser.add_argument(
        "--recordings", type=int, default=40, metavar="N", help="episodes of each scenario (40)"
    )
    parser.add_argument(
        "--rounds", type=int, default=1, choices=(1, 2), help="recordings and trainings (1)"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="how many at once (one for each processor)"
    )
    parser.add_argument(
        "--episodes", type=int, default=500, metavar="N", help="that judge each skill (500)"
    )
    parser.add_argument(
        "--chain-episodes", type=int, default=200, metavar="N", help="and each scenario (200)"
    )
    parser.add_argument(
        "--starts", type=int, default=STARTS, metavar="N", help=f"of an initiation set ({STARTS})"
    )
    parser.add_argument(
        "--ship", action="store_true", help="put it into data/checkpoints and results at the end"
    )
    parser.add_argument("--list", action="store_true", help="print the commands, run none")
    options = parser.parse_intermixed_args(arguments)
    options.skills = checked_skills(options.skills)
    at_most = len(options.skills) + len(household_names())
    check_counts(options, "recordings", "episodes", "chain_episodes", "starts", "jobs")
    options.jobs = options.jobs or min(at_most, max(1, len(processor_ids())))
    if options.starts < LEAST_STARTS:
        raise UserError(f"--starts must be at least {LEAST_STARTS}, found {options.starts}")
    options.run = options.run or Path("runs") / "household" / f"seed_{options.seed}"
    if set(str(options.run)) & set(SYNTAX):
        raise UserError(
            f"--run {options.run}: its path becomes a setting of trainings: choose one without any of {SYNTAX}"
        )
    for word in options.overrides:
        key = word.partition("=")[0]
        for name, by in OWN.items():
            if key == name or name.startswith(f"{key}."):
                raise UserError(f"{word}: {name} of every training is said by {by}: leave it out")
    return options


def household(options: argparse.Namespace) -> list[Job]:
    """All jobs, none before one that it comes after."""
    stages = {name: load_stages(name, options.overrides) for name in options.skills}
    before = {name: _last_before_chains(parts) for name, parts in stages.items()}
    place = _place(next(iter(stages.values()))[0])
    jobs = _recordings(options, ORACLES, "oracle", (), place)
    trainings = [_training(options, name, stages, jobs, ORACLES, before[name]) for name in stages]
    jobs += trainings
    if options.rounds == 2 and any(before.values()):
        again = _recordings(options, LEARNED, _policies(options), _names(trainings), place)
        jobs += again
        trainings = [
            _training(options, name, stages, again, LEARNED) if before[name] else training
            for name, training in zip(stages, trainings, strict=True)
        ]
        jobs += [each for each in trainings if each not in jobs]
    initiations = _initiations(options, stages, trainings, place)
    jobs += initiations + _evaluations(options, trainings, initiations, place)
    if options.ship:
        command = ("-m", "planner.ship", str(options.run), "--skills", ",".join(options.skills))
        jobs.append(Job("ship", command, _names(jobs)))
    return jobs


def _names(jobs: Sequence[Job]) -> tuple[str, ...]:
    return tuple(job.name for job in jobs)


def _last_before_chains(parts: list[Any]) -> str:
    """The stage before CHAINS; empty where there is none."""
    names = trained_stages(parts[0])
    return names[names.index(CHAINS) - 1] if CHAINS in names[1:] else ""


def _place(settings: Any) -> dict[str, str]:
    """Options that say where the trainings take place and who acts, where that is not the usual."""
    found = {"--homes": settings.homes, "--robot": settings.robot}
    usual = (DEFAULT_HOMES, DEFAULT_ROBOT)
    return {name: value for name, value in found.items() if value not in usual}


def _homes(place: Mapping[str, str]) -> tuple[str, ...]:
    return ("--homes", place["--homes"]) if "--homes" in place else ()


def _recordings(
    options: argparse.Namespace,
    folder: str,
    skills: str,
    after: tuple[str, ...],
    place: Mapping[str, str],
) -> list[Job]:
    common = ("--split", "train", "--dataset", "sampled", "--seed", str(options.seed))
    common += tuple(word for pair in place.items() for word in pair)
    common += ("--episodes", str(options.recordings), "--skills", skills)
    common += () if skills == "oracle" else ("--replan",)
    common += ("--record-hand-offs", str(options.run / "hand_offs" / folder))
    jobs = [
        Job(f"{RECORD}_{folder}_{scenario}", ("-m", "planner.eval", scenario, *common), after)
        for scenario in household_names()
    ]
    return jobs + [_blind_drives(options, name, folder) for name in BLIND if name in options.skills]


def _blind_drives(options: argparse.Namespace, name: str, folder: str) -> Job:
    own = ("--seed", str(options.seed), "--output", str(options.run / "hand_offs" / folder))
    command = ("-m", "planner.blind_drives", name, *own, *options.overrides)
    return Job(f"{RECORD}_{folder}_{name}_blind", command)


def _training(
    options: argparse.Namespace,
    name: str,
    stages: dict[str, list[Any]],
    recordings: Sequence[Job],
    folder: str,
    until: str = "",
) -> Job:
    settings = [f"run={options.run / name}", f"trainer.seed={options.seed}", LOCKSTEP]
    after: tuple[str, ...] = ()
    if any(part.starts.paths for part in stages[name]):
        settings.append(f"starts.paths=[{options.run / 'hand_offs' / folder}]")
        after = _names(recordings)
    if until:
        settings.append(f"until={until}")
    label = f"{TRAIN}_{name}" + (f"_{until}" if until else "")
    return Job(label, ("-m", "skills.train", name, *settings, *options.overrides), after)


def _initiations(
    options: argparse.Namespace,
    stages: dict[str, list[Any]],
    trainings: Sequence[Job],
    place: Mapping[str, str],
) -> list[Job]:
    """Initiation sets of all skills that follow a drive, and whose critics know the true state."""
    jobs = []
    for name, training in zip(stages, trainings, strict=True):
        if find(name).effect != "arrives" and stages[name][-1].sensors == BOTH:
            own = ("--checkpoint", str(options.run / name / POLICY), "--seed", str(options.seed))
            own += ("--starts", str(options.starts), *_homes(place))
            own += ("--json", str(options.run / "results" / f"initiation_{name}.json"))
            command = ("-m", "skills.initiation", name, *own)
            jobs.append(Job(f"initiation_{name}", command, (training.name,)))
    return jobs


def _evaluations(
    options: argparse.Namespace,
    trainings: Sequence[Job],
    initiations: Sequence[Job],
    place: Mapping[str, str],
) -> list[Job]:
    common = (*_homes(place), "--dataset", "sampled", "--seed", str(options.seed), "--episodes")
    results = options.run / "results"
    jobs = []
    for name, training in zip(options.skills, trainings, strict=True):
        own = ("--checkpoint", str(options.run / name / POLICY), "--actions", "mean", "--sanity")
        own += ("--json", str(results / f"{name}.json"))
        command = ("-m", "skills.eval", name, *common, str(options.episodes), *own)
        jobs.append(Job(f"judge_{name}", command, (training.name,)))
    for scenario in household_names():
        for more in ((), ("--redrive",), ("--replan",), ("--replan", "--redrive")):
            name = "".join([scenario, *more]).replace("--", "_")
            own = ("--skills", _policies(options), *more, "--ledger", str(results / f"{name}.json"))
            command = ("-m", "planner.eval", scenario, *common, str(options.chain_episodes), *own)
            before = _names(trainings) + (_names(initiations) if "--redrive" in more else ())
            jobs.append(Job(f"judge_{name}", command, before))
    return jobs


def _policies(options: argparse.Namespace) -> str:
    """`--skills` of planner.eval: this run's policies, and shipped ones of skills that it leaves out."""
    own = [f"{name}={options.run / name / POLICY}" for name in options.skills]
    return ",".join(["learned", *own])


def check_begun(jobs: Sequence[Job], folder: Path) -> None:
    """Raise a UserError where something was learned in a folder with other settings.

    A training would skip its stages that are done, whatever seed and recordings they are of.
    """
    begun = Progress.read(folder).entries
    learned = {path.relative_to(folder).parts[0] for path in folder.glob("*/**/*.safetensors")}
    for job in jobs:
        decides = {RECORD: bool(learned), TRAIN: job.arguments[2] in learned}
        if job.name not in begun or not decides.get(job.name.partition("_")[0], False):
            continue
        there, now = _settings_of(begun[job.name]["command"]), _settings_of(job.arguments)
        others = [CALLED.get(n, n) for n in {**there, **now} if there.get(n) != now.get(n)]
        if others:
            raise UserError(
                f"{short_path(folder)} was begun with another {', '.join(others)}: give back the old "
                "settings to go on, or another --run to begin anew"
            )


def _settings_of(command: Sequence[str]) -> dict[str, str]:
    """Settings and options of a recording's or a training's command, but its folders."""
    words = command[3:]  # after the module and what it trains or plays
    if words[0].startswith("--"):
        found = {w: after for w, after in pairwise((*words, "")) if w.startswith("--")}
    else:
        found = dict(word.split("=", 1) for word in words)
    if "--skills" in found:  # of the policies' files the skills are enough
        found["--skills"] = ",".join(w.partition("=")[0] for w in found["--skills"].split(","))
    return {name: value for name, value in found.items() if name not in FOLDERS}


def main(arguments: Sequence[str]) -> int:
    """Run the jobs that are not done."""
    options = parse(arguments)
    jobs = household(options)
    if options.list:
        for job in jobs:
            print("python", *job.arguments)
        return 0
    check_begun(jobs, options.run)
    print(
        f"{len(jobs)} jobs; {short_path(options.run / 'index.html')} shows where they stand",
        file=sys.stderr,
        flush=True,
    )
    return run_jobs(jobs, options.run, f"Household, seed {options.seed}", options.jobs)


if __name__ == "__main__":
    run_command(main)
