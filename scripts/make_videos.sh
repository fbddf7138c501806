#!/usr/bin/env bash
# Films the skills at work, one success and one failure of each; with --gif it makes the README's GIF again.
# Usage: scripts/make_videos.sh [NAME ...] [--episodes N] [--seed S] [--skills MODE] [--checkpoint FILE]
#        [--output DIR] [--gif]
# Names: tidy_house_no_nav, tidy_house, prepare_groceries, set_table, pointnav, objectnav, or a skill, for its own task;
# default: all. What lacks a checkpoint in data/checkpoints/ is left out with a line that says so.
# Results: runs/videos/NAME_success.mp4 and NAME_failure.mp4; --gif: docs/tidy_house.gif if tidy_house is among them.
set -euo pipefail
if [[ " $* " == *" --help "* || " $* " == *" -h "* ]]; then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 0
fi
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" ""

exec "$python" -m planner.film --output "$root/runs/videos" "$@"
