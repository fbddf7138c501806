"""Episodes: an apartment, where everything stands, and the task's targets."""

from __future__ import annotations

from dataclasses import dataclass, field

from rearrange.navigation import OccupancyGrid, load_layout
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.registry import spec_of_layout
from rearrange.scenes.spec import SceneSpec


@dataclass(frozen=True)
class Target:
    """One object to be moved.

    Attributes:
        slot: Object slot.
        start: Centre of the object at the start, world frame [m].
        goal: Desired centre, world frame [m].
        start_receptacle: Where it stands.
        goal_receptacle: Where it shall stand.
    """

    slot: int
    start: tuple[float, float, float]
    goal: tuple[float, float, float]
    start_receptacle: str
    goal_receptacle: str


@dataclass(frozen=True)
class SceneHandle:
    """A handle in a scene of Habitat (a marker of habitat-lab).

    Attributes:
        furniture: Articulated object.
        link: Its link, by name.
        offset: Of the handle in the link's frame [m].
    """

    furniture: str
    link: str
    offset: tuple[float, float, float]


@dataclass(frozen=True)
class SceneFiles:
    """A scene of a scene dataset of Habitat, such as ReplicaCAD, in place of an apartment of ours.

    Attributes:
        scene: File of the scene instance.
        dataset: File of the scene dataset's config.
        objects: Object slot -> file of the object's config.
        joints: Articulated object -> number of a link -> how far its joint is open [rad or m]; else as the
            scene has it.
        handles: Joint of our apartments -> what has its part there.
        grid: Its floor, without what is articulated being open.
        height: Of its floor, in Habitat's world [m]; in ours it is at 0.
    """

    scene: str
    dataset: str
    objects: dict[int, str]
    joints: dict[str, dict[int, float]]
    handles: dict[str, SceneHandle]
    grid: OccupancyGrid = field(compare=False, repr=False)
    height: float = 0.0


@dataclass(frozen=True)
class Episode:
    """Everything that a simulator needs to set up one world; pure data, the same everywhere.

    Attributes:
        episode_id: Unique within task and split, e.g. "val/17".
        layout: Macro layout of the apartment.
        variation: Variation of the layout.
        objects: Slot -> (x, y, z, qw, qx, qy, qz), world frame, at rest.
        targets: In the order in which the task lists them.
        base_pose: Start of the robot (x, y, yaw).
        arm_joints: Start of the arm [rad, of slides m], a value for each joint.
        articulated: Joint name -> start value, 0 where absent.
        held_slot: Object in the gripper at the start, or None.
        grasp: Pose of the held object in the end effector's frame (x, y, z, qw, qx, qy, qz); None: held
            from above, by the middle of its top face.
        scene: Scene of Habitat in which it takes place, instead of an apartment; None almost always.
        target_joint: Joint that a skill shall open or close (one of SceneSpec.joints), or None.
        seed: Seeds everything that is random within the episode.
    """

    episode_id: str
    layout: int
    variation: int
    objects: dict[int, tuple[float, ...]]
    targets: tuple[Target, ...]
    base_pose: tuple[float, float, float]
    arm_joints: tuple[float, ...]
    articulated: dict[str, float] = field(default_factory=dict)
    held_slot: int | None = None
    target_joint: str | None = None
    seed: int = 0
    grasp: tuple[float, ...] | None = None
    scene: SceneFiles | None = None


def spec_of(episode: Episode) -> SceneSpec:
    """The kind of home in which an episode takes place; scenes of datasets count as apartments."""
    return APARTMENT if episode.scene is not None else spec_of_layout(episode.layout)


def floor_of(episode: Episode) -> OccupancyGrid:
    """The floor on which an episode takes place."""
    if episode.scene is not None:
        return episode.scene.grid
    return load_layout(episode.layout, episode.variation)[1]
