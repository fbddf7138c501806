import sys
from pathlib import Path

import torch

# The toy environments must be importable by name in spawned workers too.
sys.path.insert(0, str(Path(__file__).parent))

# Small operations on busy cores: OpenMP's threads would spend their time waiting for each other.
torch.set_num_threads(1)
