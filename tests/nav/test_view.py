"""Sheets of navigation tasks."""

import numpy as np
import pytest
from PIL import Image

from nav import view
from nav.table import TASKS
from rearrange.errors import UserError
from rearrange.navigation.map import PATH, ROBOT
from tests.helpers.colours import colours_of


@pytest.mark.parametrize("task", TASKS)
def test_a_sheet_shows_the_agent_and_its_way(task, tmp_path, capsys):
    path = tmp_path / "new" / "sheet.png"
    view.main([task, "--homes", "classic", "--steps", "30", "--output", str(path)])
    assert capsys.readouterr().out.strip() == str(path)
    pixels = np.asarray(Image.open(path))
    assert {PATH, ROBOT} <= colours_of(pixels)
    assert pixels[60:400, 20:360].std() > 10  # what it sees


def test_facts_say_what_is_asked_for():
    options = view.parse(["objectnav", "--homes", "classic"])
    assert options.steps == 0
    env = view.NavEnv("pointnav", split="val", homes="classic")
    env.reset(seed=0)
    told = view.facts(env, 0)
    assert told[0].startswith("goal: (")
    assert "shortest way that is left" in told[1]


def test_a_picture_of_another_kind_is_refused():
    with pytest.raises(UserError, match=r"--output must end in \.png"):
        view.parse(["pointnav", "--output", "x.jpg"])
