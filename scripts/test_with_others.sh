#!/usr/bin/env bash
# The tests that scripts/test.sh skips, as they need other projects' packages: experiment trackers, the libraries of
# examples/, LeRobot and rerun, worlds of mjlab, Brax and EnvPool. LeRobot asks for an older torch and Hub library,
# mjlab and Brax for other MuJoCos: they have environments of their own.
# Usage: scripts/test_with_others.sh [DIR]      environments are kept in DIR (build/others)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
home="${1:-$root/build/others}"
mkdir -p "$home"
home="$(cd "$home" && pwd)"

# `ver` alone: all of rearrange would bring a second MuJoCo into the same folder
learner=("gymnasium>=1.1" "omegaconf>=2.3" "rich>=13" "safetensors>=0.4" "tensorboard>=2.14" "torch>=2.4")

install() {  # ENVIRONMENT PACKAGES...
    local python="$home/$1/bin/python"
    "$python" -m pip --version &> /dev/null || python3 -m venv "$home/$1"
    shift
    "$python" -m pip install --quiet "hypothesis>=6.100" "pytest>=8" "$@"
}

check() {  # ENVIRONMENT TESTS...; a test that is skipped is a failure
    local python="$home/$1/bin/python" log="$home/$1.log"
    shift
    (cd "$root" && "$python" -m pytest -rs "$@") | tee "$log"
    ! grep -q "^SKIPPED" "$log"
}

install newest --editable "$root[wandb,trackio,examples,rerun]"
check newest tests/ver/trackers tests/examples \
    tests/skills/test_lerobot.py \
    --deselect tests/skills/test_lerobot.py::test_lerobot_opens_it
install lerobot --editable "$root[lerobot-package]"
check lerobot tests/skills/test_lerobot.py \
    --deselect tests/skills/test_lerobot.py::test_rerun_opens_it
install mjlab "${learner[@]}" "mjlab==1.6.0" "warp-lang==1.19.0"
check mjlab tests/ver/adapters/test_mjlab_worlds.py
install envpool "${learner[@]}" "envpool==1.2.5"
check envpool tests/ver/adapters/test_envpool_worlds.py
install brax "${learner[@]}" "brax==0.14.2"
check brax tests/ver/adapters/test_brax_worlds.py
