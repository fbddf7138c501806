"""`python -m planner.film [NAMES]`: the videos of the VER paper's supplement, with our skills.

For every name episodes of the validation file are played in order, without a camera, until one has succeeded
and one has failed, or `--episodes` were played; those two are then played once more and filmed. Skills are
learned where there is a checkpoint and oracles elsewhere (`--skills`); the captions tell which. Default:
all; what lacks a checkpoint is left out with a line that says so.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from planner.evaluation import EpisodeRunner, EvaluationSettings
from planner.interactions import InteractionResult, SkillCall
from planner.labels import label_of
from planner.record import Execution, Moment
from planner.search import PlanStep
from planner.takes import NAVIGATION, TOLD_EVERY, Player, Take, Tell
from rearrange.caching import first_start
from rearrange.command_line import OneLineParser, check_counts, output_folder, refuse
from rearrange.env import RearrangeEnv
from rearrange.episodes import EpisodeSet, default_path, find_dataset, spec_of
from rearrange.errors import UserError, check_choice
from rearrange.robot import find_robot
from rearrange.scenes.registry import HOMES
from skills import SkillArgument
from skills.command import USER_ERRORS, counted, run_command, short_path
from skills.modes import POLICY_SUFFIX, SKILLS_HELP, parse_modes
from skills.registry import effect_of, shipped_policy, skill_names
from skills.settings import CHECKPOINTS
from ver.logs import policy_file

LARGEST = 5_000_000  # bytes of a film
STRIDE, FPS = 1, 15  # half speed: a skill alone is over in a second or two
Place = tuple[str, str]  # collection of homes, and the robot's name, "" for the policies' own
GIF_OF = "tidy_house"
GIF = Path(__file__).parents[1] / "docs" / "tidy_house.gif"


@dataclass(frozen=True)
class Chore:
    """A household task that is filmed.

    Attributes:
        task: Name of a household task.
        navigate: False: navigation is deleted from its plans.
        skills: Those that its plans need.
    """

    task: str
    navigate: bool
    skills: tuple[str, ...]


CHORES = {
    "tidy_house_no_nav": Chore("tidy_house", False, ("pick", "place")),
    "tidy_house": Chore("tidy_house", True, ("navigate", "pick", "place")),
    "prepare_groceries": Chore("prepare_groceries", True, ("navigate", "pick", "place")),
    "set_table": Chore("set_table", True, ("navigate", "pick", "place", "open_cab", "open_fridge")),
}


def film_names() -> tuple[str, ...]:
    """List everything that can be filmed; a skill's name stands for its own training task."""
    return (*CHORES, *skill_names(), *NAVIGATION)


def check_checkpoints(skills: Sequence[str]) -> None:
    """Raise a UserError that names the skills for which there is no checkpoint."""
    missing = [name for name in skills if not shipped_policy(name, CHECKPOINTS).is_file()]
    if missing:
        raise UserError(
            f"no checkpoint for {', '.join(missing)} in {CHECKPOINTS}: "
            f"train it with scripts/train_skill.sh {missing[0]}"
        )


def episodes_of(task: str, count: int, homes: str, robot: str) -> EpisodeSet:
    """The task's validation file; UserError where it holds fewer episodes than asked for."""
    path = str(default_path(task, "val", homes, robot))
    found, _ = find_dataset(path, task, "val", count, homes, robot)
    assert found is not None
    return found


class HouseholdPlayer:
    """A household task whose plans are followed by skills."""

    def __init__(self, chore: Chore, mode: str, seed: int, episodes: int, place: Place) -> None:
        """Open the world and load the skills; UserError where one lacks its checkpoint."""
        from skills.library import robot_of  # brings torch: only where skills run

        if mode == "mixed":
            check_checkpoints([name for name in chore.skills if effect_of(name) != "arrives"])
        homes, asked = place
        robot = robot_of(mode, chore.task, asked)
        found = episodes_of(chore.task, episodes, homes, robot)
        self._runner = EpisodeRunner(
            EvaluationSettings(
                chore.task,
                episodes=episodes,
                seed=seed,
                skills=mode,
                navigate=chore.navigate,
                dataset=found.path,
                homes=homes,
                robot=robot,
            )
        )

    def play(self, index: int, path: Path | None, tell: Tell) -> Take:
        """See Player."""

        def observe(world: RearrangeEnv, moment: Moment) -> None:
            if world.elapsed_steps % TOLD_EVERY == 0:
                tell(f"{label_of(moment.skill).verb}, step {world.elapsed_steps}")

        execution = self._runner.play(index, path, [observe]).execution
        done = sum(result.once for result in execution.interactions)
        told = f"{done} of {len(execution.interactions)} interactions, {execution.steps} steps"
        if execution.failure is not None:
            told += f", {execution.failure}"
        return Take(execution.success_at_end, told)


class SkillPlayer:
    """A skill's own task; a policy takes mean actions, as in plans."""

    def __init__(self, skill: str, mode: str, seed: int, episodes: int, place: Place) -> None:
        """Load who plays it; UserError where there is no policy."""
        from skills.players import player_of  # brings torch: only where skills run

        if mode == "mixed":
            check_checkpoints([skill])
        self._skill, self._seed = skill, seed
        self._source, self._player = player_of(skill, mode, "val", *place)
        robot = self._player.environment.robot.name
        self._episodes = episodes_of(skill, episodes, place[0], robot)

    def play(self, index: int, path: Path | None, tell: Tell) -> Take:
        """See Player."""
        options = {"episode": self._episodes.episode(index, self._seed)}

        def tell_step(world: RearrangeEnv) -> None:
            if world.elapsed_steps % TOLD_EVERY == 0:
                tell(f"{label_of(self._skill).verb}, step {world.elapsed_steps}")

        if path is None:
            return self._take(self._player.play(index, options, tell_step))
        from planner.video import EpisodeVideo  # the renderer compiles: only when asked for

        world = self._player.environment
        world.reset(options=options)
        call = only_call(self._skill, world)
        title = label_of(self._skill).title.title()
        sources = {self._skill: self._source}
        with EpisodeVideo(path, world, title, sources, STRIDE, FPS) as video:

            def observe(world: RearrangeEnv) -> None:
                step = world.elapsed_steps
                tell_step(world)
                video.observe(world, Moment((call,), 0, self._skill, call.argument, step))

            metrics = self._player.play(index, options, observe)
            video.finish(execution_of(self._skill, metrics))
        return self._take(metrics)

    def _take(self, metrics: dict[str, float]) -> Take:
        execution = execution_of(self._skill, metrics)
        told = f"{execution.steps} steps"
        if execution.failure is not None:
            told += f", {execution.failure}"
        return Take(execution.success_at_end, told)


def only_call(skill: str, world: RearrangeEnv) -> SkillCall:
    """The plan of one step that a skill's own task amounts to."""
    from skills.players import argument_of

    argument = argument_of(skill, world.episode)
    return SkillCall(
        step=PlanStep(skill, ()),
        skill=skill,
        label=skill,
        argument=argument,
        receptacle=receptacle_of(world, argument),
        interacts=True,
    )


def receptacle_of(world: RearrangeEnv, argument: SkillArgument) -> str | None:
    """The receptacle that a joint opens; other drawers have no name in plans and go by their joint's."""
    if argument.joint is None:
        return None
    return spec_of(world.episode).part(argument.joint).receptacle or argument.joint


def execution_of(skill: str, metrics: dict[str, float]) -> Execution:
    """The metrics of a skill's own task as those of a plan of one step."""
    success, once = bool(metrics["success"]), bool(metrics["success_once"])
    causes = [key.removeprefix("failure/") for key in metrics if key.startswith("failure/")]
    failure = None
    if not success:
        cause = next(cause for cause in causes if metrics[f"failure/{cause}"])
        failure = f"{skill}: {cause.replace('_', ' ')}"
    interaction = InteractionResult(f"{skill}_0", once, success)
    return Execution(success, once, (interaction,), failure, int(metrics["length"]), ())


def open_player(
    name: str, mode: str, seed: int, episodes: int, place: Place, checkpoint: Path | None = None
) -> Player:
    """Open the player of a name's episodes; UserError where a checkpoint is missing.

    Args:
        name: One of `film_names()`.
        mode: As `parse_modes` reads it.
        seed: Order of the episodes.
        episodes: How many there must be.
        place: Homes and robot.
        checkpoint: Policy of a skill or of a navigation task, whatever the mode says.
    """
    if name in CHORES:
        return HouseholdPlayer(CHORES[name], mode, seed, episodes, place)
    if name in NAVIGATION:
        from planner.nav_film import NavPlayer  # brings torch

        return NavPlayer(name, mode, seed, place[0], checkpoint)
    if checkpoint is not None:
        mode = f"mixed,{name}={checkpoint}"
    return SkillPlayer(name, mode, seed, episodes, place)


@contextmanager
def progress(title: str) -> Iterator[Tell]:
    """Show in a terminal where an episode stands; nothing elsewhere. Gives what tells of it."""
    with Console().status(title) as status:
        yield lambda doing: status.update(f"{title}: {doing}")


def film(name: str, player: Player, output: Path, episodes: int) -> list[Path]:
    """Films one success and one failure, as far as there are any; returns the files.

    Raises:
        UserError: An episode ended otherwise when it was filmed.
    """
    found: dict[bool, int] = {}
    takes: list[Take] = []
    print(f"{name}: {counted(episodes, 'episode')} at most{first_start()}", flush=True)
    for index in range(episodes):
        with progress(f"{name}: episode {index} of at most {episodes}") as tell:
            takes.append(player.play(index, None, tell))
        found.setdefault(takes[-1].success, index)
        came = "success" if takes[-1].success else "failure"
        print(f"{name}: episode {index}: {came}, {takes[-1].told}", flush=True)
        if len(found) == 2:
            break
    made = []
    for success, word in ((True, "success"), (False, "failure")):
        path = output / f"{name}_{word}.mp4"
        path.unlink(missing_ok=True)
        if success not in found:
            print(f"{name}: no {word} in {counted(len(takes), 'episode')}", flush=True)
            continue
        index = found[success]
        with progress(f"{name}: filming episode {index}") as tell:
            again = player.play(index, path, tell)
        if again != takes[index]:
            path.unlink()
            raise UserError(
                f"{name}: episode {index} ended otherwise when it was filmed; please report it"
            )
        size = path.stat().st_size
        print(f"{path}: episode {index}, {size / 1e6:.1f} MB", flush=True)
        if size > LARGEST:
            print(f"{path}: more than {LARGEST / 1e6:.0f} MB", file=sys.stderr)
        made.append(path)
    return made


def main(arguments: Sequence[str]) -> int:
    """Films what is asked for; 2 where something that was named is left out."""
    parser, names = OneLineParser(prog="planner.film", description=__doc__), film_names()
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; default: all"
    )
    parser.add_argument("--skills", default="mixed", help=SKILLS_HELP)
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="policy of the one skill that is named"
    )
    parser.add_argument("--episodes", type=int, default=20, metavar="N", help="played at most")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="order of the episodes")
    parser.add_argument("--homes", **HOMES)
    parser.add_argument(
        "--robot", default="", metavar="NAME", help="who acts; default: that of the policies"
    )
    parser.add_argument(
        "--output", type=output_folder, default=Path("runs") / "videos", metavar="DIR"
    )
    parser.add_argument(
        "--gif",
        action="store_true",
        help=f"also the beginning of {GIF_OF}'s success: {short_path(GIF)}",
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        check_choice("film", name, names)
    if options.gif:
        _check_gif(options.names or names)
    if options.names and NAVIGATION.keys() >= set(options.names):
        refuse(options, "{option} acts in no film that is named: leave it out", robot="")
    _check_policies(options)
    if options.robot:
        find_robot(options.robot)
    check_counts(options, "episodes")
    import torch

    torch.set_num_threads(1)  # more only wait for each other on so small a network
    left_out: list[str] = []
    for name in dict.fromkeys(options.names or names):
        try:
            place = options.homes, options.robot
            asked = options.skills, options.seed, options.episodes, place, options.checkpoint
            player = open_player(name, *asked)
        except USER_ERRORS as error:
            if options.checkpoint:
                raise
            print(f"{name}: left out: {error}", flush=True)
            left_out.append(name)
            continue
        made = film(name, player, options.output, options.episodes)
        success = options.output / f"{GIF_OF}_success.mp4"
        if options.gif and success in made:
            from rearrange.render.video import write_gif

            write_gif(success, GIF)
            print(f"{short_path(GIF)}: {GIF.stat().st_size / 1e6:.1f} MB", flush=True)
    return 2 if options.names and left_out else 0


def _check_gif(names: Sequence[str]) -> None:
    """Raise a UserError where the GIF of the docs cannot be made."""
    if GIF_OF not in names:
        raise UserError(f"--gif is made of {GIF_OF}: name that, too")
    if not GIF.parent.is_dir():
        raise UserError(
            f"--gif writes {short_path(GIF)}, into a checkout, and this is none: leave it out"
        )


def _check_policies(options: Namespace) -> None:
    """Raise a UserError where a policy that is named cannot be filmed, before anything is."""
    named = [
        what for what in parse_modes(options.skills)[1].values() if what.endswith(POLICY_SUFFIX)
    ]
    if options.checkpoint:
        options.checkpoint = policy_file(options.checkpoint)
        if len(set(options.names)) != 1 or options.names[0] in CHORES:
            raise UserError(
                f"--checkpoint is the policy of one skill: name that alone; in a chore say "
                f"--skills mixed,pick={options.checkpoint}"
            )
        refuse(options, "--checkpoint says who plays: leave {option} out", skills="mixed")
        named.append(str(options.checkpoint))
    for file in named:
        if not file.endswith(POLICY_SUFFIX) or not Path(file).is_file():
            raise UserError(f"{file}: there is no such policy, a {POLICY_SUFFIX} file")


if __name__ == "__main__":
    run_command(main)
