"""What shells complete."""

import shutil
import subprocess

import pytest

from console import completion
from console.commands import COMMANDS


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The script of each shell as a file."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in completion.SHELLS:
        (folder / shell).write_text(completion.script(shell))
    return folder


def completed(scripts, *words: str) -> list[str]:
    typed = " ".join(f"'{word}'" for word in ("rearrange", *words))
    code = f"source {scripts}/bash; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _rearrange"
    done = subprocess.run(
        ["bash", "-c", f"{code}; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
        check=True, capture_output=True, text=True, cwd=scripts,
    )  # fmt: skip
    assert not done.stderr
    return done.stdout.split()


def test_bash_completes_commands_tasks_settings_and_files(scripts):
    assert completed(scripts, "") == list(COMMANDS)
    assert completed(scripts, "tr") == ["train"]
    assert completed(scripts, "train", "open_f") == ["open_fridge"]
    assert completed(scripts, "train", "pick", "trainer.ppo.gae") == ["trainer.ppo.gae_lambda="]
    assert completed(scripts, "train", "place", "task.way") == ["task.way_scale="]
    assert completed(scripts, "plan", "t") == ["tidy_house"]
    assert "objectnav" in completed(scripts, "eval", "")
    assert completed(scripts, "push", "zs") == ["zsh"]  # the file


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_shells_read_their_scripts(scripts, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n", str(scripts / shell)], check=True)


def test_every_command_of_the_script_exists():
    assert set(completion.words_of_commands()) <= set(COMMANDS)
    for command in COMMANDS.values():
        assert "'" not in command.about  # quoted for fish
