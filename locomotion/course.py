"""The way that robots run: what they run to, what stands there, and when a fall ends an episode.

`Course` is that of Ant and Humanoid, straight ahead on a plain floor. Other tasks are other courses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import torch
from torch import Tensor

from locomotion.running import Motion, Pose

FAR = 1000.0  # [m] to what robots run to that run forward
Random = Callable[..., Tensor]  # numbers in [0, 1) of a shape


class Course:
    """N ways straight ahead; an episode ends in the frame in which the torso is too low (section 4.1).

    Args:
        count: N.
        device: Of all tensors.

    Attributes:
        shapes: Names and widths of what robots observe beside their motion.
        target: [N, 2] where to run to, x and y in the world's frame [m].
    """

    shapes: ClassVar[Mapping[str, int]] = {}

    def __init__(self, count: int, device: str) -> None:
        self.target = torch.zeros(count, 2, device=device)

    def begin(self, which: Tensor, qpos: Tensor, random: Random) -> Tensor:
        """Begins episodes of K robots.

        Args:
            which: [K] their numbers.
            qpos: [K, 7 + J] in which they stand.
            random: Draws numbers.

        Returns:
            [K, 7 + J] in which they begin.
        """
        del random
        self.target[which] = qpos.new_tensor([FAR, 0.0])
        return qpos

    def things(self, qpos: Tensor) -> Tensor | None:
        """Says where the scenery is around robots [N, 7 + J]: [N, K, 7], see `Physics.step`."""
        del qpos

    def ground(self, qpos: Tensor, which: Tensor | None = None) -> Tensor | float:
        """Finds the height [m] of what is below torsos [N, 7 + J]: [N].

        Args:
            qpos: Of all robots.
            which: [K] numbers of those that have moved since it was asked last; None: all.
        """
        del qpos, which
        return 0.0

    def looks(self) -> dict[str, Tensor]:
        """Makes the observations that `shapes` names, [N, width] each, of where `ground` was asked last."""
        return {}

    def over(self, low: Tensor) -> Tensor:
        """Tells which episodes end, of torsos [N] bool that are too low in this frame: [N] bool."""
        return low

    def advance(self, motion: Motion, pose: Pose, random: Random) -> bool:
        """Goes on by a frame, once it is paid; tells if targets may have changed."""
        del motion, pose, random
        return False

    def metrics(self, frames: Tensor) -> dict[str, Tensor]:
        """Makes metrics [N] of episodes that have so many frames [N]."""
        del frames
        return {}
