"""A chore of one's own, planned and carried out: `python examples/own_chore.py`.

The class says what lies where, and where it shall be. Plan, skills and judgement follow from that. A
package that names the class in its entry points (`rearrange.tasks`) makes it known to every command.
"""

from typing import ClassVar

import numpy as np

from planner.evaluation import EpisodeRunner, EvaluationSettings
from rearrange.episodes import Target
from rearrange.tasks import Household, HouseholdConfig, register_task, unregister_task
from rearrange.tasks.sampling import GOAL_GAP, Scene, empty_scene


class ServeDrinks(Household):
    """Two things from the counter to the table in front of the sofa."""

    name: ClassVar[str] = "serve_drinks"
    title: ClassVar[str] = "Serve Drinks"
    target_count: ClassVar[int] = 2
    config_type = HouseholdConfig

    def sample_scene(
        self, split: str, rng: np.random.Generator
    ) -> tuple[Scene, tuple[Target, ...]] | None:
        """An apartment with two targets; None where there is no room for them."""
        scene = empty_scene(split, rng)
        targets = []
        for slot in rng.permutation(len(scene.spec.objects))[: self.target_count].tolist():
            if not scene.add_object(slot, "counter_left", rng, GOAL_GAP):
                return None
            goal = scene.find_place(slot, "table_02", GOAL_GAP, rng, attempts=50)
            if goal is None:
                return None
            targets.append(Target(slot, scene.position(slot), goal, "counter_left", "table_02"))
        return scene, tuple(targets)


def main(skills: str = "learned", episodes: int = 2) -> list[bool]:
    """Let the shipped skills serve; returns which episodes succeeded."""
    register_task(ServeDrinks)
    try:
        runner = EpisodeRunner(EvaluationSettings("serve_drinks", skills=skills))
        served = []
        for index in range(episodes):
            record = runner.play(index)
            served.append(record.execution.success_at_end)
            told = "served" if served[-1] else record.execution.failure
            print(f"episode {index}: {', '.join(record.plan)}: {told}")
        runner.close()
    finally:
        unregister_task("serve_drinks")
    return served


if __name__ == "__main__":
    main()
