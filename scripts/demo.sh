#!/usr/bin/env bash
# Installs what is needed and films the robot in three homes that no skill was trained in.
# Results: runs/demo/ with an mp4 per episode, result.json and report.html, which shows it all.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" ""

"$python" -m console demo \
    --output "$root/runs/demo" --json "$root/runs/demo/result.json" \
    --page "$root/runs/demo/report.html" "$@"
