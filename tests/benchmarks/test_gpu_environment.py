import json

from benchmarks import gpu_environment
from benchmarks.gpu_environment import asked_of_the_driver, main


def test_the_driver_is_asked_where_there_is_one(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    values = ", ".join(["NVIDIA H100", *(str(i) for i in range(1, len(gpu_environment.ASKED)))])
    program.write_text(f"#!/bin/sh\necho '{values}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    told = asked_of_the_driver()
    assert (told["name"], told["driver_version"]) == ("NVIDIA H100", "1")
    assert list(told) == list(gpu_environment.ASKED)


def test_without_one_it_says_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert asked_of_the_driver() == {}


def test_the_machine_is_written_down(tmp_path, capsys):
    assert main(["--json", str(tmp_path / "a.json")]) == 0
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["packages"]["numpy"] in capsys.readouterr().out
    assert record["memory_bytes"] > 2**28
