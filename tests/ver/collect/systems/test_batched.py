"""The batched system: one process, a vectorised environment, and nobody else."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.faulty_environments import Trails
from tests.helpers import toy_environments
from tests.helpers.chronicle import ACTIONS, OBSERVATIONS, Chronicle, ChronicledWorlds
from tests.helpers.drawn import part_of
from tests.helpers.small_runs import curve, small_run
from tests.helpers.tensor_worlds import OnDevice, TensorWorlds
from tests.helpers.true_steps import check_rollout
from tests.helpers.unrepeatable import Unrepeatable
from ver.collect.systems.batched import BatchedCollector
from ver.errors import UserError, WorkerCrashError
from ver.networks.policy import ActorCritic
from ver.random_state import seed_everything
from ver.shared.outcomes import CONTINUES, LOST, TERMINATED, TRUNCATED
from ver.trainer import Trainer


def make_collector(chronicle, n: int, length: int, *overrides: str) -> BatchedCollector:
    config = small_run(
        f"collect.num_environments={n}",
        f"collect.rollout_length={length}",
        "collect.max_faults_per_hour=100",
        "network.hidden_size=4",
        *overrides,
    )
    torch.manual_seed(0)
    policy = ActorCritic(OBSERVATIONS, ACTIONS, config.network)
    with torch.no_grad():
        # Within the Box, so that what is carried out is what was drawn.
        policy.head.log_std.fill_(-3.0)
    return BatchedCollector(config, chronicle, policy, 5)


@settings(max_examples=part_of(25))
@given(st.data())
def test_each_step_is_learned_from_once_with_its_true_reward_whatever_is_lost(data):
    n = data.draw(st.integers(1, 4), label="environments")
    length = data.draw(st.integers(2, 10), label="length")
    fault_rate = data.draw(st.sampled_from([0.0, 0.1, 0.3]), label="fault rate")
    rng = np.random.default_rng(data.draw(st.integers(0, 9999), label="seed"))
    chronicle = Chronicle(rng, fault_rate)
    tensors = data.draw(st.booleans(), label="tensors")
    collector = make_collector(OnDevice(chronicle) if tensors else chronicle, n, length)
    buffer, seen = collector.buffer, set()
    for version in range(4):
        assert collector.collect(version)
        check_rollout(buffer, chronicle, seen, rng)
        # Nothing is under way between rollouts, so no step is an older policy's.
        assert (buffer.versions == version).all()
        assert (np.bincount(buffer.environments, minlength=n) == length + 1).all()
        assert buffer.fresh_steps == n * length
        with torch.no_grad():
            collector.engine.policy.critic.bias += 1.0
    lost = sum(step.outcome == LOST for step in chronicle.steps.values())
    assert collector.faults.counts["steps_lost"] == lost
    ended = [
        key for key, step in chronicle.steps.items() if step.outcome in (TERMINATED, TRUNCATED)
    ]
    told = sorted(episode["serial"] for episode in collector.drain_episodes())
    assert told == sorted(serial for _, serial in ended)
    assert collector.drain_episodes() == []


def test_metrics_without_a_mask_are_of_all():
    class Unmasked(ChronicledWorlds):
        def step(self, actions):
            *results, infos = super().step(actions)
            if infos:
                own = [{"serial": 0.0} | (each or {}) for each in infos["final_info"]["metrics"]]
                infos["final_info"] = {"metrics": {"serial": np.array([e["serial"] for e in own])}}
            return *results, infos

    chronicle = Chronicle(np.random.default_rng(0))
    chronicle.make_vector = lambda count, seed: Unmasked(chronicle, count)
    chronicle.serial = [0, 0]
    collector = make_collector(chronicle, 2, 20)
    assert collector.collect(0)
    ended = [s for (_, s), step in chronicle.steps.items() if step.outcome != CONTINUES]
    assert sorted(episode["serial"] for episode in collector.drain_episodes()) == sorted(ended)


def test_states_and_values_are_those_of_each_episode_played_alone():
    """Hidden states at every step, and the value of the observation that a truncation cut off."""
    n, length = 3, 40
    chronicle = Chronicle(np.random.default_rng(0))
    collector = make_collector(chronicle, n, length)
    policy, buffer = collector.engine.policy, collector.buffer
    states, values, finals, actions, places = {}, {}, {}, {}, {}
    for _ in range(3):
        assert collector.collect(0)
        for slot in range(buffer.capacity):
            key = tuple(buffer.observations["x"][slot].int().tolist())
            states[key] = buffer.states[slot].clone()
            values[key] = float(buffer.values[slot])
            actions[key] = buffer.actions[slot].clone()
            finals[key] = float(buffer.final_values[slot])
            places[key] = int(buffer.episodes[slot]), int(buffer.steps[slot])

    def value_of(environment, serial, state, previous, mask):
        shown = {"x": torch.tensor([[environment, serial]], dtype=torch.float32)}
        with torch.no_grad():
            features = policy.features(shown, previous[None], torch.tensor([mask]))
            output, state = policy.core.step(features, state[None])
            return float(policy.critic(output)), state[0]

    truncations = 0
    for environment in range(n):
        serials = sorted(serial for owner, serial in states if owner == environment)
        assert serials == list(range(1, len(serials) + 1))
        assert len(serials) == 3 * length + 1
        episode, begun = 0, 0
        for serial in serials[:-1]:
            key = (environment, serial)
            first = key in chronicle.first
            if first:
                episode, begun = episode + 1, serial
                state, previous = policy.initial_state(1)[0], policy.initial_actions(1)[0]
            assert places[key] == (episode, serial - begun)
            torch.testing.assert_close(states[key], state)
            value, state = value_of(environment, serial, state, previous, float(not first))
            previous = actions[key]
            assert values[key] == pytest.approx(value, abs=1e-5)
            if chronicle.steps[key].outcome == TRUNCATED:
                truncations += 1
                value, _ = value_of(environment, -serial, state, previous, 1.0)
                assert finals[key] == pytest.approx(value, abs=1e-5)
    assert truncations > 30


def test_collection_stops_when_it_is_asked_to():
    collector = make_collector(Chronicle(np.random.default_rng(0)), 2, 5000)
    asked = []
    assert not collector.collect(0, lambda: bool(asked.append(True)))
    assert len(asked) == 1
    assert not collector.buffer.full


def run(system: str, directory: Path, n: int, make_env, total: int, *overrides: str) -> Trainer:
    config = small_run(
        f"system={system}",
        "log_interval_s=1e9",
        f"collect.num_environments={n}",
        f"collect.environments_per_worker={n}",
        f"collect.min_requests={n}",  # VER in lockstep
        f"total_steps={total}",
        *overrides,
    )
    return Trainer(config, make_env, directory)


@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_it_learns_bitwise_what_ver_in_lockstep_does(tmp_path, n):
    make = toy_environments.make_clockwork
    trainers = [
        run(system, tmp_path / system, n, make, n * 16 * 6) for system in ("ver", "batched")
    ]
    for trainer in trainers:
        seed_everything(3)  # the second would go on with the first one's networks' draws
        trainer.rng = np.random.default_rng(3)
        trainer.train()
    ver, batched = (trainer.policy.state_dict() for trainer in trainers)
    for name, value in ver.items():
        assert torch.equal(value, batched[name]), name
    rows = curve(tmp_path / "batched")
    assert rows == curve(tmp_path / "ver")
    assert rows[-1]["steps"] == n * 16 * 6
    assert 3 <= rows[-1]["episode/reached"] == rows[-1]["episode/episode_length"] <= 9


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(toy_environments.make_clockwork, marks=pytest.mark.slow),
        toy_environments.make_picture,
    ],
)
def test_it_learns_from_tensors_bitwise_what_it_does_from_arrays(tmp_path, make):
    learned = []
    for name, worlds in (("arrays", make), ("tensors", OnDevice(make))):
        trainer = run("batched", tmp_path / name, 3, worlds, 3 * 16 * 4)
        seed_everything(3)
        trainer.rng = np.random.default_rng(3)
        trainer.train()
        assert not any(trainer.progress.faults.values())
        learned.append(trainer.policy.state_dict())
    for name, value in learned[0].items():
        assert torch.equal(value, learned[1][name]), name
    assert curve(tmp_path / "arrays") == curve(tmp_path / "tensors")


def test_worlds_that_are_stepped_together_only_want_the_system_that_does(tmp_path):
    with pytest.raises(UserError, match="choose system=batched, not ver"):
        run("ver", tmp_path, 2, OnDevice(toy_environments.make_cue), 64)


def test_tensors_of_another_device_are_refused():
    class Elsewhere(TensorWorlds):
        def reset(self, *, seed=None, options=None):
            return {"x": torch.zeros(2, 2, device="meta")}, {}

    chronicle = Chronicle(np.random.default_rng(0), serial=[0, 0])
    worlds = Given(Elsewhere(ChronicledWorlds(chronicle, 2)))
    with pytest.raises(UserError, match="'x' is on meta, the policy on cpu: set device=meta"):
        make_collector(worlds, 2, 8)


@pytest.mark.slow
def test_learns_to_remember_a_cue(tmp_path):
    trainer = run(
        "batched",
        tmp_path,
        16,
        toy_environments.make_cue,
        80000,
        "collect.rollout_length=64",
        "checkpoint_interval_s=1e9",
        "ppo.learning_rate=0.003",
        "ppo.schedule=constant",
        "ppo.gamma=0.9",
        "network.hidden_size=32",
    )
    trainer.after_update = lambda _, row: row["episode/episode_return"] > 0.9
    row = trainer.train()
    assert row["episode/episode_return"] > 0.9
    assert row["episode/success"] > 0.5
    phases = ("simulation_wait", "inference", "learning", "overhead", "waiting_for_ranks")
    shares = [row[f"time/{name}"] for name in phases]
    assert all(share > 0.0 for share in shares[:-1])
    assert sum(shares) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "systems",
    [["batched"], ["batched", "ver"], pytest.param(["ver", "batched"], marks=pytest.mark.slow)],
)
def test_resuming_in_mid_episode_equals_not_stopping_bitwise(tmp_path, systems):
    """And where VER stopped in lockstep it goes on, and the other way round."""
    total = 3 * 16 * 6
    whole = run("batched", tmp_path / "whole", 3, Trails(), total)
    whole.train()
    stops = 0
    while True:
        again = run(systems[stops % len(systems)], tmp_path / "again", 3, Trails(), total)
        if again.steps == total:
            break
        again.after_update = lambda trainer, _: trainer.steps % (3 * 16 * 2) == 0
        again.train()
        assert not any(again.progress.faults.values())
        stops += 1
    assert stops == 3
    assert curve(tmp_path / "again") == curve(tmp_path / "whole")
    for name, value in again.policy.state_dict().items():
        assert torch.equal(value, whole.policy.state_dict()[name]), name
    if "ver" in systems:  # which the files tell
        return
    for name in ("policy.safetensors", "policy.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@dataclass
class Plain:
    """Makes worlds that gymnasium seeds, and nobody can bring back."""

    shift: int = 0

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        return SyncVectorEnv(
            [partial(Trails(), index, seed) for index in range(count)],
            autoreset_mode=AutoresetMode.SAME_STEP,
        )


@pytest.mark.parametrize("before", ["batched", "ver"])
def test_a_run_of_worlds_that_cannot_be_brought_back_starts_new_episodes(tmp_path, before):
    trainer = run(before, tmp_path, 3, Trails() if before == "ver" else Plain(), 96)
    trainer.train()
    expected = {name: value.clone() for name, value in trainer.policy.state_dict().items()}
    moments = {name: value.clone() for name, value in trainer.ppo.state().items()}
    draws = torch.rand(3), trainer.rng.random()
    again = run("batched", tmp_path, 3, Plain(), 192)
    assert again.steps == 96
    assert torch.equal(torch.rand(3), draws[0])
    assert again.rng.random() == draws[1]
    for name, value in again.policy.state_dict().items():
        assert torch.equal(value, expected[name])
    for name, value in again.ppo.state().items():
        assert torch.equal(value, moments[name])
    again.train()
    assert again.environment_seed != trainer.environment_seed
    assert again.steps == 192
    assert not any(again.progress.faults.values())
    assert [row["steps"] for row in curve(tmp_path)] == [48, 96, 144, 192]


def test_worlds_that_do_not_repeat_their_episodes_all_start_new_ones(tmp_path):
    run("batched", tmp_path, 3, Trails(), 96).train()
    again = run("batched", tmp_path, 3, Unrepeatable(), 192)
    again.train()
    assert again.steps == 192
    assert again.progress.faults["diverged"] == 1
    assert again.progress.faults["raised"] == 0


@pytest.mark.parametrize(
    ("override", "mend"),
    [
        ("collect.overlap=true", "set it to false"),
        ("collect.num_inference_workers=2", "set it to 1"),
        ("distributed.preemption=optimal", "set it to none"),
    ],
)
def test_settings_that_need_processes_are_refused(tmp_path, override, mend):
    with pytest.raises(UserError, match=f"found {override}; {mend}, or choose system=ver"):
        run("batched", tmp_path, 2, toy_environments.make_cue, 100, override)


@dataclass
class Given:
    """Gives these worlds, however many are asked for."""

    worlds: VectorEnv

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        return self.worlds


class Rotten(ChronicledWorlds):
    """Its observations, final ones or rewards are not finite from the third step on."""

    where = ""
    count = 0

    def step(self, actions):
        observations, rewards, terminated, truncated, infos = super().step(actions)
        type(self).count += 1
        if self.count > 2:
            if self.where == "reward":
                rewards[0] = np.nan
            elif self.where == "large reward":
                rewards[0] = 1e25
            elif self.where == "observation":
                observations["x"][0, 1] = np.inf
            elif self.where == "large observation":
                observations["x"][0, 1] = 1e25
            else:
                truncated, terminated = np.ones_like(truncated), np.zeros_like(terminated)
                bad = {"x": np.full(2, np.nan)}
                infos["final_obs"] = np.array([bad] * self.num_envs, object)
        return observations, rewards, terminated, truncated, infos


@pytest.mark.parametrize("tensors", [False, True])
@pytest.mark.parametrize(
    "where",
    ["reward", "large reward", "observation", "large observation", "final observation"],
)
def test_too_many_faults_end_the_run_in_one_line(where, tensors):
    kind = type("Rotten", (Rotten,), {"where": where})
    chronicle = Chronicle(np.random.default_rng(0))
    chronicle.make_vector = lambda count, seed: kind(chronicle, count)
    chronicle.serial = [0, 0]
    worlds = OnDevice(chronicle) if tensors else chronicle
    collector = make_collector(worlds, 2, 8, "collect.max_faults_per_hour=4")
    collector.faults.starting = False
    with pytest.raises(WorkerCrashError, match=r"environment returned the .*5 faults") as caught:
        collector.collect(0)
    assert "\n" not in str(caught.value)
    assert collector.faults.counts["not_finite"] == 5


def test_worlds_that_cannot_be_reset_end_the_run_in_one_line():
    chronicle = Chronicle(np.random.default_rng(0))

    class Locked(ChronicledWorlds):
        def reset(self, *, seed=None, options=None):
            raise RuntimeError("the door is locked")

    chronicle.make_vector = lambda count, seed: Locked(chronicle, count)
    with pytest.raises(WorkerCrashError, match=r"cannot be started: .*the door is locked; mend it"):
        make_collector(chronicle, 2, 8)
