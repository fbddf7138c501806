"""What an episode of a navigation task is."""

from __future__ import annotations

from dataclasses import dataclass

from nav.scene import Places, Point, Scene
from rearrange.errors import UserError

Pose = tuple[float, float, float]


@dataclass(frozen=True)
class NavEpisode:
    """Where an agent starts, and where it shall go.

    Attributes:
        episode_id: How files and errors call it.
        building: Name of the building, see `nav.buildings`.
        start: x, y [m] and yaw [rad], world frame.
        goal: x, y of the goal [m], world frame; None where the task has none.
        radius: Of the goal [m], as files tell it. Success is judged by the task's distance, as
            Habitat does.
        geodesic_distance: From start to goal [m], as files tell it; None where it is not known.
        category: What is looked for, one of nav.categories.CATEGORIES; None where nothing is.
        view_points: From where it is seen, as files tell them; None: worked out from the building.
    """

    episode_id: str
    building: str
    start: Pose
    goal: Point | None = None
    radius: float | None = None
    geodesic_distance: float | None = None
    category: str | None = None
    view_points: Places | None = None


def check_episode(episode: NavEpisode, scene: Scene) -> None:
    """Raise a UserError if an agent does not fit at the episode's start or its goal."""
    places = {"start": episode.start[:2], "goal": episode.goal}
    for name, point in places.items():
        if point is not None and not scene.is_free(*point):
            raise UserError(
                f"episode '{episode.episode_id}': {name}: expected a place in {scene.name} where a "
                f"disc of {scene.radius:g} m fits and from where it gets on, found {list(point)}"
            )
