#!/usr/bin/env bash
# Makes .venv and installs the project into it; the other scripts source this with the extra they need, or "".
# Usage: scripts/setup.sh [EXTRA]      e.g. scripts/setup.sh test
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
python="$root/.venv/bin/python"
extras="${1:+[$1]}"
stamp="$root/.venv/installed${1:+-$1}"

# One that was interrupted here has Python and no pip
if [[ ! -x "$python" ]] || { [[ ! -e "$stamp" ]] && ! "$python" -m pip --version &> /dev/null; }; then
    system="$(command -v python3 || true)"
    [[ -n "$system" ]] || { echo "error: python3 is missing: apt-get install python3 python3-venv" >&2; exit 2; }
    "$system" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' ||
        { echo "error: Python 3.10 to 3.13 is needed, found $("$system" --version)" >&2; exit 2; }
    "$system" -m venv "$root/.venv" ||
        { rm -rf "$root/.venv"; echo "error: python3 -m venv failed: apt-get install python3-venv" >&2; exit 2; }
fi
if [[ ! -e "$stamp" || "$root/pyproject.toml" -nt "$stamp" ]]; then
    echo "installing into $root/.venv ..."
    # Without a GPU: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu spares gigabytes of CUDA libraries.
    "$python" -m pip install --quiet --disable-pip-version-check "torch==2.13.0"
    "$python" -m pip install --quiet --disable-pip-version-check --editable "$root$extras"
    touch "$stamp"
fi
