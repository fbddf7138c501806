"""Sense-plan-act skills: the classical baseline TP-SPA, which uses only what a robot observes.

`observed.py` gives what `skills.knowledge` lets them read: the head's depth image, arm joints, whether
something is held, and odometry relative to the start. `depth.py` makes points of the image and drops those of
the robot itself; `voxels.py` gathers them in a map; `senses.py` remembers it for the whole episode;
`floor.py` plans drives over it; `robot.py` moves arm and base; `navigate.py`, `pick.py`, `place.py`
and `open_close.py` are the skills; `handles.py` finds handles and the open fridge door. Reaches and
arm motions are planned by the planners of the oracles, over boxes of the map.

Assumed, as is usual for classical systems: depth and odometry without noise, exact kinematics,
upright objects at the given coordinates, and models (sizes, hinge) of the fridge and the cabinet,
whose places are seen. Not given: what the object is, where anything else stands, floor plans.
"""

from skills.spa.observed import Observed
from skills.spa.robot import Robot
from skills.spa.skill import SpaSkill

__all__ = ["Observed", "Robot", "SpaSkill"]
