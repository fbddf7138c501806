#!/usr/bin/env bash
# Trains a skill:  scripts/train_skill.sh pick [key=value ...]
# Stop with Ctrl-C; the same command goes on from the last checkpoint.
# PROCESSES=2 scripts/train_skill.sh pick ...  trains with two processes that share their gradients,
# each with as many environments as the settings say; restarted from the checkpoint if one dies.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# Before minutes of installation: without it, nothing but what is here can be trained
if [[ ! -d "$root/.venv" && "${1:-}" =~ ^[a-z_]+$ && ! -f "$root/configs/$1.yaml" && ! -f "$root/rearrange/tasks/$1.py" ]]; then
    echo "error: unknown skill '$1': configs/ has a file for each" >&2
    exit 2
fi
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" ""

processes="${PROCESSES:-1}"
[[ "$processes" =~ ^[1-9][0-9]*$ ]] || { echo "error: PROCESSES must be a number, found '$processes'" >&2; exit 2; }
if [[ "$processes" == 1 ]]; then
    exec "$python" -m skills.train "$@"
fi
# A free port, so that two runs on one machine do not meet.
exec "$python" -m torch.distributed.run --nproc-per-node "$processes" --max-restarts 3 \
    --rdzv-backend c10d --rdzv-endpoint localhost:0 -m skills.train "$@"
