import os
import stat

import pytest

from atomic_files import remove_unfinished, replacing, write_whole


def test_a_file_is_whole_readable_by_all_and_alone(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_whole(path, "höhe")
    assert path.read_bytes() == "höhe".encode()
    write_whole(str(path), b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_the_old_file_is_there_until_the_block_has_ended(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_alone(tmp_path, monkeypatch, step):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail(*arguments):
        raise OSError("no space")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_removes_its_file_changes_nothing(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as part:
        part.unlink()
    assert path.read_text() == "old"


def test_contents_are_on_the_disk_before_they_have_the_name(tmp_path, monkeypatch):
    order = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, n=name, f=real: (order.append(n), f(*a)))
    write_whole(tmp_path / "a.txt", "new")
    assert order == ["fsync", "replace", "fsync"]


def test_what_a_killed_process_left_is_removed(tmp_path):
    kept = [tmp_path / "a.tmp", tmp_path / ".hidden"]
    left = [tmp_path / ".a.txt.x1.tmp", tmp_path / ".b.txt.x2.tmp"]
    for path in (*kept, *left):
        path.touch()
    remove_unfinished(tmp_path, "b.txt")
    assert [path.exists() for path in left] == [True, False]
    remove_unfinished(tmp_path)
    assert [path.exists() for path in (*kept, *left)] == [True, True, False, False]
