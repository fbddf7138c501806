import pytest

from ver.errors import CorruptFileError, UserError
from ver.run_checkpoints import RunCheckpoints
from ver.run_lock import RunLock


def write(checkpoints: RunCheckpoints, *steps: int) -> None:
    checkpoints.folder.mkdir(exist_ok=True)
    for number in steps:
        checkpoints.path(number).write_text(str(number))


def test_the_newest_are_kept(tmp_path):
    checkpoints = RunCheckpoints(tmp_path, 2)
    assert checkpoints.all() == []
    write(checkpoints, 5, 1000, 20)
    checkpoints.drop_old()
    assert checkpoints.all() == [checkpoints.path(20), checkpoints.path(1000)]
    RunCheckpoints(tmp_path, 0).drop_old()
    assert checkpoints.all() == [checkpoints.path(1000)]  # one at least
    checkpoints.clear()
    assert checkpoints.all() == []


def test_what_is_not_whole_is_renamed_and_the_one_before_is_loaded(tmp_path, capsys):
    checkpoints = RunCheckpoints(tmp_path, 3)
    write(checkpoints, 1, 2, 3)
    broken = {checkpoints.path(3)}

    def load(path):
        if path in broken:
            raise CorruptFileError(f"{path} is corrupt.")

    assert checkpoints.load_newest(load) == checkpoints.path(2)
    assert "Falling back" in capsys.readouterr().err
    assert checkpoints.all() == [checkpoints.path(1), checkpoints.path(2)]
    broken |= set(checkpoints.all())
    with pytest.raises(UserError, match="None of the 2 checkpoints"):
        checkpoints.load_newest(load)


def test_unfinished_files_are_removed(tmp_path):
    checkpoints = RunCheckpoints(tmp_path, 1)
    write(checkpoints, 1)
    left = [tmp_path / ".abc.tmp", checkpoints.folder / ".def.tmp"]
    for path in left:
        path.touch()
    with RunLock(tmp_path), pytest.raises(UserError, match="another training"):
        checkpoints.remove_unfinished()
    assert all(path.exists() for path in left)
    checkpoints.remove_unfinished()
    assert not any(path.exists() for path in left)
    assert checkpoints.all() == [checkpoints.path(1)]
