"""The command that trains: what it tells the shell."""

from types import SimpleNamespace

import pytest

from skills import train


@pytest.mark.parametrize(
    ("interrupted", "size", "status"), [(False, 1, 0), (True, 1, 130), (True, 2, 0)]
)
def test_an_interrupted_training_is_no_success_for_the_shell(
    monkeypatch, tmp_path, capsys, interrupted, size, status
):
    group = SimpleNamespace(size=size, main=True)
    trainer = SimpleNamespace(steps=7, group=group, interrupted=interrupted, train=lambda: None)
    monkeypatch.setattr(train, "Trainer", lambda *_, **__: trainer)
    assert train.main(["pick", f"run={tmp_path}"]) == status
    ending = capsys.readouterr().err.splitlines()[-1]
    assert ending.startswith("interrupted" if interrupted else "done")
    assert "step 7" in ending
