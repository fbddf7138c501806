#!/usr/bin/env bash
# Trains all skills from scratch and judges them, alone and in chains:  scripts/train_household.sh [--seed 1] [key=value ...]
# Stopped or killed, the same command goes on where it was. runs/household/seed_1/index.html shows where it stands.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" ""
exec "$python" -m planner.household "$@"
