#!/usr/bin/env bash
# Format, lint, import arrows, types and tests.   --slow: the slow tests instead of the others.
set -euo pipefail
arguments=("$@")
set -- test
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root"
bin="$root/.venv/bin"

marker="not slow"
[[ "${arguments[0]:-}" == "--slow" ]] && marker="slow"
"$bin/ruff" format --check .
"$bin/ruff" check .
"$bin/lint-imports"
"$bin/pyright"
"$bin/python" -m pytest -m "$marker" --durations=10
