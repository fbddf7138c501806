"""Functions that a process in the background carries out in tests, which it imports from here."""

import os
import signal
import time

import numpy as np

from rearrange.errors import UserError


def arrays(count):
    """Arrays of some kinds, one of them empty."""
    whole = np.arange(count, dtype=np.float32)
    return {"whole": whole, "grid": whole.reshape(2, -1).astype(float), "none": np.empty((0, 3))}


def late(value, seconds):
    time.sleep(seconds)
    return value


def refuse(told):
    raise UserError(told)


def fail(told):
    raise KeyError(told)


def die(number=signal.SIGKILL):
    os.kill(os.getpid(), number)


class Named:
    """Loads a scene that is a name in a list; some take their time, or cannot be loaded."""

    def __init__(self, seconds=0.0, broken=""):
        self.seconds, self.broken = seconds, broken

    def __call__(self, name):
        if name == self.broken:
            raise UserError(f"{name} cannot be read")
        time.sleep(self.seconds)
        return [name]
