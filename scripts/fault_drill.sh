#!/usr/bin/env bash
# Injects every fault into a small real training and prints a line per fault: survived or not, and
# what was lost. Takes a few minutes on two cores; exit status 1 if one was not survived.
# Usage: scripts/fault_drill.sh [--only WORD] [--seed N] [--json PATH]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" ""

exec "$python" -m benchmarks.fault_drill "$@"
