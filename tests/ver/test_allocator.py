"""Run in a process of its own: the setting is the whole process's, and cannot be taken back."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import torch
from ver.allocator import keep_freed_memory

def faults(rounds):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        torch.zeros(12_000_000).add_(1.0)  # 48 MB: more than glibc ever keeps by itself
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults(3)
given_back = faults(20)
kept = keep_freed_memory()
faults(3)
print(kept, given_back, faults(20))
"""


@pytest.mark.slow
def test_freed_memory_is_used_again_without_new_pages():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    kept, given_back, reused = run.stdout.split()
    if kept == "False":
        pytest.skip("another C library")
    assert int(given_back) > 20 * 10_000  # pages of 4 kB
    assert int(reused) < 1000
