"""Pick: take an object with the suction cup."""

from rearrange.tasks import Pick
from skills.endings import HoldsAtRest
from skills.oracle.beginnings import begin_pick
from skills.spa.pick import pick
from skills.spec import PlanAction, SkillSpec, object_of

SPEC = SkillSpec(
    task=Pick,
    title="pick",
    verb="picking up",
    colour="#2563eb",
    effect="holds",
    actions=(PlanAction("pick", told=1),),
    argument=object_of,
    ending=HoldsAtRest,
    oracle=begin_pick,
    spa=pick,
    grip="hold",
    heading="Pick",
)
