"""Evaluations of plans as the command runs them."""

import json

from planner import eval as command


def run_json(tmp_path, *arguments, task="tidy_house"):
    path = tmp_path / "deep" / "result.json"
    assert command.main([task, "--workers", "1", "--json", str(path), *arguments]) == 0
    return json.loads(path.read_text())
