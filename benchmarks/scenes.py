"""`python -m benchmarks.scenes`: scenes that agents share, replaced in the background while all of them act.

N agents of PointNav share K scenes (`nav.sharing`), with depth images of 64x64 and random actions, one of a
hundred a stop. First in homes of a split, then in as many scenes of triangles: homes that were written as .glb
and whose largest triangles were divided until there were as many as `--triangles` says. Each takes half of
`--minutes`. One thread draws.

Told are images per second, how long steps took in which a scene was replaced and in which none was, and the
memory of both processes. A replacement's own part of a step (`swap`) is told beside it. All times are by the
clock and of the processor: where other work runs, the clock tells of that, too. Before that a scene of
triangles is loaded alone, as the process in the background loads it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from nav.agent import FORWARD, STOP, AgentConfig
from nav.buildings import building_names, load_building
from nav.env import NavVectorEnv
from nav.episode_files import EpisodeSource, ScanEpisodes
from nav.export import building_glb
from nav.sharing import Loader, Sharing
from nav.table import default_config
from rearrange.command_line import OneLineParser, check_counts, output_console, output_file
from rearrange.render.meshes.gltf import read_gltf
from rearrange.scenes.registry import check_split
from skills.command import run_command
from skills.provenance import made, write_result

TASK = "pointnav"
STOP_CHANCE = 0.01
FILES = 8  # scenes of triangles
SAMPLES = 60  # of the memory, in each half
WARM_UP = 3  # steps of all agents before anything counts
MB = 2**20


def divided(corners: np.ndarray, count: int) -> np.ndarray:
    """Triangles [T, 3, 3] of which the largest were divided in four until there are so many or a few more."""
    while len(corners) < count:
        sides = corners[:, 1:] - corners[:, :1]
        areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
        order = np.argsort(-areas, kind="stable")
        chosen = order[: -(-(count - len(corners)) // 3)]
        a, b, c = np.moveaxis(corners[chosen], 1, 0)
        ab, bc, ca = (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0
        parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        new = [np.stack(part, axis=1) for part in parts]
        corners = np.concatenate([corners[order[len(chosen) :]], *new])
    return corners


def write_scene(path: Path, building: str, count: int) -> int:
    """Write a home as a file of about so many triangles; returns how many."""
    import trimesh

    path.write_bytes(building_glb(load_building(building)))
    pieces = read_gltf(path, np.eye(3), textured=False)
    corners = divided(np.concatenate([piece.corners for piece in pieces]), count)
    faces = np.arange(3 * len(corners)).reshape(-1, 3)
    trimesh.Trimesh(corners.reshape(-1, 3), faces, process=False).export(path)
    return len(corners)


def loading(load: Loader, path: Path) -> dict[str, float]:
    """Seconds for a scene, the second time: the first one compiles."""
    for _ in range(2):
        begin, busy = time.perf_counter(), time.process_time()
        scan: Any = load(str(path))
        seconds, cpu = time.perf_counter() - begin, time.process_time() - busy
    library = scan.meshes.library.packed
    return {
        "triangles": scan.triangles,
        "file_mb": path.stat().st_size / MB,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "meshes_mb": sum(part.nbytes for part in library) / MB,
    }


def resident(pid: int | None) -> float:
    """Memory of a process, its part of what is shared [MB]; 0 where that is not told."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


class Clock:
    """Seconds by the clock and of this thread's processor time."""

    def __init__(self) -> None:
        """Begin."""
        self._begin = time.perf_counter(), time.thread_time()

    def read(self) -> tuple[float, float]:
        """Both, since it began."""
        return time.perf_counter() - self._begin[0], time.thread_time() - self._begin[1]


def measure(
    options: Any, sharing: Sharing, agents: int, files: EpisodeSource | None
) -> dict[str, Any]:
    """Step for half of the time, and tell of all steps."""
    agent = AgentConfig(camera_size=options.size)
    env = NavVectorEnv(
        agents, TASK, None, options.split, agent=agent, files=files, threads=1, sharing=sharing
    )
    shared = env.shared
    assert shared is not None
    rng, tick, swaps = np.random.default_rng(options.seed), shared.tick, []

    def timed() -> None:
        clock = Clock()
        tick()
        swaps.append(clock.read())

    env.reset(seed=options.seed)
    shared.tick = timed  # pyright: ignore[reportAttributeAccessIssue]
    steps: list[tuple[float, float]] = []
    replaced: list[bool] = []
    memory: list[tuple[float, float, float]] = []
    present: list[int] = []
    whole, limit = Clock(), 30.0 * options.minutes
    while whole.read()[0] < limit or len(steps) <= WARM_UP:
        actions = rng.integers(FORWARD, FORWARD + 3, agents)
        actions[rng.random(agents) < STOP_CHANCE] = STOP
        before, clock = shared.replaced, Clock()
        env.step(actions)
        steps.append(clock.read())
        replaced.append(shared.replaced > before)
        present.append(len({id(each) for each in env.worlds.bank.scenes.values()}))
        if whole.read()[0] >= len(memory) * limit / SAMPLES:
            own, others = resident(os.getpid()), resident(shared.pid)
            minutes = whole.read()[0] / 60.0
            memory.append((round(minutes, 3), round(own, 1), round(others, 1)))
    seconds, busy = whole.read()
    told = {
        "agents": agents, "scenes": sharing.scenes, "steps_of_a_scene": sharing.steps,
        "there": len(files.files) if isinstance(files, ScanEpisodes) else len(env._worlds.names),
        "minutes": seconds / 60.0, "steps": len(steps), "replaced": shared.replaced,
        "waits": shared.waits, "waited_s": shared.waited_s, "most_scenes_at_once": max(present),
        "images_per_s": agents * len(steps) / seconds,
        "images_per_cpu_s": agents * len(steps) / busy,
        **pauses(np.array(steps), np.array(swaps), np.array(replaced)),
        "memory": flatness(np.array(memory)), "memory_mb": memory,
    }  # fmt: skip
    env.close()
    return told


def pauses(steps: np.ndarray, swaps: np.ndarray, replaced: np.ndarray) -> dict[str, Any]:
    """Milliseconds of steps and of replacements in them [S, 2], by the clock and of the processor."""
    steps, swaps, replaced = steps[WARM_UP:], swaps[WARM_UP:], replaced[WARM_UP:]
    found: dict[str, Any] = {}
    for name, column in (("clock", 0), ("cpu", 1)):
        own, quiet = 1000.0 * steps[:, column], 1000.0 * steps[~replaced, column]
        busy, swap = own[replaced], 1000.0 * swaps[replaced, column]
        found[f"ms_{name}"] = {
            "median_step": float(np.median(quiet)),
            "longest_step": float(quiet.max()),
            "median_replacing": float(np.median(busy)) if len(busy) else None,
            "longest_replacing": float(busy.max(initial=0.0)) if len(busy) else None,
            "pause": float(busy.max() - np.median(quiet)) if len(busy) else None,
            "longest_swap": float(swap.max()) if len(swap) else None,
        }
    return found


def flatness(memory: np.ndarray) -> dict[str, float]:
    """Memory of both processes together in the second and in the last quarter of the time [MB]."""
    both = memory[:, 1:].sum(axis=1)
    quarter = max(1, len(both) // 4)
    return {
        "second_quarter_mb": float(
            both[quarter : 2 * quarter].mean() if len(both) > 1 else both[0]
        ),
        "last_quarter_mb": float(both[-quarter:].mean()),
        "most_mb": float(both.max()),
    }


def show(record: dict[str, Any]) -> None:
    """Print a row for each kind of scenes."""
    table = Table(title="scenes shared and replaced, one thread")
    for name in ("scenes", "N", "K", "images/s", "replaced", "waits", "step ms",
                 "pause ms", "its CPU", "swap CPU ms", "MB", "at the end"):  # fmt: skip
        table.add_column(name, justify="left" if name == "scenes" else "right")
    for name, row in record["rows"].items():
        clock, cpu = row["ms_clock"], row["ms_cpu"]
        numbers = [clock["median_step"], clock["pause"], cpu["pause"], cpu["longest_swap"]]
        table.add_row(
            name, str(row["agents"]), str(row["scenes"]),
            f"{row['images_per_s']:,.0f}", str(row["replaced"]), str(row["waits"]),
            *("-" if each is None else f"{each:.1f}" for each in numbers),
            f"{row['memory']['second_quarter_mb']:,.0f}", f"{row['memory']['last_quarter_mb']:,.0f}",
        )  # fmt: skip
    output_console().print(table)
    one = record["loading"]
    print(
        f"{one['triangles']:,} triangles are loaded in {one['seconds']:.1f} s "
        f"({one['cpu_seconds']:.1f} s of a processor), their meshes have {one['meshes_mb']:.0f} MB"
    )


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line."""
    parser = OneLineParser(prog="benchmarks.scenes", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="all together (10)")
    parser.add_argument("--agents", type=int, default=128, metavar="N", help="in homes (128)")
    parser.add_argument("--scenes", type=int, default=4, metavar="K", help="of homes (4)")
    parser.add_argument("--steps", type=int, default=400, help="sharing.steps in homes (400)")
    parser.add_argument("--scan-agents", type=int, default=32, help="in triangles (32)")
    parser.add_argument("--scan-scenes", type=int, default=2, help="of triangles (2)")
    parser.add_argument(
        "--scan-steps", type=int, default=600, help="sharing.steps in triangles (600)"
    )
    parser.add_argument("--triangles", type=int, default=600_000, help="of a scene (600000)")
    parser.add_argument("--size", type=int, default=64, help="of images, pixels (64)")
    parser.add_argument("--split", default="val", help="whose homes (val)")
    parser.add_argument("--seed", type=int, default=1, help="of scenes, episodes and actions (1)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    counts = "agents", "scenes", "steps", "scan_agents", "scan_scenes", "scan_steps"
    check_counts(options, *counts, "triangles", "size")
    check_split(options.split)
    if not 0.0 < options.minutes < 10_000.0:
        parser.error(f"--minutes must be above 0, found {options.minutes:g}")
    return options


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    options = parse(arguments)
    origin = made(
        "benchmarks.scenes", arguments, what="scenes shared", seed=options.seed, split=options.split
    )
    homes = Sharing(options.scenes, options.steps)
    scans = Sharing(options.scan_scenes, options.scan_steps)
    before = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="scenes-") as folder:
        for n, name in enumerate(building_names("generated", options.split)[:FILES]):
            write_scene(Path(folder, f"{n}.glb"), name, options.triangles)
            print(f"scene {n + 1} of {FILES} is written", file=sys.stderr, flush=True)
        load = Loader(TASK, default_config(TASK), AgentConfig(camera_size=options.size), True)
        record = {
            "made": origin,
            "settings": vars(options),
            "loading": loading(load, Path(folder, "0.glb")),
            "rows": {
                "homes": measure(options, homes, options.agents, None),
                "triangles": measure(
                    options, scans, options.scan_agents, ScanEpisodes(TASK, "", folder)
                ),
            },
            "other_work": {
                "nice": os.nice(0), "load_average": {"before": before, "after": os.getloadavg()},
            },
        }  # fmt: skip
    show(record)
    if options.json:
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
