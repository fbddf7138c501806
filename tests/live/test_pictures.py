"""The page in a real browser, where a Chromium and playwright are installed."""

import threading
from contextlib import suppress
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageDraw

from live import pictures
from live.agents import make_agent
from live.episodes import Episodes
from live.pace import NextEpisode
from rearrange.errors import UserError


@pytest.fixture
def tab(page):
    """The page in a browser, with a robot before a fridge that waits to be driven, for ever."""
    pytest.importorskip("playwright", reason="no playwright is installed: pip install playwright")
    try:
        pictures.find_chromium()
    except UserError as error:
        pytest.skip(str(error))
    agent = make_agent("drive", Episodes.find("open_fridge", "val", None), page)
    page.pace.speed = 0.5

    def play():
        with suppress(NextEpisode):
            agent.play(0, page.show)

    playing = threading.Thread(target=play)
    playing.start()
    try:
        with pictures.looking_at(f"http://127.0.0.1:{page.port}") as tab:
            yield tab
    finally:
        page.pace.leave()
        playing.join()


@pytest.mark.slow
def test_a_browser_shows_the_world_and_its_buttons_act(page, tab):
    tab.get_by_text("open fridge").first.wait_for()
    tab.get_by_text("Action and reward").wait_for()
    tab.get_by_text("one step").click()  # pauses, too
    while not page.pace.paused:
        tab.wait_for_timeout(100.0)
    tab.wait_for_timeout(pictures.FOLDING_MS)
    before = pictures.step_of(tab)
    shown = np.asarray(Image.open(BytesIO(tab.screenshot())).convert("RGB"))
    scene = shown[60:-60, 20:580]  # beside the panel
    assert np.std(scene.reshape(-1, 3), axis=0).max() > 20.0
    assert len(np.unique(scene.reshape(-1, 3), axis=0)) > 500
    tab.get_by_text("one step").click()
    tab.wait_for_function(f"!document.body.innerText.includes('step {before} of')")
    assert pictures.step_of(tab) == before + 1


def test_a_small_picture_keeps_the_colours_of_a_panel():
    rng = np.random.default_rng(0)
    picture = Image.fromarray(rng.integers(90, 130, (200, 200, 3), np.uint8))
    ImageDraw.Draw(picture).rectangle((0, 0, 12, 12), fill=(34, 139, 230))
    kept = Image.open(BytesIO(pictures.small(picture))).convert("RGB")
    red, green, blue = (int(value) for value in kept.getpixel((5, 5)))  # type: ignore[union-attr]
    assert blue > 200
    assert red < 70
    assert 110 < green < 170


def test_pictures_that_there_are_not_are_refused():
    with pytest.raises(UserError, match="unknown picture 'homes': choose one of training"):
        pictures.main(["homes"])
