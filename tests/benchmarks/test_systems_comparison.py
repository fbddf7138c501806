import numpy as np
import pytest

from benchmarks.straggling_environments import (
    LEVELS,
    StepTimes,
    Stragglers,
    barrier_rates,
    load_step_times,
    quantile_table,
)
from benchmarks.systems import Watch, main, synthetic_case, train
from ver.collect.systems import system_names


def test_quantile_tables_give_back_a_distribution_with_mean_one():
    rng = np.random.default_rng(0)
    values = rng.exponential(7.0, 20000)
    times = StepTimes(1.0, (), tuple(quantile_table(values)))
    drawn = times.draw_steps(rng, 20000)
    assert drawn.mean() == pytest.approx(1.0, abs=0.03)
    assert np.median(drawn) == pytest.approx(np.log(2), abs=0.03)
    assert np.quantile(drawn, 0.95) == pytest.approx(-np.log(0.05), rel=0.05)


def test_the_recorded_table_is_whole_and_straggles():
    times = load_step_times(0.01)
    for table in (times.episode, times.step):
        assert len(table) == len(LEVELS)
        assert list(table) == sorted(table)
        mean = np.interp(np.linspace(0, 1, 100001), LEVELS, table).mean()
        assert mean == pytest.approx(1.0, abs=1e-3)
    rates = barrier_rates(times, 16, 32, 60, 0)
    assert rates["free"] == pytest.approx(1600)
    assert rates["lockstep"] < rates["fixed_length"] < rates["free"]


def test_barriers_cost_what_the_slowest_takes():
    constant = barrier_rates(StepTimes(0.02), 4, 8, 10, 0)
    assert list(constant.values()) == pytest.approx([200.0] * 3)
    # Steps take 0 or 2 means, evenly: of 2 environments' steps, 3 of 4 pairs take 2 means.
    half = tuple(0.0 if level < 0.5 else 2.0 for level in LEVELS)
    rates = barrier_rates(StepTimes(1.0, (), half), 2, 1, 4000, 0)
    assert rates["lockstep"] == rates["fixed_length"] == pytest.approx(2 / 1.5, rel=0.05)


def test_environments_spread_their_first_episodes_and_repeat_from_a_seed():
    make_env = Stragglers(StepTimes(0.0), 4)
    lengths = []
    for index in range(4):
        env = make_env(index, 0)
        env.reset(seed=3)
        lengths.append(1)
        while not env.step(np.zeros(2))[3]:
            lengths[-1] += 1
    assert lengths == [200, 150, 100, 50]
    straggling = Stragglers(load_step_times(1.0), 4)
    first, second = straggling(0, 0), straggling(0, 9)
    first.reset(seed=3)
    second.reset(seed=3)
    assert (first.durations == second.durations).all()


def test_figures_leave_out_the_first_rollout(tmp_path):
    watch = Watch(1.0, tmp_path, 4)
    watch.marks = [(10.0, 100, 5.0), (12.0, 200, 9.0), (13.0, 300, 11.0)]
    watch.waits = [(0.9, 0.9), (0.5, 0.8), (0.2, 0.5)]
    figures = watch.figures()
    assert figures["mean_sps"] == pytest.approx(200 / 3)
    assert figures["max_sps"] == pytest.approx(100)
    assert figures["waiting"] == pytest.approx(
        {"environments": 1 - 6 / 3 / 4, "inference": 0.4, "learner": 0.7}
    )


def test_a_run_is_measured():
    config, make_env = synthetic_case("ddppo", 1, StepTimes(0.002))
    config.collect.num_environments, config.collect.rollout_length = 2, 8
    figures = train((config, make_env), 0.1)
    assert figures["rollouts"] >= 1
    assert figures["max_sps"] >= figures["mean_sps"] > 0
    assert 0 < figures["waiting"]["environments"] < 1
    assert 0 < figures["waiting"]["inference"] < 1


def test_unknown_names_are_refused_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["--systems", "ver,vre"])
    names = ", ".join(system_names())
    assert f"unknown system 'vre': choose of {names}\n" in capsys.readouterr().err
