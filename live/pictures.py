"""`python -m live.pictures`: the pictures of docs/live.md, of the page in a Chromium without a window.

Needs playwright (`pip install 'rearrange[browser]'`) and the system's Chromium (`apt-get install chromium`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

from PIL import Image

from atomic_files import write_whole
from rearrange.command_line import OneLineParser, output_folder
from rearrange.errors import UserError, check_choice
from skills.command import run_command, short_path

NAMES = "chromium", "chromium-browser", "google-chrome"
# Draws in software: where there is no GPU, and as root in a container
FLAGS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)
SIZE = 940, 760  # pixels
PHONE = 390, 844  # pixels
WAIT_S = 600.0  # for a world, which may have to be compiled first
FADING_MS = 15_000  # until the scene has faded in, which viser lets it do
FOLDING_MS = 4000  # until what was clicked at is drawn, on a busy machine without a GPU
TITLE = re.compile(r"step ([\d,]+) of")


@dataclass(frozen=True)
class Shot:
    """A picture.

    Attributes:
        command: Of `python -m`, which prints the page's address; "{run}" becomes an empty folder.
        steps: Of the episode, after which it is taken.
        pauses: Whether the world pauses there by itself.
        words: That stand on the page then.
        wait_s: How much later it is taken.
        keys: That are pressed before, one after the other.
        folded: Folders of the panel that make room for others.
    """

    command: str
    steps: int
    pauses: bool = True
    words: str = ""
    wait_s: float = 0.0
    keys: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()


SHOTS = {
    "training": Shot(
        "skills.train pick live=true run={run} trainer.system=batched "
        "trainer.collect.num_environments=4 trainer.collect.rollout_length=16",
        steps=10, pauses=False, words="success 0", wait_s=30.0,
    ),
    "plan": Shot(
        "live tidy_house --replan", 420, folded=("Time", "Episode")
    ),
    "replay": Shot("live --replay results/open_fridge.json", 30),
    "drive": Shot(
        "live open_fridge --agent drive", 40, False, keys=("ArrowUp",) * 8 + ("i",) * 4
    ),
    "objectnav": Shot("live objectnav", 12),
}  # fmt: skip


def find_chromium() -> str:
    """The system's Chromium; UserError where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise UserError("no Chromium is installed: apt-get install chromium")
    return found


@contextmanager
def looking_at(address: str, size: tuple[int, int] = SIZE) -> Iterator[Any]:
    """A page in a browser without a window, as playwright's `Page`, where the world is drawn.

    Raises:
        UserError: No playwright or no Chromium is installed.
    """
    try:
        from playwright.sync_api import sync_playwright  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise UserError("no playwright is installed: pip install playwright") from None
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        tab = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)))
        tab.set_default_timeout(WAIT_S * 1000)
        tab.goto(address)
        tab.wait_for_selector("canvas")
        tab.get_by_text(TITLE).first.wait_for()
        # viser's remark that there is no GPU
        tab.add_style_tag(content=".mantine-Notifications-root { display: none }")
        yield tab
        browser.close()


def step_of(tab: Any) -> int:
    """The step of the episode that the page shows."""
    found = TITLE.search(tab.get_by_text(TITLE).first.inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


@contextmanager
def serving(command: str) -> Iterator[str]:
    """Run a command of ours; gives the address of the page that it prints."""
    words = [sys.executable, "-u", "-m", *command.split()]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        assert run.stdout is not None
        told: list[str] = []
        try:
            for line in run.stdout:
                told.append(line)
                if line.startswith("http://"):
                    break
            else:
                raise UserError(f"{command}: {' '.join(told[-1:]).strip()}")
            yield line.split()[0]
        finally:
            run.terminate()
            run.communicate()


def take(shot: Shot, size: tuple[int, int]) -> bytes:
    """Take a picture, a PNG."""
    halt = f" --pause-at {shot.steps}" if shot.pauses else ""
    with (
        tempfile.TemporaryDirectory() as run,
        serving(shot.command.format(run=f"{run}/training") + halt) as address,
        looking_at(address, size) as tab,
    ):
        tab.wait_for_timeout(FADING_MS)
        for key in shot.keys:
            tab.keyboard.press(key)
        if shot.words:
            tab.get_by_text(shot.words).first.wait_for()
            tab.wait_for_timeout(1000.0 * shot.wait_s)
        until = time.monotonic() + WAIT_S
        while step_of(tab) < shot.steps and time.monotonic() < until:
            tab.wait_for_timeout(500.0)
        if not shot.pauses:
            tab.keyboard.press("Space")
        for title in shot.folded:
            tab.get_by_text(title, exact=True).first.click()
            tab.wait_for_timeout(FOLDING_MS)
        tab.wait_for_timeout(FOLDING_MS)
        return small(Image.open(BytesIO(tab.screenshot())))


def small(picture: Image.Image) -> bytes:
    """A picture as a PNG of few bytes: most colours of its palette are the scene's, some the panel's."""
    palette = Image.new("P", (1, 1))
    parts = (224, Image.Quantize.MEDIANCUT), (32, Image.Quantize.MAXCOVERAGE)
    picture = picture.convert("RGB")
    found = ((picture.quantize(n, way).getpalette() or [])[: 3 * n] for n, way in parts)
    palette.putpalette([*chain.from_iterable(found)])
    written = BytesIO()
    drawn = picture.quantize(palette=palette, dither=Image.Dither.NONE)
    drawn.save(written, "PNG", optimize=True)
    return written.getvalue()


def main(arguments: Sequence[str]) -> int:
    """Take the pictures that are named."""
    parser = OneLineParser(prog="live.pictures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SHOTS)} (all)")
    parser.add_argument("--phone", action="store_true", help="as on an upright small screen")
    parser.add_argument("--output", type=output_folder, default=Path("docs"), metavar="DIR")
    options = parser.parse_args(arguments)
    for name in options.names:
        check_choice("picture", name, SHOTS)
    for name in options.names or SHOTS:
        path = options.output / f"live_{name}.png"
        picture = take(SHOTS[name], PHONE if options.phone else SIZE)
        write_whole(path, picture)
        print(f"{short_path(path)}: {len(picture) / 1e3:.0f} kB", flush=True)
    return 0


if __name__ == "__main__":
    run_command(main)
