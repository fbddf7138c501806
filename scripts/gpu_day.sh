#!/usr/bin/env bash
# All that is to be checked and measured on a machine with a CUDA GPU: docs/gpu.md.
#   scripts/gpu_day.sh [--list] [--only NAME,...] [--dry-run] [--budget S]     PYTHON=python3 takes that one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python="${PYTHON:-}"
if [ -z "$python" ]; then
    python=python3
    [ ! -x .venv/bin/python ] || python=.venv/bin/python
fi
exec "$python" -m benchmarks.gpu_day "$@"
