"""Environments in a test's hands, asking an inference engine of the same process."""

from dataclasses import dataclass, field

import numpy as np
from gymnasium import spaces

from tests.helpers.true_steps import Step
from ver.shared.outcomes import CONTINUES, TRUNCATED

OBSERVATIONS = spaces.Dict({"x": spaces.Box(-99, 99, (2,), np.float32)})
ACTIONS = spaces.Box(-1, 1, (1,), np.float32)


@dataclass
class World:
    """N environments in the test's hands; (environment, serial) names every observation."""

    n: int
    mailboxes: object
    serial: list[int] = field(default_factory=list)
    steps: dict = field(default_factory=dict)  # (environment, serial) -> Step
    first: set = field(default_factory=set)

    def begin(self, environment: int, outcome: int) -> None:
        self.serial[environment] += 1
        self.first.add((environment, self.serial[environment]))
        self._ask(environment, outcome)

    def _ask(self, environment: int, outcome: int) -> None:
        rows = self.mailboxes.arrays
        rows["observation/x"][environment] = environment, self.serial[environment]
        rows["outcome"][environment] = outcome
        rows["request_ready"][environment] = 1

    def respond(self, environment: int, outcome: int, reward: float) -> None:
        """The environment has an action, and answers."""
        rows = self.mailboxes.arrays
        rows["action_ready"][environment] = 0
        key = (environment, self.serial[environment])
        self.steps[key] = Step(float(rows["action"][environment, 0]), reward, outcome)
        rows["reward"][environment] = reward
        if outcome == CONTINUES:
            self.serial[environment] += 1
            self._ask(environment, CONTINUES)
            return
        if outcome == TRUNCATED:
            rows["final_observation/x"][environment] = environment, -1.0
        self.begin(environment, outcome)
