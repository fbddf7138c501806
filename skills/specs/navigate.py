"""Navigate: drive to an object, a goal or a handle."""

from rearrange.tasks import Navigate
from skills.endings import StopsNear
from skills.oracle.beginnings import begin_navigate
from skills.spa.navigate import navigate
from skills.spec import PlanAction, SkillSpec, next_of

SPEC = SkillSpec(
    task=Navigate,
    title="navigate",
    verb="driving to",
    colour="#94a3b8",
    effect="arrives",
    actions=(PlanAction("nav", told=2), PlanAction("nav-to-receptacle", told=3, receptacle=2)),
    argument=next_of,
    ending=StopsNear,
    oracle=begin_navigate,
    spa=navigate,
    timeout=300,
    grip="keep",
    heading="Navigate",
    habitat_name="nav_to_obj",
)
