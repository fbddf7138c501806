; The Home Assistant Benchmark (HAB) as a planning domain.
;
; Pure STRIPS with types, so that every planner of the unified-planning library can read it:
;   - "not holding" is its own predicate, hand-empty;
;   - nav names the place it leaves, so that robot-at can be deleted without a quantifier;
;   - opened holds of static receptacles from the start, so that one pick fits tables and drawers;
;   - misplaced guards pick: an object that was placed is not picked up again, which spares a
;     quantified delete of object-at;
;   - marks never changes, so that a receptacle can be closed after its last object was taken out:
;     HAB's actions "by name", but with a point for the skill to look at.
; HAB's own rules are kept: who must be near what, one object in the hand, closed means out of reach.

(define (domain home-assistant)
  (:requirements :strips :typing)

  (:types
    location robot - object
    item receptacle pose - location       ; where a robot can be
    movable goal - item                   ; an object, or the point where one shall stand
    static-receptacle articulated - receptacle
    drawer fridge - articulated)

  (:predicates
    (robot-at ?r - robot ?l - location)   ; within arm's reach after driving (2 m in the plane)
    (holding ?r - robot ?o - movable)
    (hand-empty ?r - robot)
    (object-at ?o - movable ?g - goal)    ; within 0.30 m of the goal
    (misplaced ?o - movable)              ; not at any goal yet
    (in ?i - item ?p - receptacle)        ; stands on or in it; for goals: belongs to it
    (marks ?i - item ?p - articulated)    ; its start, or the goal itself, lies in the receptacle
    (opened ?p - receptacle)
    (closed ?p - articulated))

  (:action nav
    :parameters (?r - robot ?from - location ?to - item)
    :precondition (and (robot-at ?r ?from))
    :effect (and (not (robot-at ?r ?from)) (robot-at ?r ?to)))

  ; The point inside tells the skill where to drive: the handle is not what it sees.
  (:action nav-to-receptacle
    :parameters (?r - robot ?from - location ?to - articulated ?i - item)
    :precondition (and (robot-at ?r ?from) (marks ?i ?to))
    :effect (and (not (robot-at ?r ?from)) (robot-at ?r ?to)))

  (:action pick
    :parameters (?r - robot ?o - movable ?p - receptacle)
    :precondition (and (robot-at ?r ?o) (hand-empty ?r) (in ?o ?p) (opened ?p) (misplaced ?o))
    :effect (and (not (hand-empty ?r)) (not (in ?o ?p)) (holding ?r ?o)))

  (:action place
    :parameters (?r - robot ?o - movable ?g - goal ?p - receptacle)
    :precondition (and (robot-at ?r ?g) (holding ?r ?o) (in ?g ?p) (opened ?p))
    :effect (and (not (holding ?r ?o)) (not (misplaced ?o))
                 (hand-empty ?r) (object-at ?o ?g) (in ?o ?p)))

  ; Handles are gripped with the same suction cup as objects: the hand must be empty.
  (:action open-fridge
    :parameters (?r - robot ?p - fridge ?i - item)
    :precondition (and (robot-at ?r ?p) (hand-empty ?r) (closed ?p) (marks ?i ?p))
    :effect (and (not (closed ?p)) (opened ?p)))

  (:action open-cab
    :parameters (?r - robot ?p - drawer ?i - item)
    :precondition (and (robot-at ?r ?p) (hand-empty ?r) (closed ?p) (marks ?i ?p))
    :effect (and (not (closed ?p)) (opened ?p)))

  (:action close-fridge
    :parameters (?r - robot ?p - fridge ?i - item)
    :precondition (and (robot-at ?r ?p) (hand-empty ?r) (opened ?p) (marks ?i ?p))
    :effect (and (not (opened ?p)) (closed ?p)))

  (:action close-cab
    :parameters (?r - robot ?p - drawer ?i - item)
    :precondition (and (robot-at ?r ?p) (hand-empty ?r) (opened ?p) (marks ?i ?p))
    :effect (and (not (opened ?p)) (closed ?p)))
)
