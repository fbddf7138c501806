import sys
from pathlib import Path

# The toy environments must be importable by name in spawned workers too.
sys.path.insert(0, str(Path(__file__).parent))
