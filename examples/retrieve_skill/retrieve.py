"""Retrieve as another package would declare it."""

from pathlib import Path

from retrieve_task import Retrieve

from skills.endings import HoldsAtRest
from skills.oracle.beginnings import begin_pick
from skills.spa.pick import pick
from skills.spec import PlanAction, SkillSpec, object_of

SPEC = SkillSpec(
    task=Retrieve,
    title="retrieve",
    verb="fetching",
    colour="#be185d",
    effect="holds",
    actions=(PlanAction("retrieve", told=2),),
    argument=object_of,
    ending=HoldsAtRest,
    oracle=begin_pick,
    spa=pick,
    grip="hold",
    config=Path(__file__).with_name("retrieve.yaml"),
    pddl="""
  (:action retrieve
    :parameters (?r - robot ?from - location ?o - movable ?p - receptacle)
    :precondition (and (robot-at ?r ?from) (hand-empty ?r) (in ?o ?p) (opened ?p) (misplaced ?o))
    :effect (and (not (robot-at ?r ?from)) (robot-at ?r ?o)
                 (not (hand-empty ?r)) (not (in ?o ?p)) (holding ?r ?o)))
""",
)
