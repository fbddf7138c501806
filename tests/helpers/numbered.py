"""Episodes that follow one another, for worlds that are stepped together."""

from dataclasses import dataclass


@dataclass
class Numbered:
    """An order in which each episode's seed is a multiple of its world, and its number.

    Attributes:
        seed: Of the first world.
        factor: What the world counts in a seed.
    """

    seed: int
    factor: int = 10

    def beginning(self, world, number):
        return self.factor * world + number, {"episode_number": number}

    def after(self, world, number, metrics):
        return number + 1
