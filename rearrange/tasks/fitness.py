"""Which sampled starts are used: the robot touches nothing, and all that it has to do is within reach.

Episodes that are sampled and those in files come from `draw`, so both have the same distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from rearrange.episodes.episode import Episode, spec_of
from rearrange.navigation import load_layout
from rearrange.navigation.occupancy import ROBOT_RADIUS, OccupancyGrid
from rearrange.navigation.reach import NO_DOORS, cut_off
from rearrange.sim.base import SimState, Simulator

REACH = (0.45, 0.95)  # horizontal distance from the base at which the arm can work [m]
_GAP = 1e-3  # by which rounding may bring the base nearer to obstacles [m]

Point = tuple[float, float]


def draw(
    sample: Callable[[], Episode],
    simulator: Simulator,
    world: int,
    attempts: int,
    rejected: Counter[str] | None = None,
) -> Episode | None:
    """Load the first fit one of some samples into a world.

    Args:
        sample: Makes an episode.
        simulator: Where it is loaded.
        world: Index of the world.
        attempts: Samples to try.
        rejected: Reason -> how many samples it cost, added to.

    Returns:
        The episode, or None if no sample was fit.
    """
    for _ in range(attempts):
        episode = sample()
        simulator.reset([world], [episode])
        reason = unfit(episode, simulator.state, world)
        if reason is None:
            return episode
        if rejected is not None:
            rejected[reason] += 1
    return None


def unfit(episode: Episode, state: SimState, world: int) -> str | None:
    """Why an episode that was just loaded into a world should not be played, or None."""
    if state.contact_force[world] != 0.0:
        return "robot touches something"
    if episode.scene is not None:  # of a dataset: whatever it asks for is taken as given
        return None
    grid = load_layout(episode.layout, episode.variation)[1]
    x, y, _ = episode.base_pose
    if not grid.is_free(x, y, ROBOT_RADIUS - _GAP) or not grid.island[grid.cell_of(x, y)]:
        return "robot off the connected floor"
    for what, point in _work_points(episode, state.handle_position[world]):
        if not can_stand_near(grid, point):
            return f"{what} out of reach"
    return None


def can_stand_near(grid: OccupancyGrid, point: Point, between: np.ndarray = NO_DOORS) -> bool:
    """Whether the connected floor has a place for the base within the arm's reach of a point [m].

    Args:
        grid: The floor.
        point: World x and y.
        between: Rectangles through which the arm cannot reach [M, 6], as of `footprints_of`.
    """
    x, y = point
    low, high = grid.cell_of(x - REACH[1], y - REACH[1]), grid.cell_of(x + REACH[1], y + REACH[1])
    around = grid.island[low[0] : high[0] + 1, low[1] : high[1] + 1]
    places = grid.center_of(np.argwhere(around) + low)
    distances = np.hypot(places[:, 0] - x, places[:, 1] - y)
    near = (distances >= REACH[0]) & (distances <= REACH[1])
    if len(between):
        near &= ~cut_off(between, np.asarray(point), places)
    return bool(near.any())


def _work_points(episode: Episode, handles: np.ndarray) -> Iterator[tuple[str, Point]]:
    """What the hand has to get to, and where on the floor plane [m]; handles [P, 3], m."""
    for target in episode.targets:
        if target.slot != episode.held_slot:
            yield "object", target.start[:2]
        if target.goal != target.start:
            yield "goal", target.goal[:2]
    if episode.target_joint is not None:
        x, y, _ = handles[spec_of(episode).index(episode.target_joint)].tolist()
        yield "handle", (x, y)
