import json

import pytest

from ver.collect.faults import Fault
from ver.config import TrainerConfig, merge_config
from ver.errors import UserError
from ver.logs import Logs


def open_logs(directory, steps=0, *overrides):
    config = merge_config(TrainerConfig, [], ["tensorboard=false", *overrides])
    return Logs(directory, config, {"skill": "none"}, steps)


def test_rows_after_the_checkpoint_and_a_cut_one_are_dropped_when_a_run_goes_on(tmp_path):
    logs = open_logs(tmp_path)
    for steps in (32, 64, 96):
        logs.write({"steps": steps, "steps_per_second": 1.0})
    logs.close()
    file = tmp_path / "metrics.jsonl"
    file.write_text(file.read_text() + '{"steps": 12')
    logs = open_logs(tmp_path, steps=64)
    logs.write({"steps": 80, "steps_per_second": 1.0})
    logs.close()
    rows = [json.loads(line)["steps"] for line in file.read_text().splitlines()]
    assert rows == [32, 64, 80]


def test_a_fault_is_kept_with_its_detail(tmp_path):
    logs = open_logs(tmp_path)
    logs.fault(Fault("died", "environment worker 1 was killed", 2, "a traceback"), 1234)
    logs.close()
    (line,) = (tmp_path / "faults.jsonl").read_text().splitlines()
    kept = json.loads(line)
    assert kept["steps"] == 1234
    assert "a traceback" in kept.values()


def test_what_fails_to_open_leaves_the_run_free(tmp_path):
    (tmp_path / "metrics.jsonl").mkdir()
    with pytest.raises(UserError, match="could not be written"):
        open_logs(tmp_path)
    (tmp_path / "metrics.jsonl").rmdir()
    open_logs(tmp_path).close()


@pytest.mark.parametrize(("overrides", "mendable"), [((), True), (("system=appo",), False)])
def test_a_mend_for_runs_that_differ_is_named_where_there_is_one(
    tmp_path, capsys, overrides, mendable
):
    open_logs(tmp_path, 0, *overrides).close()
    told = capsys.readouterr().out
    assert "two such runs differ in bits" in told
    assert ("'deterministic' makes them the same" in told) == mendable
