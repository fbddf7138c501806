"""Figures in documents: markers, and figures that have none."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearrange.errors import UserError
from skills.figures import MARKER, check_page, look_up, render, render_page

LEDGER = {
    "pick": {
        "success_at_end": {"mean": 0.954, "low": 0.932, "high": 0.969},
        "spl": {"mean": 0.8512, "low": 0.8301, "high": 0.8699},
        "episodes": 2600,
        "steps_per_second": 1359.7,
        "step_ms": 0.4712,
        "seconds": 1860.0,
        "cpu": "a Xeon",
        "open": True,
        "interactions": [{"name": "pick_0", "share": 0.5}, {"name": "place_0", "share": 0.25}],
    },
    "other": {"steps_per_second": 500.0},
}
PAGE = Path("docs/page.md")


def findings(text: str) -> list[str]:
    return [str(finding) for finding in check_page(PAGE, text, LEDGER)]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("pick.success_at_end", "95.4 [93.2, 96.9]"),
        ("pick.success_at_end;.0%", "95 [93, 97]"),
        ("pick.success_at_end.mean;.1%", "95.4 %"),
        ("pick.spl;.2f", "0.85 [0.83, 0.87]"),
        ("pick.episodes", "2,600"),
        ("pick.steps_per_second", "1,360"),
        ("pick.steps_per_second;,d", "1,360"),
        ("pick.step_ms", "0.471"),
        ("pick.step_ms;*1000 .0f", "471"),
        ("pick.seconds;/60 .0f", "31"),
        ("pick.cpu", "a Xeon"),
        ("pick.interactions.1.share;.0%", "25 %"),
        ("pick.interactions.pick_0.share", "0.5"),
        ("pick.steps_per_second / other.steps_per_second;.2f", "2.72"),
    ],
)
def test_a_source_is_rendered_by_its_value(source, text):
    assert render(LEDGER, source) == text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("place.success_at_end", "no 'place' in the ledger"),
        ("pick.successes", "no 'successes' in pick"),
        ("pick.interactions.pick_9", "no 'pick_9' in pick.interactions"),
        ("pick.interactions.7", "no '7'"),
        ("pick.episodes.n", "no 'n' in pick.episodes"),
        ("pick.open", "is no number"),
        ("pick.interactions", "is no number"),
        ("pick.cpu;.1f", "is no number"),
        ("pick.episodes;x", "is no source"),
        ("pick.episodes / pick.cpu", "pick.cpu is no number"),
        ("pick.episodes;.2d", "'pick.episodes;.2d' cannot be rendered: Precision not allowed"),
        ("pick.success_at_end;d", "cannot be rendered: Unknown format code 'd'"),
        ("pick.episodes;/0 f", "division by zero"),
    ],
)
def test_what_is_no_source_is_refused(source, message):
    with pytest.raises(UserError, match=re.escape(message)):
        render(LEDGER, source)


GOOD = """\
# Pick

Pick: <!--=pick.success_at_end-->95.4 [93.2, 96.9]<!--/--> % of <!--=pick.episodes-->2,600<!--/--> episodes, at
<!--=pick.steps_per_second-->1,360<!--/--> steps/s. In brackets: 95 % intervals, and as said, 95 %
intervals. It stops within 0.15 m at 0.5 m/s, after `15 s`, every 1/30 s; thirty minutes; [1](http://a/20%25).

| task | success | length |
|---|---|---|
| pick | <!--=pick.success_at_end-->95.4 [93.2, 96.9]<!--/--> | 200 |
| place | not measured | 300 |

```
95.4 % in 31 minutes <!--=no.such-->1<!--/-->
```
"""


def test_a_good_document_passes():
    lines = GOOD.replace("at\n<!--", "at a rate of\n  about <!--")
    assert findings(lines) == []
    assert render_page(lines, LEDGER) == lines


def test_a_false_figure_in_a_marker_is_found():
    text = "a\nPick: <!--=pick.success_at_end-->96.4 [93.2, 96.9]<!--/-->"
    assert findings(text) == [
        "docs/page.md:2: '96.4 [93.2, 96.9]' differs from the ledger's '95.4 [93.2, 96.9]' "
        "(pick.success_at_end)"
    ]
    assert findings(render_page(text, LEDGER)) == []


@pytest.mark.parametrize(
    "figure",
    [
        "97.1 %", "97%", "97 percent", "1,360 steps/s", "40 episodes per minute", "31 minutes",
        "20 ms", "31-minute", "2.65 times", "57x", "3.2×", "10-fold", "SPL 0.85", "SPL of 0.85", "5 of 100",
        "95.4 [93.2, 96.9]", "2.9 million steps/s", "**98 %**",
        "(93.2 to 96.9)",
    ],
)  # fmt: skip
def test_a_figure_without_a_marker_is_found(figure):
    (found,) = findings(f"# Title\n\nIt has {figure} of that.\n")[:1]
    assert found.startswith("docs/page.md:3: '")
    assert figure.strip("*") in found
    assert findings(f"```\n{figure}\n```\n") == []


def test_figures_are_found_over_the_end_of_a_line():
    assert findings("It has 1,360\nsteps/s, and 95 % of\nepisodes.") == [
        "docs/page.md:1: '1,360 steps/s' has no marker: take it from results/",
        "docs/page.md:2: '95 %' has no marker: take it from results/",
    ]


def test_bare_numbers_in_a_column_of_results_are_found():
    text = "| task | success | steps |\n|---|---:|---|\n| pick | 95.4 | 300 |\n| place | **91** | 5 |\n"
    assert [line.split("'")[1] for line in findings(text)] == ["95.4", "**91**"]
    assert findings(text.replace("success", "length")) == []


def test_markers_that_cannot_be_read_are_found():
    assert "begins the line" in findings("<!--=pick.episodes-->2,600<!--/--> episodes")[0]
    assert "begins the line" in findings("- <!--=pick.episodes-->2,600<!--/--> episodes")[0]
    assert "does not end" in findings("of <!--=pick.episodes-->2,600\n<!--/-->")[0]
    assert "no 'dance' in the ledger" in findings("of <!--=dance.episodes-->2,600<!--/-->")[0]


def test_a_missing_entry_stops_rendering():
    with pytest.raises(UserError, match="no 'dance' in the ledger"):
        render_page("<!--=dance.n--><!--/-->", LEDGER)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.sampled_from(["", ";.0%"]))
def test_what_is_rendered_is_what_is_checked(mean, low, high, form):
    ledger = {"a": {"b": {"mean": mean, "low": low, "high": high}}}
    page = render_page(f"It has <!--=a.b{form}-->old<!--/--> % of it.", ledger)
    match = MARKER.search(page)
    assert match is not None
    numbers = [float(n) for n in re.findall(r"[\d.]+", match["text"])]
    tolerance = 0.51 if form else 0.051
    for number, value in zip(numbers, (mean, low, high), strict=True):
        assert abs(number - 100 * value) <= tolerance
    assert list(check_page(PAGE, page, ledger)) == []
    assert render_page(page, ledger) == page


@given(st.text("ab<!-=>/.;|% 19\n`", max_size=60))
def test_any_text_can_be_checked_and_rendering_changes_markers_only(text):
    list(check_page(PAGE, text, LEDGER))
    if "<!--=" not in text:
        assert render_page(text, LEDGER) == text


def test_values_are_found_by_name_and_place():
    assert look_up(LEDGER, "pick.interactions.place_0.share") == 0.25
    assert look_up(LEDGER, "pick.interactions.0.name") == "pick_0"
