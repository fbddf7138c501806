#!/usr/bin/env bash
# Makes the large episode files: 10,000 training and 1,000 validation episodes per task.
# Usage: scripts/make_episodes.sh [TASK ...]     e.g. scripts/make_episodes.sh pick place
# Results: data/episodes/<task>/<split>.json.gz; files that hold that many already are left alone.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" ""

if (($# == 0)); then
    tasks="$("$python" -c 'from rearrange.tasks import TASKS; print(*TASKS)')" # alone, so that a failure ends this
    set -- $tasks
fi
for task in "$@"; do
    "$python" -m rearrange.episodes generate "$task" --split train --episodes 10000 --skip-existing
    "$python" -m rearrange.episodes generate "$task" --split val --episodes 1000 --skip-existing
done
echo "all episode files are in $root/data/episodes"
