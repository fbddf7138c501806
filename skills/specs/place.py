"""Place: put the object in the hand at its goal."""

from rearrange.tasks import Place
from skills.endings import EmptyAtRest
from skills.oracle.beginnings import begin_place
from skills.spa.place import place
from skills.spec import PlanAction, SkillSpec, goal_of

SPEC = SkillSpec(
    task=Place,
    title="place",
    verb="placing on",
    colour="#059669",
    effect="places",
    actions=(PlanAction("place", told=2),),
    argument=goal_of,
    ending=EmptyAtRest,
    oracle=begin_place,
    spa=place,
    grip="release",
    heading="Place",
)
