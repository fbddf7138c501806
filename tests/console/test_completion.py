"""What shells complete."""

import os
import pty
import shutil
import subprocess
from contextlib import suppress

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


def test_bash_completes_commands_tasks_settings(scripts):
    assert completed(scripts, "") == list(COMMANDS)
    assert completed(scripts, "tr") == ["train"]
    assert completed(scripts, "train", "open_f") == ["open_fridge"]
    assert completed(scripts, "train", "pick", "trainer.ppo.gae") == ["trainer.ppo.gae_lambda="]
    assert completed(scripts, "train", "place", "task.way") == ["task.way_scale="]
    assert completed(scripts, "plan", "t") == ["tidy_house"]
    assert "objectnav" in completed(scripts, "eval", "")


def test_bash_completes_files_with_spaces_in_their_names(scripts, tmp_path):
    (tmp_path / "my home.yaml").touch()
    typed = f"rearrange() {{ printf '<%s>' \"$@\"; }}; source {scripts}/bash\nrearrange push m\t\nexit\n"
    process, terminal = pty.fork()
    if not process:
        os.chdir(tmp_path)
        os.execvp("bash", ["bash", "--norc", "-i"])
    os.write(terminal, typed.encode())
    told = b""
    with suppress(OSError):  # as a terminal ends whose shell has ended
        while told := told + os.read(terminal, 1000):
            pass
    os.waitpid(process, 0)
    os.close(terminal)
    assert b"<push><my home.yaml>" in told


TYPED = {  # and what a tab makes of it
    "rearrange tr": "rearrange train ",
    "rearrange train open_f": "rearrange train open_fridge ",
    "rearrange train pick trainer.ppo.gae": "rearrange train pick trainer.ppo.gae_lambda=",
}
ZSH = r"""
zmodload zsh/zpty
zpty -b z 'TERM=dumb zsh -f -i'
zpty -w z "PS1=; source $1; print -r -- REA''DY"
zpty -r -m z told '*READY*'
zpty -w -n z "$2"$'\tX'
zpty -r -m z told "*$3X*"
zpty -d z
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize("typed", TYPED)
def test_zsh_completes(scripts, typed):
    subprocess.run(  # ends when the line is as it should be
        ["zsh", "-f", "-c", ZSH, "zsh", str(scripts / "zsh"), typed, TYPED[typed]],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize("typed", TYPED)
def test_fish_completes(scripts, typed):
    command = f"source {scripts}/fish; complete -C '{typed}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", command], check=True, capture_output=True, text=True
    )
    words = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert words == [TYPED[typed].split()[-1]]


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_shells_read_their_scripts(scripts, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n", str(scripts / shell)], check=True)


def test_every_command_of_the_script_exists():
    assert set(completion.words_of_commands()) <= set(COMMANDS)
    for command in COMMANDS.values():
        assert "'" not in command.about  # quoted for fish
