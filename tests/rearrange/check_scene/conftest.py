import zlib
from contextlib import suppress

import pytest

from rearrange.check_scene.command import main
from rearrange.scenes import registry
from rearrange.scenes.home_files import HomeError, read_home
from rearrange.scenes.registry import unregister_homes
from tests.helpers.file_home import FURNITURE, SHELL, WORDS, write_home


@pytest.fixture
def check(tmp_path, capsys):
    """Write a home, check it; exit code, lines and faults."""
    written = []

    def run(words=WORDS, shell=SHELL, furniture=FURNITURE):
        # Homes of one name are one home for a process: each has its own
        name = f"checked_{zlib.crc32((words + shell + furniture).encode())}"
        path = write_home(tmp_path, name, words, shell, furniture)
        written.append(path.resolve())
        code = main([str(path), "--output", str(tmp_path / "sheet.png")])
        told = capsys.readouterr()
        return code, told.out, told.err

    yield run
    for path in written:
        with suppress(HomeError, KeyError):  # it could not be used
            unregister_homes(read_home(path).spec)
    registry._register_file.cache_clear()
