#!/usr/bin/env bash
# What is too long for every commit: quick trainings, which have to reach the bars in their configs.
#   scripts/nightly.sh [--seed 1] [--json FILE]      runs/bars/<commit>_quick_1/index.html shows where it stands
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" test
exec "$python" -m benchmarks.bars "$@"
