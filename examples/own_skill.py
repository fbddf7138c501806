"""One's own function in the place of a skill, in a whole chore: `python examples/own_skill.py`.

The function sees what the skill's task shows, and answers in [-1, 1]. Here it is the shipped policy
of Pick with noise; yours may be anything.
"""

import numpy as np

import skills
from planner.evaluation import EpisodeRunner, EvaluationSettings


class NoisyPick:
    """Pick with a trembling hand."""

    def __init__(self, noise: float) -> None:
        self.policy, self.noise = skills.load_policy("pick"), noise
        self.rng = np.random.default_rng(0)

    def restart(self) -> None:
        """Called where the skill begins."""
        self.policy.restart()

    def __call__(self, observation: dict[str, np.ndarray]) -> np.ndarray:
        """Action [10] for an observation of Pick."""
        action = self.policy.act(observation)
        return action + self.rng.normal(0.0, self.noise, action.shape)


def main(noise: float = 0.1, episodes: int = 2) -> list[float]:
    """Tidy a house with it, oracles doing the rest; returns how far each episode came."""
    pick = skills.FunctionSkill("pick", NoisyPick(noise))
    settings = EvaluationSettings("tidy_house", episodes=episodes, skills="oracle")
    runner = EpisodeRunner(settings, {"pick": pick})
    done = []
    for index in range(episodes):
        interactions = runner.play(index).execution.interactions
        successes = sum(each.at_end for each in interactions)
        print(f"episode {index}: {successes} of {len(interactions)} interactions done")
        done.append(successes / len(interactions))
    runner.close()
    return done


if __name__ == "__main__":
    main()
