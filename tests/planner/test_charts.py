import math
import xml.etree.ElementTree as ElementTree

import pytest

from planner import charts
from planner.charts import Segment, Series, Start
from skills.statistics import Proportion


def test_rates_lie_where_they_belong():
    line = Series("a", (Proportion(0.5, 0.25, 0.75), Proportion(1.0, 0.9, 1.0)))
    picture = ElementTree.fromstring(charts.line_chart(["x", "y"], [line], "t"))
    heights = [float(dot.get("cy", "")) for dot in picture.iter("circle")]
    lines = {float(each.get("y1", "")): each.get("class") for each in picture.findall("line")}
    middle, top = sorted(lines)[2], sorted(lines)[0]
    assert heights == [middle, top]


def test_a_target_to_the_left_is_drawn_to_the_left():
    there = math.radians(15)
    starts = [
        Start(0.9, there, True),
        Start(0.9, there - 2 * math.pi, False),
        Start(0.6, 0.1, True),
    ]
    picture = ElementTree.fromstring(charts.hand_off_map(starts, "t", (0.5, 1.0)))
    counts = {each.text: float(each.get("x", "")) for each in picture.findall("text")}
    assert counts["2"] < counts["1"] < counts["ahead"]
    filled = [cell for cell in picture.findall("path") if cell.get("fill") != "none"]
    told = {cell[0].text: float(cell.get("fill-opacity", "")) for cell in filled}
    assert set(told) == {"0.5 to 1 m: 50% of 2", "0.5 to 1 m: 100% of 1"}
    assert told["0.5 to 1 m: 100% of 1"] < told["0.5 to 1 m: 50% of 2"] < 1.0


def test_what_is_not_in_front_is_counted():
    starts = [Start(0.9, 2.0, True), Start(3.0, 0.0, False), Start(0.9, 0.0, True)]
    picture = ElementTree.fromstring(charts.hand_off_map(starts, "t", (0.5, 1.0)))
    assert "2 elsewhere (50%)" in [each.text for each in picture.findall("text")]


def test_timelines_have_a_scale():
    texts = ElementTree.fromstring(charts.time_axis(1200)).findall("text")
    assert [each.text for each in texts] == [
        "0", "300 (10 s)", "600 (20 s)", "900 (30 s)", "1200 (40 s)",
    ]  # fmt: skip
    places = [float(each.get("x", "")) for each in texts]
    assert places == [0.0, 215.0, 430.0, 645.0, 860.0]


def test_a_fault_has_a_red_foot():
    segments = [Segment("pick", 10, None, "a"), Segment("place", 30, "dropped", "b")]
    picture = ElementTree.fromstring(charts.timeline(segments, 80, "t"))
    widths = [float(each.get("width", "")) for each in picture.iter("rect")]
    assert widths == pytest.approx([107.5, 322.5, 322.5])
    assert [each.get("fill") for each in picture.iter("rect")][-1] == charts.FAULT
