"""`python -m skills.segmenter`: train the network that makes ObjectNav's goal mask from colours and depth.

Pictures are drawn in training buildings, with the true label of each pixel: half of them from anywhere, half
towards a thing, each category as likely as the others. The network learns to tell the labels
(nav/segmenter.py). Other pictures, of --split, judge it.
`agent.segmenter=FILE` takes it in trainings and evaluations of ObjectNav.
"""

from __future__ import annotations

import math
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from nav.buildings import building_names
from nav.categories import CATEGORIES
from nav.objectnav import ObjectNav
from nav.scene import Scene
from nav.segmenter import LABELS, Segmenter, inputs, lens_of, save_segmenter
from nav.worlds import AgentWorlds
from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.scenes.registry import DEFAULT_HOMES
from skills.command import Slowly, run_command
from skills.provenance import add_homes, check_homes_asked, made, write_result

TOGETHER = 64  # pictures that are drawn at once
BATCH = 32  # pictures of one step of learning
BUILDINGS = 16  # that they are of
JUDGED = 2000  # pictures
LEARNING_RATE = 2.0e-3
CANDIDATES = 32  # free places among which one near a thing is looked for
# How far away [m] and how far from the middle of the picture [rad] it may be
NEAR, ASIDE = 5.0, 0.5
RAREST = 1.0e-3  # share of pixels; rarer labels weigh no more in the loss
TILTS = (-1, 0, 1)  # times the agent's tilt
OTHER = 1_000_003  # added to the seed of pictures that judge


class Pictures(NamedTuple):
    """Pictures and what their pixels show.

    Attributes:
        rgb: [N, H, W, 3] uint8.
        depth: In units of the agent's range [N, H, W, 1] float16.
        labels: 1 + index in CATEGORIES, 0 for all else [N, H, W] uint8.
    """

    rgb: np.ndarray
    depth: np.ndarray
    labels: np.ndarray

    def take(self, some: Any) -> tuple[Tensor, Tensor]:
        """Inputs of the network, and labels [n, H, W] int64."""
        x = inputs(self.rgb[some], self.depth[some].astype(np.float32))
        return x, torch.from_numpy(self.labels[some].astype(np.int64))


def agent_config() -> Any:
    """ObjectNav's agent, which sees colours."""
    return replace(ObjectNav.agent_config(), rgb=True)


def draw_pictures(count: int, split: str, homes: str, seed: int) -> Pictures:
    """Pictures in a split's buildings, see `_view`."""
    batches = list(_batches(-(-count // TOGETHER), building_names(homes, split), seed))
    return Pictures(*(np.concatenate(parts)[:count] for parts in zip(*batches, strict=True)))


def _batches(number: int, names: Sequence[str], seed: int) -> Iterator[Pictures]:
    rng, config = np.random.default_rng(seed), agent_config()
    worlds, slowly = AgentWorlds(TOGETHER, config), Slowly(_say)
    for k in range(number):
        slowly(f"drawing pictures: {k * TOGETHER:,} of {number * TOGETHER:,}")
        for first in range(0, TOGETHER, TOGETHER // BUILDINGS):
            scene = worlds.load(names[int(rng.integers(len(names)))])
            for i in range(first, first + TOGETHER // BUILDINGS):
                worlds.place(i, scene.name, _view(scene, rng))
        worlds.tilts[:] = math.radians(config.tilt) * rng.choice(TILTS, TOGETHER)
        images = worlds.new_images()
        worlds.draw(images)
        labels = worlds.categories_in_view()
        yield Pictures(images["rgb"], images["depth"].astype(np.float16), labels)
    worlds.close()


def _view(scene: Scene, rng: np.random.Generator) -> tuple[float, float, float]:
    """A free pose that looks anywhere, or in one of two cases roughly at a thing within NEAR metres."""
    points = scene.sample_points(rng, CANDIDATES)
    if scene.objects and rng.random() < 0.5:
        there = sorted({each.category for each in scene.objects})
        category = there[int(rng.integers(len(there)))]
        things = [each for each in scene.objects if each.category == category]
        x, y, _ = things[int(rng.integers(len(things)))].position
        away = np.hypot(*(points - (x, y)).T)
        place = points[int(np.maximum(away, NEAR).argmin())]  # all within NEAR are as good
        turn = rng.uniform(-1.0, 1.0) * ASIDE
        return (*place.tolist(), math.atan2(y - place[1], x - place[0]) + turn)
    return (*points[0].tolist(), float(rng.uniform(-math.pi, math.pi)))


def _weights(pictures: Pictures) -> Tensor:
    """Of the labels in the loss [LABELS]: the square root of how rare each is, as far as there is any."""
    shares = np.bincount(pictures.labels.ravel(), minlength=LABELS) / pictures.labels.size
    return torch.from_numpy(np.where(shares > 0.0, np.maximum(shares, RAREST) ** -0.5, 0.0)).float()


def learn(pictures: Pictures, epochs: int, seed: int) -> Segmenter:
    """A network that has seen all pictures so many times."""
    torch.manual_seed(seed)
    segmenter = Segmenter(lens_of(agent_config()))
    count, rng = len(pictures.rgb), np.random.default_rng(seed)
    steps = epochs * -(-count // BATCH)
    optimiser = torch.optim.Adam(segmenter.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    weights = _weights(pictures)
    done, slowly = 0, Slowly(_say)
    for _ in range(epochs):
        order = rng.permutation(count)
        for first in range(0, count, BATCH):
            x, labels = pictures.take(order[first : first + BATCH])
            loss = nn.functional.cross_entropy(segmenter(x), labels, weights)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            done += 1
            slowly(f"learning: {done:,} of {steps:,} steps, loss {loss.item():.3f}")
    return segmenter.eval().requires_grad_(False)


def judge(segmenter: Segmenter, pictures: Pictures) -> dict[str, Any]:
    """Of each category the pixels' intersection over union, recall and precision, and the mean of the first."""
    table = np.zeros((LABELS, LABELS), np.int64)  # true label, told label
    for first in range(0, len(pictures.rgb), TOGETHER):
        some = slice(first, first + TOGETHER)
        told = segmenter.labels(pictures.rgb[some], pictures.depth[some].astype(np.float32))
        pairs = pictures.labels[some].astype(np.int64) * LABELS + told
        table += np.bincount(pairs.ravel(), minlength=LABELS**2).reshape(LABELS, LABELS)
    hits, true, told = table.diagonal(), table.sum(axis=1), table.sum(axis=0)
    rows = {
        name: {
            "pixels": int(true[k]),
            "iou": hits[k] / max(true[k] + told[k] - hits[k], 1),
            "recall": hits[k] / max(true[k], 1),
            "precision": hits[k] / max(told[k], 1),
        }
        for k, name in enumerate(CATEGORIES, 1)
        if true[k]
    }
    mean = float(np.mean([row["iou"] for row in rows.values()])) if rows else 0.0
    return {"accuracy": hits.sum() / max(true.sum(), 1), "mean_iou": mean, "categories": rows}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def parse(arguments: Sequence[str]) -> Namespace:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="skills.segmenter", description=__doc__)
    parser.add_argument(
        "--images", type=int, default=12_000, metavar="N", help="to learn from (12,000)"
    )
    parser.add_argument("--epochs", type=int, default=6, metavar="N", help="over them (6)")
    parser.add_argument(
        "--judged", type=int, default=JUDGED, metavar="N", help="that judge it (2,000)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of everything (1)")
    parser.add_argument(
        "--output", type=output_file, default="runs/segmenter.safetensors", metavar="FILE",
        help="where to keep it (runs/segmenter.safetensors)",
    )  # fmt: skip
    parser.add_argument("--json", type=output_file, metavar="FILE", help="also write its figures")
    add_homes(parser)
    options = parser.parse_args(arguments)
    options.homes = options.homes or DEFAULT_HOMES
    check_homes_asked(options)
    check_counts(options, "images", "epochs", "judged")
    return options


def main(arguments: Sequence[str]) -> int:
    """Draw, learn, judge, save."""
    options = parse(arguments)
    what = "objectnav: segmenter of the goal mask"
    where = {"split": options.split, "homes": options.homes, "release": options.release}
    origin = made("skills.segmenter", arguments, what=what, seed=options.seed, **where)
    begun = time.monotonic()
    pictures = draw_pictures(options.images, "train", options.homes, options.seed)
    segmenter = learn(pictures, options.epochs, options.seed)
    seconds = time.monotonic() - begun
    save_segmenter(segmenter, Path(options.output))
    others = draw_pictures(options.judged, options.split, options.homes, options.seed + OTHER)
    found = judge(segmenter, others)
    for name, row in found["categories"].items():
        print(
            f"{name:20} IoU {row['iou']:.2f}  recall {row['recall']:.2f}  precision {row['precision']:.2f}"
        )
    print(
        f"mean IoU {found['mean_iou']:.3f}, {found['accuracy']:.3f} of all pixels, {seconds / 60:.1f} minutes"
    )
    print(f"segmenter: {options.output}")
    if options.json:
        counts = {"images": options.images, "judged": options.judged, "minutes": seconds / 60}
        write_result(options.json, {"made": origin, **counts, **found})
    return 0


if __name__ == "__main__":
    run_command(main)
