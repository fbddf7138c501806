#!/usr/bin/env bash
# The tests that scripts/test.sh skips, as they need other projects' packages: experiment trackers, the libraries of
# examples/, LeRobot and rerun. LeRobot asks for an older torch and Hub library: it has an environment of its own.
# Usage: scripts/test_with_others.sh [DIR]      environments are kept in DIR (build/others)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
home="${1:-$root/build/others}"

run() {  # ENVIRONMENT EXTRAS TESTS...; a test that is skipped is a failure
    local python="$home/$1/bin/python" log="$home/$1.log" extras="$2"
    [[ -x "$python" ]] || python3 -m venv "$home/$1"
    "$python" -m pip install --quiet --editable "$root[$extras]" "hypothesis>=6.100" "pytest>=8"
    shift 2
    (cd "$root" && "$python" -m pytest -rs "$@") | tee "$log"
    ! grep -q "^SKIPPED" "$log"
}

mkdir -p "$home"
run newest wandb,trackio,examples,rerun tests/ver/trackers tests/examples tests/skills/test_lerobot.py \
    --deselect tests/skills/test_lerobot.py::test_lerobot_opens_it
run lerobot lerobot-package tests/skills/test_lerobot.py \
    --deselect tests/skills/test_lerobot.py::test_rerun_opens_it
