"""The page of all settings is what the code says."""

from dataclasses import dataclass, field

from skills.settings_table import about, page, rows, trained
from skills.train import load_stages
from tests.helpers import ROOT


@dataclass
class Part:
    width: int = 3  # of it


@dataclass
class Whole:
    # Said above,
    # in two lines
    name: str = "a|b"
    mode: str = "ver"  # beside a default on its own line
    rate: float = 1e-3  # beside it: a <rate>
    parts: list[int] = field(default_factory=list)
    part: Part = field(default_factory=Part)  # not told, its fields are


def test_comments_above_and_beside_a_setting_are_its_meaning():
    assert about(Whole) == {
        "name": "Said above, in two lines",
        "mode": "beside a default on its own line",
        "rate": "beside it: a <rate>",
        "parts": "",
        "part": "not told, its fields are",
    }


def test_every_setting_has_a_row_and_those_in_groups_a_dotted_one():
    own = {"x.part.width": "`4`: pick"}
    assert list(rows(Whole, "", {"parts"}, "x.", own)) == [
        "| `x.name` | `a|b` |  | Said above, in two lines |  |",
        "| `x.mode` | `ver` |  | beside a default on its own line |  |",
        "| `x.rate` | 0.001 |  | beside it: a &lt;rate> |  |",
        "| `x.part.width` | `3` |  | of it | `4`: pick |",
    ]


def test_ranges_and_choices_are_told():
    text = page()
    assert "| `trainer.ppo.gamma` | 0.99 | at least 0 and at most 1 | discount |  |" in text
    assert "| `trainer.tracker` | `none` | none, wandb, trackio |" in text


def test_every_row_says_what_it_means():
    for line in page().splitlines():
        if line.startswith("| `"):
            assert line.rsplit("|", 3)[1].strip(), line


def test_what_skills_set_is_told_with_their_names():
    own = trained()
    assert own["trainer.collect.num_environments"] == "`32`: all"
    assert "0.85: place" in own["trainer.network.binary_threshold"]
    budgets = [stage.trainer.total_steps for stage in load_stages("navigate") if not stage.teacher]
    told = ", ".join(f"`{steps}`" for steps in budgets)
    assert own["trainer.total_steps"].startswith(f"{told}: navigate; ")
    assert own["cloning.updates"].startswith("`800`: navigate")
    assert own["trainer.ppo.gamma"] == ""


def test_the_page_in_the_docs_is_the_codes():
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == page()
