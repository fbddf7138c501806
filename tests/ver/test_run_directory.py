from pathlib import Path

import pytest

from ver.errors import UserError
from ver.run_directory import run_directory


def test_it_is_what_is_asked_for_or_the_default(tmp_path):
    assert run_directory(str(tmp_path / "mine"), "runs/pick") == tmp_path / "mine"
    assert run_directory("", tmp_path / "default") == Path(tmp_path / "default")
    assert not [*tmp_path.iterdir()]


def test_where_nothing_can_be_written_is_refused():
    with pytest.raises(UserError, match="run: /proc/x cannot be written"):
        run_directory("/proc/x", "runs/pick")
