#!/usr/bin/env bash
# Trains every skill, PointNav, ObjectNav, the monolithic policy and the ablations from scratch, one after the other:
# scripts/train_all_skills.sh [key=value ...]     Skills alone, with recordings of their own, and judged: train_household.sh
# Stopped or killed, the same command goes on where it was; skills that are done are not trained again.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/setup.sh" ""
skills="$("$python" -m skills.specs)"
for skill in $skills pointnav objectnav tidy_house; do
    "$here/train_skill.sh" "$skill" "$@"
done
# Ablations: Pick and Place from within the arm's reach, with base motion and without
near=(task.start_distance=0.85 starts.share=0 trainer.total_steps=2600000)
for arm_only in false true; do
    name=near
    if [[ $arm_only == true ]]; then
        name=arm_only
        near+=(task.base_motion=false)
    fi
    "$here/train_skill.sh" pick run=runs/pick_$name "${near[@]}" task.open_share=0.1 "$@"
    "$here/train_skill.sh" place run=runs/place_$name "${near[@]}" "$@"
done
