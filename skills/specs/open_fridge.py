"""Open the fridge."""

from functools import partial

from rearrange.tasks import OpenFridge
from skills.endings import StopsAfterwards
from skills.oracle.beginnings import begin_open
from skills.spa.open_close import open_part
from skills.spec import PlanAction, SkillSpec, object_of

SPEC = SkillSpec(
    task=OpenFridge,
    title="open fridge",
    verb="opening",
    colour="#7c3aed",
    effect="opens",
    actions=(PlanAction("open-fridge", told=2, receptacle=1),),
    argument=object_of,
    ending=StopsAfterwards,
    oracle=begin_open,
    spa=partial(open_part, is_door=True),
    grip="free",  # it has to grasp and let go, and when it is over is its own affair
    heading="Open and close",
)
