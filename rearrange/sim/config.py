"""Settings of a simulator, ours and HAB's."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rearrange.robot import DEFAULT_ROBOT, find_robot
from rearrange.settings import check_ranges, group, setting
from rearrange.sim.randomisation import Randomisation


@dataclass(frozen=True)
class SimulatorConfig:
    """Settings of a simulator. `hab`: habitat-lab v0.3.4's, or the VER paper's."""

    robot: str = setting(DEFAULT_ROBOT, hab=None, about="who acts, by name")
    camera_size: int = setting(
        64,
        hab=128,
        low=1,
        high=1024,
        note="the VER paper; 256 in v0.3.4",
        about="height and width of the depth image [pixels]",
    )
    slide: bool = setting(
        True,
        hab=False,
        hides="running into furniture: the base glides along it instead of standing still",
        about="base motion slides along obstacles instead of stopping",
    )
    stall: bool = setting(
        True,
        hab=False,
        hides="force: the base presses things with hundreds of newtons instead of ten thousand",
        about=(
            "the base stops before what its wheels cannot push, two of 8.85 N m: 283 N; otherwise it "
            "is moved against any force"
        ),
    )
    hold_threshold: float = setting(
        0.15,
        hab=0.15,
        about=(
            "a grasp breaks when the object's centre is farther from the tip, or the place where it took a "
            "handle [m]"
        ),
    )
    target_lead: float = setting(
        0.15,
        hab=math.inf,
        hides="force: an arm that is held up does not wind up",
        about="arm targets stay this close to the measured joints [rad]",
    )
    hard_contacts: bool = setting(
        False,
        hab=True,
        hides="force: a blow of 24 kN is one of 6 kN, under the same limits",
        about="contacts of the robot are as stiff as those between things (MuJoCo's default)",
        note="Bullet's contacts; MuJoCo's default comes nearest",
    )
    scene_force: bool = setting(
        False,
        hab=True,
        hides="force between things that the robot pushes, topples or drops",
        about=(
            "force is the largest between any two things in the scene, instead of on the robot or what "
            "it holds"
        ),
    )
    randomise: Randomisation = group(Randomisation)

    def __post_init__(self) -> None:
        """Raise a UserError for a number out of its range, or a robot that there is not."""
        find_robot(self.robot)
        check_ranges(self, "")
