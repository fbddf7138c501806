"""Open a drawer of the cabinet."""

from functools import partial

from rearrange.tasks import OpenCab
from skills.endings import StopsAfterwards
from skills.oracle.beginnings import begin_open
from skills.spa.open_close import open_part
from skills.spec import PlanAction, SkillSpec, object_of

SPEC = SkillSpec(
    task=OpenCab,
    title="open cabinet",
    verb="opening",
    colour="#d97706",
    effect="opens",
    actions=(PlanAction("open-cab", told=2, receptacle=1),),
    argument=object_of,
    ending=StopsAfterwards,
    oracle=begin_open,
    spa=partial(open_part, is_door=False),
    grip="free",  # it has to grasp and let go, and when it is over is its own affair
    heading="Open and close",
    habitat_name="open_cabinet",
)
