#!/usr/bin/env bash
# Serves the documentation site at http://127.0.0.1:8000 while you write.   build: writes it to build/site.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" docs
cd "$root"
exec "$root/.venv/bin/mkdocs" "${@:-serve}"
