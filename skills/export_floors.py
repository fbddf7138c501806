"""`python -m skills.export_floors`: our floors as scenes of Habitat, with PointNav episodes in its schema.

The episodes are those of `python -m skills.eval pointnav` with the same seed. Needs no habitat-sim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.progress import track

from nav.buildings import load_building
from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.export import export
from rearrange.command_line import OneLineParser, check_counts, output_folder
from skills.command import run_command
from skills.eval import SEED_STRIDE
from skills.provenance import add_homes, check_homes_asked


def main(arguments: Sequence[str]) -> int:
    """Sample the episodes and write all."""
    parser = OneLineParser(prog="skills.export_floors", description=__doc__)
    parser.add_argument("--episodes", type=int, default=500)
    add_homes(parser)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--data", type=output_folder, default=Path("data"), help="Habitat's data folder"
    )
    options = parser.parse_args(arguments)
    check_homes_asked(options)
    check_counts(options, "episodes")
    env = NavEnv("pointnav", None, options.split, options.homes)
    episodes: list[NavEpisode] = []
    for index in track(range(options.episodes), "episodes"):
        env.reset(seed=options.seed * SEED_STRIDE + index)
        episodes.append(replace(env.episode, episode_id=str(index)))
    buildings = [load_building(name) for name in sorted({each.building for each in episodes})]
    scenes, path = export(
        options.data, Path(options.homes).stem, options.split, buildings, episodes
    )
    print(f"{len(buildings)} scenes in {scenes}, {len(episodes)} episodes in {path}")
    print(
        f"python -m skills.eval pointnav --actions mean --sim habitat --dataset {path} --scenes {scenes}"
    )
    return 0


if __name__ == "__main__":
    run_command(main)
