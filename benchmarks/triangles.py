"""`python -m benchmarks.triangles`: depth images of triangle meshes on one core, beside Embree.

The scene is a furnished room, walls, boxes, balls and rings, finer or coarser tessellated. Cameras stand in it
at head height and look around. Each repeat draws the same images three ways, in turn: by the caster's trees
from front to back (`render_depth`), by its single rays (`cast_rays`), and by Embree (`embreex`, if it is
installed), one call from Python per image, its rays made beforehand. The depths are compared, too.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.calibration import fixed_work
from rearrange.command_line import OneLineParser, output_file
from rearrange.render import Camera, GeomTable, look_at, render_depth
from rearrange.render.meshes import MeshGeoms, MeshLibrary, cast_rays, mesh_of_arrays
from skills.command import run_command
from skills.provenance import made, write_result

Array = np.ndarray
ROOM = np.array((4.0, 3.0, 1.35))  # half sides [m]
PIECES = 60  # of furniture
WALL_SHARE = 0.1  # of the triangles
FIELD_OF_VIEW, NEAR, FAR = 90.0, 0.001, 20.0  # [deg], [m], [m]
OURS, RAYS, EMBREE = "caster", "single rays", "embreex"


def patch(points: Array) -> tuple[Array, Array]:
    """Vertices and triangles of a sheet of points [n, m, 3]."""
    n, m, _ = points.shape
    corner = (np.arange(n - 1)[:, None] * m + np.arange(m - 1)).ravel()
    first = np.stack([corner, corner + m, corner + 1], axis=1)
    second = np.stack([corner + 1, corner + m, corner + m + 1], axis=1)
    return points.reshape(-1, 3), np.concatenate([first, second])


def box(half: Array, triangles: float) -> list[tuple[Array, Array]]:
    """The six sides of a box around the origin."""
    n = max(1, round(math.sqrt(triangles / 12)))
    u, v = np.meshgrid(np.linspace(-1, 1, n + 1), np.linspace(-1, 1, n + 1), indexing="ij")
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            points = np.empty((n + 1, n + 1, 3))
            points[..., axis] = sign
            points[..., axis - 2], points[..., axis - 1] = u, v
            sides.append(patch(points * half))
    return sides


def ball(radius: float, triangles: float) -> list[tuple[Array, Array]]:
    """A ball around the origin."""
    n = max(3, round(math.sqrt(triangles / 4)))
    polar, around = np.meshgrid(
        np.linspace(0, np.pi, n + 1), np.linspace(0, 2 * np.pi, 2 * n + 1), indexing="ij"
    )
    rim = np.sin(polar)
    return [
        patch(radius * np.stack([rim * np.cos(around), rim * np.sin(around), np.cos(polar)], -1))
    ]


def ring(radius: float, thickness: float, triangles: float) -> list[tuple[Array, Array]]:
    """A torus around the origin."""
    n = max(3, round(math.sqrt(triangles / 4)))
    across, around = np.meshgrid(
        np.linspace(0, 2 * np.pi, n + 1), np.linspace(0, 2 * np.pi, 2 * n + 1), indexing="ij"
    )
    rim = radius + thickness * np.cos(across)
    return [
        patch(
            np.stack(
                [rim * np.cos(around), rim * np.sin(around), thickness * np.sin(across)], axis=-1
            )
        )
    ]


def furnished_room(triangles: int, seed: int) -> tuple[Array, Array]:
    """Vertices [V, 3] (m) and faces [T, 3] of a room with about so many triangles."""
    rng = np.random.default_rng(seed)
    parts = box(ROOM, WALL_SHARE * triangles)
    each = (1.0 - WALL_SHARE) * triangles / PIECES
    for piece in range(PIECES):
        size = rng.uniform(0.12, 0.45)
        shapes = (
            box(rng.uniform(0.3, 1.0, 3) * size, each),
            ball(size * 0.8, each),
            ring(size, 0.3 * size, each),
        )
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        place = rng.uniform(-0.85, 0.85, 3) * ROOM
        parts += [(points @ turn.T + place, faces) for points, faces in shapes[piece % 3]]
    starts = np.cumsum([0, *(len(points) for points, _ in parts)])
    return (
        np.concatenate([points for points, _ in parts]),
        np.concatenate([faces + start for (_, faces), start in zip(parts, starts, strict=False)]),
    )


def views(count: int, seed: int) -> list[tuple[Array, Array]]:
    """Positions [3] and rotations [3, 3] of cameras in the room."""
    rng, found = np.random.default_rng(seed + 1), []
    for _ in range(count):
        eye = rng.uniform(-0.8, 0.8, 3) * ROOM * (1, 1, 0.2)
        yaw = rng.uniform(-np.pi, np.pi)
        ahead = (math.cos(yaw), math.sin(yaw), rng.uniform(-0.4, 0.1))
        found.append((eye, look_at(eye, eye + ahead)))
    return found


class EmbreeScene:
    """The same triangles in Embree."""

    def __init__(self, vertices: Array, faces: Array) -> None:
        """Build its tree."""
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene as Scene

        self._scene = Scene()
        self._mesh = TriangleMesh(self._scene, vertices[faces].astype(np.float32))
        ray = np.array([(1.0, 0.0, 0.0)], np.float32)
        self.cast(np.zeros_like(ray), ray)  # builds

    def cast(self, origins: Array, directions: Array) -> Array:
        """Distances [R] in lengths of the directions, float32."""
        return self._scene.run(origins, directions, query="DISTANCE")


class Runner:
    """One room, seen by all ways at one image size."""

    def __init__(
        self, table: GeomTable, embree: EmbreeScene | None, size: int, options: Any
    ) -> None:
        """Prepare the rays and compile what is needed."""
        self.table, self.embree, self.camera = table, embree, Camera(size, size, FIELD_OF_VIEW)
        self.views = views(options.views, options.seed)
        self.rays = [
            (np.tile(eye, (size * size, 1)), self.camera.rays().reshape(-1, 3) @ turn.T)
            for eye, turn in self.views
        ]
        self.single = [(o.astype(np.float32), d.astype(np.float32)) for o, d in self.rays]
        self.ways: dict[str, Callable[[int], Array]] = {OURS: self.image, RAYS: self.each_ray}
        if embree is not None:
            self.ways[EMBREE] = lambda k: embree.cast(*self.single[k])
        self.agreement = {name: self._compare(way) for name, way in self.ways.items()}

    def image(self, k: int) -> Array:
        """Depth of view k."""
        pose = (np.zeros((1, 3)), np.eye(3).reshape(1, 9), self.camera, *self.views[k])
        return render_depth(self.table, *pose, near=NEAR, far=FAR)

    def each_ray(self, k: int) -> Array:
        """The same, ray by ray."""
        meshes = self.table.meshes
        assert meshes is not None
        found = cast_rays(meshes, np.zeros((1, 3)), np.eye(3), *self.rays[k], near=NEAR, far=FAR)
        return found[0]

    def _compare(self, way: Callable[[int], Array]) -> dict[str, float]:
        """Distance of depths from those of single rays."""
        off = np.concatenate(
            [np.abs(way(k).ravel() - self.each_ray(k)) for k in range(len(self.views))]
        )
        return {
            "p999_m": float(np.percentile(off, 99.9)),
            "largest_m": float(off.max()),
            "beyond_1_mm": float((off > 1e-3).mean()),
        }

    def repeat(self) -> dict[str, float]:
        """Seconds for an image by each way, and for a fixed piece of work."""
        found = {}
        for name, way in (*self.ways.items(), ("calibration", lambda k: fixed_work())):
            begin = time.perf_counter()
            for k in range(len(self.views)):
                way(k)
            found[name] = (time.perf_counter() - begin) / len(self.views)
        return found


def measure(triangles: int, options: Any) -> dict[str, Any]:
    """Build a room and draw it in all sizes."""
    vertices, faces = furnished_room(triangles, options.seed)
    MeshLibrary.of([mesh_of_arrays(*furnished_room(100, 0))])  # compiles
    begin = time.perf_counter()
    table = GeomTable.of_meshes(MeshGeoms.of(MeshLibrary.of([mesh_of_arrays(vertices, faces)])))
    built, embree, embree_built = time.perf_counter() - begin, None, None
    if find_spec("embreex") is not None:
        begin = time.perf_counter()
        embree = EmbreeScene(vertices, faces)
        embree_built = time.perf_counter() - begin
    assert table.meshes is not None
    size = sum(values.nbytes for values in table.meshes.library.packed)
    record: dict[str, Any] = {
        "triangles": len(faces), "build_s": built, "embreex_build_s": embree_built,
        "resident_mb": size / 2**20, "sizes": {},
    }  # fmt: skip
    for size in options.sizes:
        runner = Runner(table, embree, size, options)
        runs = [runner.repeat() for _ in range(options.repeats)]
        record["sizes"][str(size)] = summarise(runs, size * size) | {"agreement": runner.agreement}
        print(f"{len(faces)} triangles, {size}x{size}: done", file=sys.stderr, flush=True)
    return record


def summarise(runs: list[dict[str, float]], rays: int) -> dict[str, Any]:
    """Medians over the repeats, and the speed of the caster over Embree's in each repeat."""
    seconds = {name: [run[name] for run in runs] for name in runs[0]}
    found: dict[str, Any] = {
        name: {
            "images_per_s": float(1.0 / np.median(values)),
            "rays_per_s": float(rays / np.median(values)),
        }
        for name, values in seconds.items()
        if name != "calibration"
    }
    ticks = seconds["calibration"]
    found["machine_slowdown"] = float(np.mean(ticks) / np.min(ticks))
    if EMBREE in seconds:
        ratios = np.array(seconds[EMBREE]) / np.array(seconds[OURS])
        found["caster_over_embreex"] = {
            "median": float(np.median(ratios)),
            "low": float(ratios.min()),
            "high": float(ratios.max()),
        }
    return found


def show(record: dict[str, Any]) -> None:
    """Print a row for each room and image size."""
    table = Table(title="depth images of a furnished room, one core")
    columns = ("build s", "MB", "image", OURS, RAYS, EMBREE, "caster / embreex", "off > 1 mm")
    for name in ("triangles", *columns, "slowdown"):
        table.add_column(name, justify="right")
    for room in record["rooms"]:
        for size, row in room["sizes"].items():
            ratio = row.get("caster_over_embreex")
            table.add_row(
                f"{room['triangles']:,}",
                f"{room['build_s']:.2f}",
                f"{room['resident_mb']:.0f}",
                f"{size}x{size}",
                *(f"{row[name]['images_per_s']:,.0f}/s" if name in row else "-"
                  for name in (OURS, RAYS, EMBREE)),
                f"{ratio['median']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]" if ratio else "-",
                f"{row['agreement'][OURS]['beyond_1_mm']:.1e}",
                f"{row['machine_slowdown']:.2f}",
            )  # fmt: skip
    console = Console()
    (console if console.is_terminal else Console(width=150)).print(table)
    print(
        "off > 1 mm: share of the caster's pixels; slowdown: of a fixed piece of work by what else ran"
    )


def whole_numbers(text: str) -> list[int]:
    """Numbers with commas between them."""
    return [int(word) for word in text.split(",")]


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    parser = OneLineParser(prog="benchmarks.triangles", description=__doc__)
    parser.add_argument("--triangles", type=whole_numbers, default=[10_000, 100_000, 600_000])
    parser.add_argument("--sizes", type=whole_numbers, default=[64, 128], help="of images, pixels")
    parser.add_argument("--views", type=int, default=40, help="images of each room")
    parser.add_argument("--repeats", type=int, default=5, help="how often all are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    if min(*options.triangles, *options.sizes, options.views, options.repeats) < 1:
        parser.error("--triangles, --sizes, --views and --repeats must be at least 1")
    origin = made("benchmarks.triangles", arguments, what="triangles", seed=options.seed)
    record = {
        "made": origin,
        "settings": vars(options),
        "rooms": [measure(count, options) for count in options.triangles],
    }
    show(record)
    if options.json:
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
