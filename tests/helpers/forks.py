"""Fresh processes that need not import again what is slow to import: forks of one that has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.helpers import ROOT

SERVER = """
import json, os, runpy, sys, traceback
import {imported}

def run(folder, told, module, *words):
    for stream in (1, 2):
        os.dup2(os.open(told, os.O_CREAT | os.O_WRONLY | os.O_APPEND), stream)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv = [module, *words]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

for line in sys.stdin:
    child = os.fork()
    if not child:
        code = 1
        try:
            code = run(*json.loads(line))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forks:
    """Runs modules as `python -m` does, one at a time, each in a fork of a process that has imported one.

    Args:
        imported: The module that is imported once.
        environment: Variables of all these processes.
    """

    def __init__(self, imported: str, environment: dict[str, str]) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER.format(imported=imported)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, folder: Path, told: Path, module: str, *words: str) -> int:
        """Run a module in a folder; its process. What it prints is added to `told`."""
        assert self._server.stdin is not None
        line = json.dumps([str(folder), str(told), module, *words])
        print(line, file=self._server.stdin, flush=True)
        return self._answer()

    def wait(self) -> int:
        """Wait until what was started has ended; its status, negative after a signal."""
        return self._answer()

    def _answer(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())  # no number where the server has died

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_) -> None:
        self._server.kill()
        self._server.communicate()
