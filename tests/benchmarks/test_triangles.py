"""`benchmarks.triangles`: its room, and what it writes."""

import json

import pytest

from benchmarks import triangles


@pytest.mark.parametrize("count", [10_000, 50_000])
def test_rooms_have_about_the_triangles_asked_for_and_are_closed(count):
    vertices, faces = triangles.furnished_room(count, 0)
    assert abs(len(faces) / count - 1) < 0.15
    assert faces.max() == len(vertices) - 1
    assert (vertices.min(axis=0) <= -triangles.ROOM + 1e-9).all()


def test_figures_and_agreement_are_written(tmp_path):
    path = tmp_path / "triangles.json"
    words = [
        "--triangles",
        "1000",
        "--sizes",
        "16",
        "--views",
        "2",
        "--repeats",
        "2",
        "--seed",
        "5",
    ]
    assert triangles.main([*words, "--json", str(path)]) == 0
    record = json.loads(path.read_text())
    room = record["rooms"][0]
    figures = room["sizes"]["16"]
    assert figures["caster"]["rays_per_s"] == pytest.approx(256 * figures["caster"]["images_per_s"])
    assert figures["agreement"]["caster"]["beyond_1_mm"] <= 0.01
    assert figures["agreement"]["single rays"]["largest_m"] == 0.0
    assert room["build_s"] > 0
    assert record["made"]["seed"] == 5


def test_numbers_are_checked(capsys):
    with pytest.raises(SystemExit):
        triangles.main(["--views", "0"])
    assert "must be at least 1" in capsys.readouterr().err
