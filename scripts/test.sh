#!/usr/bin/env bash
# Format, lint, import arrows, types, figures in documents, their site, tests.   --slow: the slow tests instead of the others, then property tests with
# new examples.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" test
cd "$root"
if [[ ! -e .venv/installed-warp || scripts/warp.txt -nt .venv/installed-warp ]]; then
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement scripts/warp.txt
    touch .venv/installed-warp
fi
bin="$root/.venv/bin"

marker="not slow" processes=2  # each works through whole files
[[ "${1:-}" == "--slow" ]] && marker="slow" processes=0
unset PYTHONDONTWRITEBYTECODE  # tests start many processes; each would compile all sources anew
"$bin/ruff" format --check .
"$bin/ruff" check .
"$bin/lint-imports"
"$bin/python" -m tests.compile_kernels &
kernels=$!
trap 'kill "$kernels" 2>/dev/null || true' EXIT  # where a check fails meanwhile
"$bin/pyright"
"$bin/python" -m skills.ledger --check
NO_MKDOCS_2_WARNING=1 "$bin/mkdocs" build --quiet --strict
wait "$kernels"
trap - EXIT  # its number may be another process's by the end
"$bin/python" -m pytest -m "$marker" --durations=10 -n "$processes" --dist loadfile
if [[ "$marker" == slow ]]; then
    mapfile -t files < <(grep -rlE "@given|RuleBasedStateMachine" tests --include=*.py)
    "$bin/python" -m pytest -m "not slow" --hypothesis-profile=searching -n 2 --dist loadfile "${files[@]}"
fi
