import dataclasses
import json
import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.faulty_environments import Trails
from tests.helpers import toy_environments
from tests.helpers.small_runs import small_run
from ver import population
from ver.errors import UserError
from ver.population import ADOPTED, Population, PopulationConfig, best_of, evolve
from ver.run_lock import RunLock
from ver.trainer import Trainer

RATE = "ppo.learning_rate"


@given(
    scores=st.lists(st.floats(0, 1) | st.just(math.nan), min_size=2, max_size=12),
    replaced=st.floats(0, 0.5),
    mutated=st.floats(0, 1),
    rate=st.floats(0, 1),
    gap=st.floats(0, 0.5),
    seed=st.integers(0, 1000),
)
@example([1.0, math.nan, math.nan, 0.0, 0.0], 0.5, 0.0, 0.0, 0.0, 323)
def test_the_worst_copy_the_best_and_the_best_stay_as_they_are(
    scores, replaced, mutated, rate, gap, seed
):
    config = PopulationConfig(
        members=len(scores), replaced_share=replaced, mutated_share=mutated, mutation_rate=rate,
        least_gap=gap,
    )  # fmt: skip
    values = [{"a": float(index + 1), "b": -2.0} for index in range(len(scores))]
    new, parents = evolve(config, scores, values, np.random.default_rng(seed))
    known = [-math.inf if math.isnan(score) else score for score in scores]
    copiers = [index for index, parent in enumerate(parents) if parent != index]
    count = round(replaced * len(scores) + 1e-9)
    assert len(copiers) <= count + 1
    for index in copiers:
        assert known[parents[index]] > known[index] + gap
        assert parents[parents[index]] == parents[index]  # who is copied has copied nobody
    untouched = sorted(known)[len(known) - (len(known) - math.floor(mutated * len(known) + 0.5)) :]
    for index, (value, parent) in enumerate(zip(new, parents, strict=True)):
        factors = [value[name] / values[parent][name] for name in value]
        assert all(
            any(math.isclose(factor, wanted) for wanted in (1.0, 1.2, 1 / 1.2))
            for factor in factors
        )
        if untouched and known[index] > untouched[0]:
            assert factors == [1.0, 1.0]
    assert values == [{"a": float(index + 1), "b": -2.0} for index in range(len(scores))]


def test_by_hand():
    config = PopulationConfig(members=4, mutated_share=0.5, mutation_rate=1.0, replaced_share=0.25)
    values = [{"rate": 1.0}, {"rate": 2.0}, {"rate": 4.0}, {"rate": 8.0}]
    new, parents = evolve(config, [0.5, 0.9, 0.1, 0.4], values, np.random.default_rng(0))
    assert parents == [0, 1, 1, 3]  # the worst, 2, goes on from the best, 1
    assert (new[0], new[1]) == ({"rate": 1.0}, {"rate": 2.0})
    assert new[2]["rate"] in (pytest.approx(2.4), pytest.approx(2.0 / 1.2))
    assert new[3]["rate"] in (pytest.approx(9.6), pytest.approx(8.0 / 1.2))


def test_what_mutates_stays_within_its_range():
    config = PopulationConfig(members=8, mutated_share=1.0, mutation_rate=1.0)
    values = [{"ppo.gamma": 1.0, "trainer.ppo.gamma": 1.0, "task.reward": 1.0}] * 8
    new, _ = evolve(config, [0.0] * 8, values, np.random.default_rng(0))
    for name, largest in (("ppo.gamma", 1.0), ("trainer.ppo.gamma", 1.0), ("task.reward", 1.2)):
        assert {value[name] for value in new} == {largest, 1.0 / 1.2}


def test_who_has_no_score_is_not_the_best():
    assert best_of([0.1, math.nan, 0.3]) == 2
    assert best_of([0.3, 0.3]) == 0
    assert best_of([math.nan, math.nan]) == 0


class FakeTrainer:
    """Whose score is its member's number plus what it has learned, a step at a time."""

    def __init__(self, member, values, directory, after_update):
        self.member, self.values, self.directory = member, values, directory
        self.after_update, self.interrupted = after_update, False
        self.progress = self  # it has the means, too
        self.checkpoints = directory / "checkpoints"
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        found = sorted(self.checkpoints.glob("*"))
        state = json.loads(found[-1].read_text()) if found else {"steps": 0, "from": member}
        self.steps, self.origin = state["steps"], state["from"]

    def save(self):
        path = self.checkpoints / f"training_{self.steps:012d}.safetensors"
        path.write_text(json.dumps({"steps": self.steps, "from": self.origin}))

    def adopt(self, path):
        state = json.loads(path.read_text())
        self.steps, self.origin = state["steps"], state["from"]
        self.save()

    def train(self):
        while True:
            self.steps += 10
            self.save()
            if self.after_update(self, {}):
                return

    def episode_mean(self, metric):
        assert metric == "success"
        return self.origin + self.values[RATE]


CONFIG = PopulationConfig(members=3, interval=30, rounds=3, replaced_share=0.34, seed=5)


def state_of(directory):
    return json.loads((directory / "population.json").read_text())


def test_everybody_trains_the_same_steps_and_the_best_spread(tmp_path):
    told = []
    population = Population(
        CONFIG, {RATE: 0.1}, tmp_path, FakeTrainer, lambda p: told.append(p.round)
    )
    assert population.run() == population.best
    assert told == [0, 0, 1, 1, 1, 2, 2, 2, 3]
    first = population.members[0]
    assert first.parents[0] == 2  # the worst, replaced by the best after the first round
    assert first.scores[0] == pytest.approx(0.1)
    assert first.scores[1] > 2.0
    for index in range(3):
        trained = FakeTrainer(index, {}, population.run_directory(index), None)
        assert trained.steps == 90
        assert not (population.run_directory(index) / ADOPTED).exists()
    assert [len(member.history) for member in population.members] == [3, 3, 3]


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 8])
def test_a_killed_population_goes_on_to_the_same_end(tmp_path, monkeypatch, budget):
    """The blow falls before every so many-th step of a trainer or writing of the state."""
    Population(CONFIG, {RATE: 0.1}, tmp_path / "whole", FakeTrainer).run()
    left = 0

    def count(original):
        def counted(*arguments):
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            original(*arguments)

        return counted

    monkeypatch.setattr(FakeTrainer, "save", count(FakeTrainer.save))
    for name in ("write_atomically", "write_json"):
        monkeypatch.setattr(population, name, count(getattr(population, name)))
    for killed in range(200):
        left = budget + killed % 2
        try:
            Population(CONFIG, {RATE: 0.1}, tmp_path / "killed", FakeTrainer).run()
        except KeyboardInterrupt:
            continue
        break
    assert 3 < killed < 199
    assert state_of(tmp_path / "killed") == state_of(tmp_path / "whole")


def test_more_rounds_go_on_other_settings_do_not(tmp_path):
    Population(CONFIG, {RATE: 0.1}, tmp_path, FakeTrainer).run()
    longer = dataclasses.replace(CONFIG, rounds=4)
    population = Population(longer, {RATE: 0.1}, tmp_path, FakeTrainer)
    assert [len(member.parents) for member in population.members] == [2, 2, 2]
    population.run()
    assert [len(member.parents) for member in population.members] == [3, 3, 3]
    assert [len(member.scores) for member in population.members] == [4, 4, 4]
    with pytest.raises(UserError, match=r"factor was 1\.2, and is 1\.5 now"):
        Population(dataclasses.replace(CONFIG, factor=1.5), {RATE: 0.1}, tmp_path, FakeTrainer)
    with pytest.raises(UserError, match=r"ppo.learning_rate may change, not ppo.clip"):
        Population(longer, {"ppo.clip": 0.2}, tmp_path, FakeTrainer)


@pytest.mark.parametrize("broken", ["{", "[]", "{}", '{"config": {}, "members": []}'])
def test_what_is_known_of_a_population_and_is_broken_is_told(tmp_path, broken):
    (tmp_path / population.STATE).write_text(broken)
    with pytest.raises(UserError, match=r"population\.json is broken: choose another run"):
        Population(CONFIG, {RATE: 0.1}, tmp_path, FakeTrainer)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"members": 1}, "members must be at least 2 and at most 1000, found 1"),
        ({"interval": 0}, "interval must be at least 1"),
        ({"mutation_rate": 1.5}, "mutation_rate must be at least 0 and at most 1"),
        ({"replaced_share": 0.6}, "replaced_share must be at least 0 and at most 0.5"),
        ({"factor": 1.0}, "factor must be above 1"),
        ({"least_gap": math.nan}, "least_gap must be at least 0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"metric": ""}, "metric must not be empty"),
    ],
)
def test_numbers_that_make_no_sense(tmp_path, changes, complaint):
    with pytest.raises(UserError, match=complaint):
        Population(PopulationConfig(**changes), {RATE: 0.1}, tmp_path, FakeTrainer)
    assert not [*tmp_path.iterdir()]


def test_a_second_population_in_the_directory_is_refused(tmp_path):
    first = Population(CONFIG, {RATE: 0.1}, tmp_path, FakeTrainer)
    with RunLock(tmp_path), pytest.raises(UserError, match="another training writes into"):
        first.run()
    assert not (tmp_path / "population.json").exists()
    first.run()


def test_a_metric_that_no_episode_has_is_refused_after_the_first_training(tmp_path, monkeypatch):
    monkeypatch.setattr(FakeTrainer, "episode_mean", lambda *_: math.nan)
    row = {"steps": 30.0}
    monkeypatch.setattr(FakeTrainer, "row", lambda *_: row, raising=False)
    short = dataclasses.replace(CONFIG, rounds=1, metric="sucess")
    Population(short, {RATE: 0.1}, tmp_path / "no_episode_yet", FakeTrainer).run()
    row["episode/success"] = 1.0
    with pytest.raises(UserError, match="metric=sucess: no episode has it; choose one of success"):
        Population(short, {RATE: 0.1}, tmp_path / "other", FakeTrainer).run()


def make_trainer(member, values, directory, after_update):
    overrides = [f"{name}={value}" for name, value in values.items()]
    config = small_run(
        "log_interval_s=1e9",
        "collect.environments_per_worker=4",
        "collect.rollout_length=8",
        "total_steps=64",
        *overrides,
    )
    config.seed += member
    return Trainer(config, Trails(), directory, after_update=after_update)


@pytest.mark.slow
def test_a_run_adopts_weights_but_not_luck(tmp_path):
    parent = make_trainer(0, {}, tmp_path / "parent", None)
    parent.train()
    (newest, *_) = sorted(parent.checkpoints.folder.glob("*"), reverse=True)
    child = make_trainer(1, {"total_steps": 192}, tmp_path / "child", None)
    child.train()
    assert child.steps == 192
    child.adopt(newest)
    assert child.steps == 64
    for name, value in parent.policy.state_dict().items():
        assert torch.equal(child.policy.state_dict()[name], value)
    assert child.rng.random() != parent.rng.random()
    again = make_trainer(1, {"total_steps": 192}, tmp_path / "child", None)
    assert again.steps == 64  # its own, later checkpoints are gone
    again.train()
    assert again.steps == 192
    assert not math.isnan(again.progress.episode_mean("episode_length"))
    assert math.isnan(again.progress.episode_mean("nothing"))


@pytest.mark.slow
def test_a_population_learns_the_cue(tmp_path):
    """With a step size of which only some multiples learn well."""

    def make(member, values, directory, after_update):
        overrides = [
            "log_interval_s=1e9", "collect.num_environments=16", "collect.environments_per_worker=8",
            "collect.rollout_length=32", "ppo.schedule=constant", "ppo.gamma=0.9",
            "network.hidden_size=32", "total_steps=80000", f"{RATE}={values[RATE]}",
        ]  # fmt: skip
        config = small_run(*overrides)
        config.seed += member
        return Trainer(config, toy_environments.make_cue, directory, after_update=after_update)

    config = PopulationConfig(
        members=3, interval=10_000, rounds=6, mutation_rate=0.8, factor=2.0, replaced_share=0.34,
        metric="episode_return",
    )  # fmt: skip
    population = Population(config, {RATE: 5e-4}, tmp_path, make)
    best = population.members[population.run()]
    assert best.scores[-1] > 0.8
    assert best.scores[-1] > best.scores[0] + 0.3
