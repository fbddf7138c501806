"""Whether what stands in a start stays where it stands."""

from __future__ import annotations

import mujoco
import numpy as np

from rearrange.episodes.episode import Episode
from rearrange.sim.mujoco import MujocoSimulator

NUDGE = 1e-9  # [N]; MuJoCo wakes what a force acts on


def drift(simulator: MujocoSimulator, episode: Episode, seconds: float = 1.0) -> float:
    """How far the object that moves most is after a while in which nothing is done, all awake [m].

    An object that fell asleep leaning or on an edge may topple once it is woken. What is held does not count.

    Args:
        simulator: Its first world is reset to the episode, and left as it is then.
        episode: The start.
        seconds: For how long.
    """
    simulator.reset([0], [episode])
    world, data = simulator.worlds[0], simulator.data[0]
    assert world is not None
    assert data is not None
    slots = [slot for slot in episode.objects if slot != episode.held_slot]
    places = world.object_qpos + 7 * np.array(slots)[:, None] + np.arange(3)
    before = data.qpos[places]
    bodies = world.first_object_body + np.array(slots)
    data.xfrc_applied[bodies, 2] = NUDGE
    mujoco.mj_step(world.model, data)
    data.xfrc_applied[bodies, 2] = 0.0
    for _ in range(round(seconds / world.model.opt.timestep) - 1):
        mujoco.mj_step(world.model, data)
    return float(np.linalg.norm(data.qpos[places] - before, axis=1).max(initial=0.0))
