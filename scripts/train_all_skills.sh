#!/usr/bin/env bash
# Trains every skill, and PointNav, from scratch, one after the other:  scripts/train_all_skills.sh [key=value ...]
# Stopped or killed, the same command goes on where it was; skills that are done are not trained again.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
for skill in navigate pick place open_cab close_cab open_fridge close_fridge pointnav; do
    "$here/train_skill.sh" "$skill" "$@"
done
