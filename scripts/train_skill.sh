#!/usr/bin/env bash
# Trains a skill:  scripts/train_skill.sh pick [key=value ...]
# Stop with Ctrl-C; the same command goes on from the last checkpoint.
set -euo pipefail
arguments=("$@")
set --
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

exec "$root/.venv/bin/python" -m skills.train "${arguments[@]}"
