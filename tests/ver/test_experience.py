import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.filled_buffer import ACTIONS, OBSERVATIONS, fill
from tests.helpers.played_rollouts import make_player
from ver.experience import find_sequences, importance_weights, make_experience, sequence_heads
from ver.mini_batches import cut_mini_batches
from ver.rollout import RolloutBuffer


def test_importance_weights_turn_fast_environments_down_and_leave_slow_ones():
    weights = importance_weights(np.array([10, 5, 20]), length=9, maximum=1.0)
    np.testing.assert_allclose(weights, [1.0, 1.0, 0.5])
    np.testing.assert_allclose(importance_weights(np.array([10, 5]), 9, 3.0), [1.0, 2.0])
    np.testing.assert_allclose(importance_weights(np.array([10, 5]), 9, 0.0), [1.0, 1.0])


@settings(max_examples=40)
@given(st.data())
def test_every_step_is_learned_from_once_per_epoch_and_starts_from_its_stored_state(data):
    n = data.draw(st.integers(1, 4), label="environments")
    length = data.draw(st.integers(2, 12), label="length")
    batches = data.draw(st.integers(1, 3), label="mini-batches")
    longest = data.draw(st.sampled_from([0, 1, 3, 7]), label="longest")
    ends = data.draw(st.sets(st.integers(1, 30)), label="episode ends")
    rng = np.random.default_rng(data.draw(st.integers(0, 999), label="seed"))
    buffer = RolloutBuffer(OBSERVATIONS, ACTIONS, n, length, 1)
    clock: dict[int, int] = {}
    seen: list[tuple[int, int]] = []
    for _ in range(2):  # the second rollout starts with carried slots
        buffer.begin()
        free = buffer.remaining
        everyone = list(range(n)) if not clock else []
        order = everyone + list(rng.choice(n, free - len(everyone), p=_speeds(n)))
        fill(buffer, order, ends, clock)
        assert buffer.full
        experience = make_experience(buffer, 0.9, 0.9, 1.0, longest)
        assert len(experience.slots) == n * length
        parts = cut_mini_batches(experience.starts, experience.lengths, batches, rng)
        sizes = [len(part.positions) for part in parts]
        assert max(sizes) - min(sizes) <= 1
        everything = np.concatenate([part.positions for part in parts])
        assert sorted(everything) == list(range(n * length))
        for part in parts:
            for shard in part.shards(2):
                _check_pack(buffer, experience, shard)
        slots = experience.slots
        for slot, weight in zip(slots, experience.weights, strict=True):
            own = np.sum(buffer.environments == buffer.environments[slot])
            assert weight == pytest.approx(min(1.0, (length + 1) / own))
        seen += list(zip(buffer.environments[slots], buffer.steps[slots], strict=True))
    # Over rollouts too: nothing twice, and no gap in any environment's steps.
    assert len(set(seen)) == len(seen)
    for environment in range(n):
        steps = sorted(step for owner, step in seen if owner == environment)
        assert steps == list(range(1, len(steps) + 1))


def _speeds(n: int) -> np.ndarray:
    speed = np.arange(1, n + 1, dtype=float)
    return speed / speed.sum()


def _check_pack(buffer, experience, batch) -> None:
    """Replays the packed layout: each column must be one contiguous run of one episode."""
    assert batch.batch_sizes.sum() == len(batch.positions)
    assert (np.diff(batch.batch_sizes) <= 0).all()
    offsets = np.concatenate([[0], np.cumsum(batch.batch_sizes)])
    for column, head in enumerate(batch.heads):
        length = int((batch.batch_sizes > column).sum())
        rows = [experience.slots[batch.positions[offsets[t] + column]] for t in range(length)]
        assert rows[0] == experience.slots[head]
        owner, step = buffer.environments[rows[0]], buffer.steps[rows[0]]
        expected = 0.0 if buffer.first[rows[0]] else owner * 1000.0 + step
        assert float(buffer.states[rows[0], 0]) == expected
        for t, row in enumerate(rows):
            assert buffer.environments[row] == owner
            assert buffer.steps[row] == step + t
            assert float(buffer.observations["x"][row, 0]) == owner * 1000.0 + step + t
            assert t == 0 or not buffer.first[row]


def heads_of(environments, first, steps, rollouts):
    n = len(environments)
    buffer = RolloutBuffer(OBSERVATIONS, ACTIONS, 1, n - 1, 1)
    columns = ((buffer.environments, environments), (buffer.first, first))
    for column, values in (*columns, (buffer.steps, steps), (buffer.rollouts, rollouts)):
        column[:] = values
    return sequence_heads(buffer, np.arange(n))


def test_sequences_are_maximal_runs_cut_to_the_longest_length():
    environments = [0, 0, 0, 0, 0, 1, 1]
    heads = heads_of(environments, [0, 0, 1, 0, 0, 0, 1], [1, 2, 3, 4, 5, 6, 7], [0] * 7)
    starts, lengths = find_sequences(heads, 0)
    assert list(zip(starts, lengths, strict=True)) == [(0, 2), (2, 3), (5, 1), (6, 1)]
    starts, lengths = find_sequences(heads, 2)
    assert list(zip(starts, lengths, strict=True)) == [(0, 2), (2, 2), (4, 1), (5, 1), (6, 1)]


def test_sequences_end_at_gaps_and_between_rollouts():
    heads = heads_of([0] * 6, [0] * 6, [1, 2, 4, 5, 6, 7], [1, 1, 1, 1, 2, 2])
    assert list(heads) == [True, False, True, False, True, False]


def test_advantages_of_a_preempted_rollout_worked_by_hand():
    player = make_player(1, 3, end_probability=0.0)
    buffer = player.buffer
    player.collect()
    buffer.rewards[:], buffer.values[:] = 1.0, [2, 4, 6, 8]
    # delta = 1 + .5 * next - value: 1, 0, -1; advantages .25-discounted from the back
    first = make_experience(buffer, 0.5, 0.5, 1.0, 0)
    np.testing.assert_allclose(first.advantages, [1 + 0.25 * -0.25, -0.25, -1])
    player.version = 1
    player.collect(1)
    # Slot 0 was overwritten; slot 3, carried, is fresh; slots 1 and 2 keep what they had.
    buffer.rewards[3], buffer.values[0] = 3.0, 10.0
    second = make_experience(buffer, 0.5, 0.5, 1.0, 0)
    assert list(second.slots) == [1, 2, 3]
    assert list(second.stale) == [True, True, False]
    np.testing.assert_allclose(second.advantages, [-0.25, -1, 3 + 0.5 * 10 - 8])
    np.testing.assert_allclose(second.returns, [3.75, 5, 8])
    assert list(zip(second.starts, second.lengths, strict=True)) == [(0, 2), (2, 1)]
