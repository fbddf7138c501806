#!/usr/bin/env bash
# Says what of Habitat is installed and what is missing, and renders one frame of an apartment with it.
#   scripts/check_habitat.sh [PYTHON [--frame PICTURE] [--data FOLDER]]
# PYTHON: an interpreter that may have habitat-sim; .venv's by default
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
python="${1:-$root/.venv/bin/python}"
if ! command -v "$python" > /dev/null; then
  echo "check_habitat: no Python at $python: give its path, or make the environment with scripts/setup.sh" >&2
  exit 2
fi
PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}" exec "$python" -m skills.check_habitat "${@:2}"
