"""Close a drawer of the cabinet."""

from functools import partial

from rearrange.tasks import CloseCab
from skills.endings import StopsAfterwards
from skills.oracle.beginnings import begin_close
from skills.spa.open_close import close_part
from skills.spec import PlanAction, SkillSpec, object_of

SPEC = SkillSpec(
    task=CloseCab,
    title="close cabinet",
    verb="closing",
    colour="#b45309",
    effect="closes",
    actions=(PlanAction("close-cab", told=2, receptacle=1),),
    argument=object_of,
    ending=StopsAfterwards,
    oracle=begin_close,
    spa=partial(close_part, is_door=False),
    grip="free",  # it has to grasp and let go, and when it is over is its own affair
    heading="Open and close",
    habitat_name="close_cabinet",
)
