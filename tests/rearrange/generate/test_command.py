import os
import signal
import subprocess
import sys
import time

import pytest

from rearrange.episodes import dataset
from rearrange.episodes.dataset import EpisodeSet, default_path
from rearrange.errors import UserError
from rearrange.generate.command import main
from rearrange.scenes.registry import CLASSIC, GENERATED, layouts_of


def generate(path, *arguments):
    return main(["generate", "pick", "--workers", "1", "--output", str(path), *arguments])


@pytest.mark.usefixtures("one_variation")
def test_a_generated_file_can_be_read(tmp_path, capsys):
    path = tmp_path / "new" / "val.json.gz"
    assert generate(path, "--episodes", "12", "--seed", "3") == 0
    told = capsys.readouterr().out
    assert "12 episodes in" in told
    assert "rejected samples:" in told
    episodes = EpisodeSet.load(path, "pick", "val")
    assert [episode.episode_id for episode in episodes] == [f"val/{k}" for k in range(12)]
    assert len({tuple(episode.objects.items()) for episode in episodes}) == 12
    assert episodes.seed == 3
    assert episodes.generator == (
        "python -m rearrange.episodes generate pick --homes generated --split val "
        "--episodes 12 --seed 3"
    )
    assert list(path.parent.iterdir()) == [path]
    assert main(["check", str(path)]) == 0
    assert "12 episodes of pick" in capsys.readouterr().out


@pytest.mark.usefixtures("one_variation")
def test_a_file_of_other_homes_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(dataset, "DIRECTORY", tmp_path)
    arguments = ["--homes", CLASSIC, "--episodes", "2", "--workers", "1"]
    assert main(["generate", "open_fridge", *arguments]) == 0
    path = tmp_path / "open_fridge" / "classic" / "val.json.gz"
    assert path == default_path("open_fridge", "val", CLASSIC)
    episodes = EpisodeSet.load(path, "open_fridge", "val", CLASSIC)
    assert {episode.layout for episode in episodes} <= set(layouts_of("val", CLASSIC))
    assert "--homes classic" in episodes.generator
    with pytest.raises(UserError, match="homes: expected 'generated', found 'classic'"):
        EpisodeSet.load(path, homes=GENERATED)
    capsys.readouterr()
    assert main(["check", str(path)]) == 0
    assert "homes classic, split val" in capsys.readouterr().out


@pytest.mark.usefixtures("one_variation")
def test_a_longer_file_begins_with_the_shorter_one(tmp_path):
    paths = [tmp_path / name for name in ("short", "long", "other")]
    generate(paths[0], "--episodes", "3")
    generate(paths[1], "--episodes", "5")
    generate(paths[2], "--episodes", "3", "--seed", "1")
    short, long, other = (EpisodeSet.load(path).episodes for path in paths)
    assert long[:3] == short
    assert other[0].objects != short[0].objects


@pytest.mark.usefixtures("one_variation")
def test_files_that_are_there_may_be_kept(tmp_path, capsys):
    path = tmp_path / "val.json.gz"
    generate(path, "--episodes", "3")
    before = path.stat().st_mtime_ns
    capsys.readouterr()
    assert generate(path, "--episodes", "2", "--skip-existing") == 0
    assert "holds 3 episodes already" in capsys.readouterr().out
    assert path.stat().st_mtime_ns == before
    generate(path, "--episodes", "4", "--skip-existing")
    assert len(EpisodeSet.load(path)) == 4


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["generate", "juggle"], "juggle"),
        (["generate", "pick", "--split", "dev"], "dev"),
        (["generate", "pick", "--episodes", "0"], "--episodes"),
        (["check", "nowhere.json.gz"], "nowhere.json.gz"),
    ],
)
def test_wrong_command_lines_are_told_in_one_line(arguments, word):
    with pytest.raises(UserError, match=word) as error:
        main(arguments)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_the_number_of_workers_does_not_change_the_file(tmp_path):
    for workers in ("1", "2"):
        path = tmp_path / workers
        main(["generate", "pick", "--episodes", "25", "--workers", workers, "--output", str(path)])
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@pytest.mark.slow
def test_an_interrupt_leaves_nothing_behind(tmp_path):
    path = tmp_path / "val.json.gz"
    command = [sys.executable, "-m", "rearrange.episodes", "generate", "pick"]
    command += ["--episodes", "10000", "--workers", "2", "--output", str(path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert "10000 episodes" in process.stdout.readline()
    time.sleep(3.0)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.strip() == "interrupted: nothing was written"
    assert list(tmp_path.iterdir()) == []
