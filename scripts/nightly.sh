#!/usr/bin/env bash
# What is too long for every commit: quick trainings, which have to reach the bars in their configs, and the
# quick version of every paper's experiment, which has to pass.
#   scripts/nightly.sh [--seed 1] [--json FILE]      runs/bars/<sources>_quick_1/index.html shows where it stands
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" test
status=0
"$python" -m benchmarks.bars "$@" || status=$?
"$python" -m experiments all --budget quick || status=$?
exit "$status"
