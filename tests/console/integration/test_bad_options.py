"""What makes no sense on a command line: one line that names it, and exit code 2, before any work."""

import importlib

import pytest

from console.commands import COMMANDS
from tests.helpers.refusals import refusal

FOLDER, FILE = "FOLDER", "FILE"  # stand for a folder that is there, and for what lies below a file
NUMBERS = ("-1", "nan", "x", "1.5")
CASES = [
    *(("eval", "pick", option, bad) for option in ("--episodes", "--workers") for bad in NUMBERS),
    *(("eval", "objectnav", "--seed", bad) for bad in NUMBERS),
    *(("eval", "tidy_house", word) for word in ("--split=foo", "--split=test", "--homes=castle")),
    *(("eval", "pick", "--json", bad) for bad in (FOLDER, FILE)),
    ("eval", "pick", "task.max_steps=-3"),
    ("eval", "pointnav", "task.slack=nan"),
    ("eval", "flee", "--policy", "frontier"),
    ("eval", "pick", "--checkpoint", "nope.safetensors"),
    ("eval", "explore", "--policy", "oracle"),
    *(("plan", "set_table", option, bad) for option in ("--episodes", "--workers") for bad in NUMBERS),
    *(("plan", "set_table", option, "-1") for option in ("--seed", "--replan")),
    *(("plan", "tidy_house", option, FILE) for option in ("--json", "--ledger", "--page", "--output")),
    *(("plan", "tidy_house", option, FOLDER) for option in ("--json", "--ledger", "--page")),
    ("plan", "tidy_house", "--record-hand-offs", FILE),
    ("plan", "tidy_house", "--knowledge", "all"),
    ("plan", "tidy_house", "--skills", "learned,throw=oracle"),
    ("plan", "tidy_house", "--skills", "monolithic", "--replan"),
    ("plan", "party"),
    *(("film", "pick", "--episodes", bad) for bad in NUMBERS),
    *(("film", "pick", "--seed", bad) for bad in NUMBERS),
    ("film", "pick", "--output", FILE),
    ("film", "pick", "--skills", "magic"),
    *(("view", "pick", option, bad) for option in ("--episode", "--steps", "--seed") for bad in NUMBERS),
    ("view", "pick", "--output", "a.jpg"),
    ("view", "pick", "--output", FILE),
    ("view", "party"),
    ("view", "homes", "--count", "0"),
    *(("record", "place", option, bad) for option in ("--episodes", "--seed") for bad in NUMBERS),
    ("record", "place", "--camera-size", "0"),
    ("record", "place", "--output", FILE),
    *(("live", "pick", option, "-1") for option in ("--seed", "--episodes", "--port")),
    ("live", "pick", "--agent", "ghost"),
    *(("episodes", "generate", "pick", option, "0") for option in ("--episodes", "--workers")),
    ("episodes", "generate", "pick", "--output", FILE),
    ("bench", "--json", FOLDER),
    ("doctor", "--json", FOLDER),
    ("doctor", "--seconds", "nan"),
    ("train",),
    ("train", "jump"),
    *(("train", "pick", word) for word in ("split=foo", "split=test", "camera_size=0", "slide=2")),
    *(("train", "tidy_house", word) for word in ("trainer.seed=-1", "trainer.ppo.gamma=2", "bogus=1")),
    *(("train", "objectnav", word) for word in ("agent.turn=nan", "task.slack=-1", "dataset=a.gz")),
    ("completion", "tcsh"),
]  # fmt: skip


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_it_is_refused_in_one_line(words, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    places = {FOLDER: str(tmp_path), FILE: str(tmp_path / "file" / "x.png")}
    name, *given = (places.get(word, word) for word in words)
    command = COMMANDS[name]
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(command.module)
    if not hasattr(module, "main"):  # a package
        module = importlib.import_module(f"{command.module}.__main__")
    refusal(module.main, [*command.arguments, *given])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]  # nothing was begun
