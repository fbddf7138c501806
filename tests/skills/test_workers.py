"""Cases in worker processes."""

import ast
import os
import signal
import subprocess
import sys
import textwrap
from functools import partial

import pytest

from rearrange.errors import UserError
from skills.workers import play_in_workers
from tests.helpers import ROOT, hear_ctrl_c


class Doubler:
    def __init__(self, trouble: str = "") -> None:
        self.trouble = trouble
        if trouble == "make":
            raise UserError("no such player")

    def play(self, number: int) -> tuple[int, int]:
        if self.trouble == "play":
            raise UserError("no such case")
        if self.trouble == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * number, os.getpid()


@pytest.mark.parametrize("workers", [1, 2])
def test_every_case_is_played_once(workers):
    results = list(play_in_workers(Doubler, [(i,) for i in range(5)], workers))
    assert sorted(double for double, _ in results) == [0, 2, 4, 6, 8]
    assert (os.getpid() in {pid for _, pid in results}) == (workers == 1)


def test_no_player_is_defined_where_other_processes_do_not_look():
    """Multiprocessing imports a module that is run by its name, but never a package's `__main__`."""
    files = [
        file
        for file in ROOT.glob("[a-z]*/**/__main__.py")
        if "play_in_workers" in file.read_text(encoding="utf-8")
    ]
    assert files
    for file in files:
        body = ast.parse(file.read_text(encoding="utf-8")).body
        assert not [each.name for each in body if isinstance(each, ast.ClassDef)], file


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        ("make", "no such player"),
        ("play", "no such case"),
        ("die", "a worker process died"),
    ],
)
def test_trouble_in_a_worker_ends_all_with_one_line(trouble, told):
    with pytest.raises(UserError, match=told):
        list(play_in_workers(partial(Doubler, trouble), [(i,) for i in range(3)], 2))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_all_processes_and_what_they_write_with_one_line(tmp_path, number):
    (tmp_path / "slow.py").write_text(
        textwrap.dedent(
            """
            import sys, time
            from pathlib import Path
            from atomic_files import replacing
            from skills.command import run_command
            from skills.workers import play_in_workers

            class Sleeper:
                def play(self, number):
                    if number:
                        with replacing(Path(sys.argv[1]) / f"film_{number}"):
                            time.sleep(100)

            def main(arguments):
                for _ in play_in_workers(Sleeper, [(0,), (1,), (2,), (3,)], 2):
                    while len(list(Path(arguments[0]).iterdir())) < 2:
                        time.sleep(0.01)
                    print("begun", flush=True)

            if __name__ == "__main__":
                run_command(main)
            """
        )
    )
    films = tmp_path / "films"
    films.mkdir()
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "slow.py"), str(films)],
        env=os.environ | {"PYTHONPATH": os.getcwd()},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=hear_ctrl_c,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (130, "interrupted\n")
    assert list(films.iterdir()) == []
