import json

import pytest

from benchmarks import new_homes


def test_pairs_are_run_in_turn_and_their_ratio_is_told(monkeypatch, tmp_path, capsys):
    played = []

    def rate(skill, kind, seed, seconds):
        played.append((skill, kind, seed, seconds))
        return {new_homes.NEW: 96.0, new_homes.SAME: 100.0}[kind]

    monkeypatch.setattr(new_homes, "rate", rate)
    path = tmp_path / "ratio.json"
    assert new_homes.main(["--pairs", "2", "--seconds", "3", "--json", str(path)]) == 0
    assert "0.960 of the speed" in capsys.readouterr().out
    kinds = [kind for _, kind, _, _ in played]
    assert kinds == [new_homes.NEW, new_homes.SAME, new_homes.SAME, new_homes.NEW]
    assert json.loads(path.read_text())["ratio"]["median"] == pytest.approx(0.96)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [new_homes.NEW, new_homes.SAME])
def test_a_training_has_a_rate(monkeypatch, kind):
    monkeypatch.setattr(new_homes, "ENVIRONMENTS", 2)
    assert new_homes.rate("pick", kind, 1, 0.1) > 1.0


def test_bad_arguments_are_one_line(capsys):
    for words in (["--skill", "jump"], ["--pairs", "0"], ["--seconds", "0"]):
        with pytest.raises(SystemExit):
            new_homes.main(words)
        assert capsys.readouterr().err.startswith("benchmarks.new_homes: ")
