"""Pictures of results."""

import pytest

from experiments.experiment import POINTS
from experiments.plots import plot
from experiments.registry import EXPERIMENTS

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
