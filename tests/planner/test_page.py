"""The web page of an evaluation: what stands on it, and that a browser shows it."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from planner import eval as command
from planner import page, scenarios
from rearrange.errors import UserError

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def result(monkeypatch, stage_factory, tmp_path):
    """Two episodes in a world without physics; the second pick is of a wrong object."""
    stage = stage_factory()
    monkeypatch.setattr(scenarios, "open_stage", lambda *_: stage)

    def take_another(world, argument):
        world.state.held_object[0] = argument.slot + 1

    stage.skills["pick"].misses, stage.skills["pick"].wrong = (1,), take_another
    path = tmp_path / "result.json"
    page_path = tmp_path / "report.html"
    arguments = ["tidy_house", "--workers", "1", "--episodes", "2", "--json", str(path)]
    assert command.main([*arguments, "--page", str(page_path)]) == 0
    found = json.loads(path.read_text())
    assert page_path.read_text() == page.page([found])
    return found


def pictures(html):
    """All SVG pictures, parsed as strictly as XML is."""
    found = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    return [ElementTree.fromstring(each) for each in found]


def test_the_page_says_what_was_found(result):
    html = page.page([result])
    assert "<h1>Tidy House</h1>" in html
    assert f"{result['full_task']['success_at_end']['mean']:.1%}</b>" in html
    assert "pick: wrong object" in html
    assert result["made"]["command"] in html
    labels = [each.get("aria-label") for each in pictures(html)]
    assert labels[0] == "success after every interaction"
    assert re.search(
        r'<span>pick: wrong object</span><i style="width:100.0%;background:#\w+"></i>', html
    )
    assert labels.count("steps and seconds") == 1
    assert {"hand-offs to pick", "hand-offs to place"} <= set(labels)
    assert [label for label in labels if label.startswith("episode ")] == [
        "episode 0: pick: wrong object",
        "episode 1: pick: wrong object",
    ]
    assert "http" not in html.replace("http-equiv", "")  # nothing is fetched


def test_hand_offs_are_those_from_navigation(result):
    starts = page.starts_of(result)
    assert {skill: len(each) for skill, each in starts.items()} == {"pick": 10, "place": 10}
    assert sum(start.success for start in starts["pick"]) < 10
    first = result["records"][0]["hand_offs"][0]
    assert (starts["pick"][0].distance, starts["pick"][0].heading) == (
        first["distance"],
        first["heading"],
    )


def test_names_cannot_break_the_page(result):
    result["row"] = "<script>alert(1)</script>"
    result["failures"] = {'pick: "<b>': 2}
    html = page.page([result])
    assert "<script" not in html
    pictures(html)


def test_films_are_in_the_page(result, tmp_path):
    film = tmp_path / "a.mp4"
    film.write_bytes(b"film")
    result["records"][0]["video"] = "a.mp4"
    result["records"][1]["video"] = "missing.mp4"
    html = page.page([result], tmp_path)
    assert html.count("<video") == 1
    assert "data:video/mp4;base64,ZmlsbQ==" in html


def test_films_come_with_a_legend(result, tmp_path):
    assert page.FILMS not in page.page([result])
    (tmp_path / "a.mp4").write_bytes(b"film")
    result["records"][0]["video"] = "a.mp4"
    assert page.FILMS in page.page([result], tmp_path)


def test_results_stand_side_by_side(result, tmp_path):
    other = result | {"row": "oracle"}
    html = page.page([result, other])
    (chart, *_) = pictures(html)
    assert len(chart.findall("polyline")) == 2
    with pytest.raises(UserError, match="different tasks: set_table, tidy_house"):
        page.page([result, result | {"task": "set_table"}])


def test_rates_are_compared_by_name(result):
    """A result without some interaction has a gap there; one of its own stands at the end."""
    first, _, *rest = result["interactions"]
    mean = {"mean": 0.25, "low": 0.2, "high": 0.3}
    changed = [
        first,
        rest[0] | {"success_at_end": mean, "success": first["success"]},
        {"name": "open_cab_0", "success_at_end": mean},
    ]
    full = {name: {"mean": 0.5, "low": 0.4, "high": 0.6} for name in result["full_task"]}
    other = {"row": "other", "interactions": changed, "full_task": full}
    html = page.page([result, result | other])
    (chart, *_) = pictures(html)
    told = [title.text for title in chart.iter("title")]
    rate = first["success_at_end"]
    assert [each.split(", ")[-1] for each in told if each.startswith("other")] == [
        f"{first['name']}: {rate['mean']:.1%} ({100 * rate['low']:.1f} to {100 * rate['high']:.1f})",
        "pick_1: 25.0% (20.0 to 30.0)",
        "open_cab_0: 25.0% (20.0 to 30.0)",
        "full task: 50.0% (40.0 to 60.0)",
    ]
    names = [each.text for each in chart.findall("text")][5:]
    assert names[:3] + names[-2:] == ["pick 0", "place 0", "pick 1", "open cab 0", "full task"]
    # Nothing is drawn across the gaps.
    points = [len(each.get("points", "").split()) for each in chart.findall("polyline")]
    assert points == [10, 1, 1, 1, 2]


def test_the_heading_says_which_failure_is_told(result):
    assert "What went wrong first" in page.page([result])
    html = page.page([result | {"replanning": {"limit": 5}}])
    assert "What went wrong first" not in html
    assert "Why unfinished episodes ended" in html


def test_what_an_exhausted_plan_is_stands_below_it(result):
    assert "Plan exhausted" not in page.page([result])
    assert "Plan exhausted: " in page.page([result | {"failures": {"plan exhausted": 1}}])


def test_results_are_called_as_in_the_table(result):
    sources = {name: f"/somewhere/{name}.safetensors" for name in result["skills"]}
    learned = result | {"row": "TP-SRL (mixed)", "episodes": 1, "skills": sources}
    html = page.page([learned])
    assert "<h2>TP-SRL, 1 val episode</h2>" in html
    assert "mixed" not in html.replace(result["made"]["command"], "")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("{", "cannot be read as a result"), ("[]", "no 'task'"), ('{"task": "a"}', "no 'row'")],
)
def test_what_is_no_result_is_refused(tmp_path, content, complaint):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(UserError, match=complaint):
        page.main([str(path)])


def test_a_page_does_not_replace_what_it_is_made_of(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("{}")
    with pytest.raises(UserError, match="is one of the results: choose another file"):
        page.main([str(path), "--output", str(path)])
    assert path.read_text() == "{}"


def test_all_timelines_of_a_page_have_one_scale(result):
    longer = [record | {"steps": 2 * record["steps"]} for record in result["records"]]
    alone, both = page.page([result]), page.page([result, result | {"records": longer}])
    first = {}
    for name, html in (("alone", alone), ("both", both)):
        picture = next(p for p in pictures(html) if p.get("aria-label", "").startswith("episode"))
        first[name] = float(next(picture.iter("rect")).get("width", ""))
    assert first["both"] == pytest.approx(first["alone"] / 2, abs=0.1)


@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
def test_a_browser_shows_it(result, tmp_path):
    path, picture = tmp_path / "report.html", tmp_path / "page.png"
    path.write_text(page.page([result]))
    command_line = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1000,2400", f"--screenshot={picture}", "--enable-logging=stderr",
        path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command_line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 20_000
    assert "CONSOLE" not in done.stderr  # no complaints of the page's own


def test_decisions_stand_below_their_episode(result):
    assert "<details><summary>" not in page.page([result])
    decision = {"step": 87, "plan_index": 1, "text": "pick <object_0>: nothing held", "plan": None}
    result["records"][1]["decisions"] = [decision]
    html = page.page([result])
    assert "<summary>what was decided (1)</summary>" in html
    assert "<li>step 87: pick &lt;object_0&gt;: nothing held</li>" in html
