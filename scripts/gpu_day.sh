#!/usr/bin/env bash
# All that is to be checked and measured on a machine with a CUDA GPU: docs/gpu.md.
#   scripts/gpu_day.sh [--list] [--only NAME,...] [--dry-run] [--budget S]     PYTHON=python3 takes that one
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
python="${PYTHON:-}"
if [ -z "$python" ]; then
    python=python3
    [ ! -x "$root/.venv/bin/python" ] || python="$root/.venv/bin/python"
fi
PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}" exec "$python" -m benchmarks.gpu_day "$@"
