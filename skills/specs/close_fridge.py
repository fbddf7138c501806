"""Close the fridge."""

from functools import partial

from rearrange.tasks import CloseFridge
from skills.endings import StopsAfterwards
from skills.oracle.beginnings import begin_close
from skills.spa.open_close import close_part
from skills.spec import PlanAction, SkillSpec, object_of

SPEC = SkillSpec(
    task=CloseFridge,
    title="close fridge",
    verb="closing",
    colour="#5b21b6",
    effect="closes",
    actions=(PlanAction("close-fridge", told=2, receptacle=1),),
    argument=object_of,
    ending=StopsAfterwards,
    oracle=begin_close,
    spa=partial(close_part, is_door=True),
    grip="free",  # it has to grasp and let go, and when it is over is its own affair
    heading="Open and close",
)
