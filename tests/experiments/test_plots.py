"""Pictures of results."""

import pytest

from experiments.experiment import POINTS
from experiments.plots import _curves, plot
from experiments.registry import EXPERIMENTS
from skills.plot import load_pyplot

LINE = dict.fromkeys(("grid", "mean", "low", "high"), [0.5] * POINTS)


@pytest.mark.parametrize(
    "curves", [{}, {"Lamb": {"success": {"steps": LINE}, "spl": {"steps": LINE}}, "Adam": {}}]
)
def test_a_picture_is_drawn_of_curves_or_of_the_first_figure(curves, tmp_path):
    pytest.importorskip("matplotlib")
    rows = [{"arm": arm, "seed": 1, "spl": spl} for arm, spl in (("Lamb", 0.5), ("Adam", None))]
    path = tmp_path / "new" / "a.png"
    plot(EXPERIMENTS["bps_lamb"], {"rows": rows, "curves": curves, "seeds": 1}, path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_return_is_drawn_at_its_own_scale():
    pytest.importorskip("matplotlib")
    pyplot = load_pyplot()
    line = {key: [100.0, 4000.0] for key in ("grid", "mean", "low", "high")}
    lines = {"256 robots": {"return": {"steps": line}, "success": {"steps": line}}}
    figure = _curves(pyplot, lines, {"seeds": 1})
    own, share = (panel.get_ylim() for panel in figure.axes)
    pyplot.close(figure)
    assert own[0] < 100.0 < 4000.0 < own[1]
    assert share == (0.0, 1.0)
