#!/usr/bin/env bash
# Trains a navigation task:  scripts/train_nav.sh {pointnav,objectnav,flee,explore} [key=value ...]
# Stop with Ctrl-C; the same command goes on from the last checkpoint.
# PROCESSES=2 as for train_skill.sh, which does the work: tasks and skills share one command.
set -euo pipefail
case "${1:-}" in
    pointnav | objectnav | flee | explore) ;;
    *) echo "error: expected pointnav, objectnav, flee or explore, found '${1:-}'" >&2; exit 2 ;;
esac
exec "$(dirname "${BASH_SOURCE[0]}")/train_skill.sh" "$@"
