"""Evaluations of plans as the command runs them."""

import json

from planner import eval as command


def run_json(tmp_path, *arguments, task="tidy_house"):
    path = tmp_path / "deep" / "result.json"
    played = () if "--plan-only" in arguments else ("--workers", "1")
    assert command.main([task, *played, "--json", str(path), *arguments]) == 0
    return json.loads(path.read_text())
