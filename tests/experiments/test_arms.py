"""Commands of arms, and the figures that are read of what they leave."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.arms import (
    Breakdown,
    Distances,
    Population,
    Throughput,
    Training,
    result,
    slug,
)


def put(path, told):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told if isinstance(told, str) else json.dumps(told))


LOG = [
    {"steps": 100, "seconds": 1.0},
    {"steps": 200, "seconds": 2.0, "episode/success": 0.0, "loss/policy_lag_mean": 1.0},
    {"steps": 300, "seconds": 4.0, "episode/success": 0.5, "loss/policy_lag_mean": 3.0},
    {"steps": 400, "seconds": 5.0, "episode/success": 1.0, "loss/policy_lag_mean": 5.0},
]


def test_several_processes_are_started_by_torchrun(tmp_path):
    one, two = (Training("a", "pick", (), processes=count) for count in (1, 2))
    words, alone = " ".join(two.jobs(1, tmp_path)[0].arguments), one.jobs(1, tmp_path)[0].arguments
    assert words.startswith("-m torch.distributed.run --nproc-per-node 2 ")
    assert words.endswith(" ".join(alone))
    assert two.jobs(1, tmp_path)[1] == one.jobs(1, tmp_path)[1]  # judged alone


def test_stale_steps_are_told_where_rollouts_end_early(tmp_path):
    log = [row | {"loss/stale_fraction": row["steps"] / 1000} for row in LOG]
    put(tmp_path / "runs" / "a_1" / "metrics.jsonl", "\n".join(map(json.dumps, log)))
    put(result(tmp_path, "a", 1), {"success_at_end": {"mean": 0.0}})
    assert Training("a", "pick", ()).row(1, tmp_path)["stale_share"] == pytest.approx(0.25)


def test_a_population_is_trained_by_its_own_command(tmp_path):
    arm = Population("all", "pick", ("until=alone",), members=3, interval=50, rounds=2)
    train, judge = arm.jobs(4, tmp_path)
    words = " ".join(train.arguments)
    assert words.startswith(f"-m skills.population pick run={tmp_path / 'runs' / 'all_4'} ")
    assert words.endswith("--members 3 --interval 50 --rounds 2 --seed 4")
    assert str(tmp_path / "runs" / "all_4" / "policy.safetensors") in judge.arguments
    still = Population("all", "pick", (), evolves=False).jobs(4, tmp_path)[0]
    assert still.arguments[-4:] == ("--replaced-share", "0", "--mutation-rate", "0")


def test_a_populations_curve_is_its_bests_over_the_steps_of_all(tmp_path):
    members = [{"scores": [0.9, 0.1]}, {"scores": [0.2, float("nan")]}, {"scores": [0.1, 0.3]}]
    run = tmp_path / "runs" / "all_1"
    put(run / "population.json", {"members": members})
    put(run / "member_0" / "metrics.jsonl", json.dumps(LOG[1]))
    put(run / "member_2" / "metrics.jsonl", "\n".join(map(json.dumps, LOG)))
    put(result(tmp_path, "all", 1), {"success_at_end": {"mean": 0.75}})
    arm = Population("all", "pick", ())
    assert arm.curve(1, tmp_path)["steps"] == [600, 900, 1200]
    row = arm.row(1, tmp_path)
    assert (row["success"], row["steps_to_half"], row["seconds_to_half"]) == (0.75, 900.0, 12.0)
    assert row["mean_success"] == pytest.approx(0.5)


def test_a_training_is_judged_after_it_has_run(tmp_path):
    arm = Training("ver, RNN", "open_fridge", ("until=masked",), ("--episodes", "4"))
    train, judge = arm.jobs(2, tmp_path)
    assert train.name == "train_ver_rnn_2"
    assert train.arguments[:3] == ("-m", "skills.train", "open_fridge")
    assert {"trainer.seed=2", "until=masked"} < set(train.arguments)
    assert judge.after == (train.name,)
    words = " ".join(judge.arguments)
    assert f"--checkpoint {tmp_path / 'runs' / 'ver_rnn_2' / 'policy.safetensors'}" in words
    assert "--actions mean" in words


def test_figures_of_a_training_are_those_of_its_log_and_of_its_judge(tmp_path):
    arm = Training("a", "pointnav", ())
    ended = [row | {"episode/spl": row["episode/success"] / 2} for row in LOG[1:]]
    put(tmp_path / "runs" / "a_1" / "metrics.jsonl", "\n".join(map(json.dumps, [LOG[0], *ended])))
    judged = {"success_at_end": {"mean": 0.75}, "scores": {"spl": {"mean": 0.6}}}
    put(result(tmp_path, "a", 1), judged)
    assert arm.row(1, tmp_path) == {
        "success": 0.75,
        "spl": 0.6,
        "mean_success": pytest.approx(0.5),
        "mean_spl": pytest.approx(0.25),
        "steps_to_half": 300.0,
        "seconds_to_half": 4.0,
        "steps_per_s": 80.0,
        "policy_lag": 3.0,
        "stale_share": None,
    }
    assert arm.curve(1, tmp_path)["success"] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("ended", [1, 2], ids=["no episode", "one"])
def test_what_was_not_reached_has_no_figure(ended, tmp_path):
    put(tmp_path / "runs" / "a_1" / "metrics.jsonl", "\n".join(map(json.dumps, LOG[:ended])))
    put(result(tmp_path, "a", 1), {"success_at_end": {"mean": 0.0}, "scores": {}})
    row = Training("a", "pick", ()).row(1, tmp_path)
    assert row["steps_to_half"] is row["mean_success"] is row["mean_spl"] is row["spl"] is None


def test_a_system_that_refuses_has_no_speed(tmp_path):
    arm = Throughput("a", "pick", "ver", 5.0, 125.0)
    alone, job = arm.jobs(3, tmp_path)
    assert "skill --skill pick --limit --seed 3 --waits 125" in " ".join(alone.arguments)
    assert replace(arm, name="b", system="appo").jobs(3, tmp_path)[0] == alone  # run once
    assert " ".join(job.arguments).startswith("-m benchmarks.systems skill --skill pick")
    assert "--waits 125" in " ".join(job.arguments)
    limit = {"environments": {"skill": {"limit": 6.0}}}
    put(Path(alone.arguments[-1]), limit)
    figures = {"mean_sps": 3.0, "max_sps": 4.0}
    for systems, told in (({"ver": figures}, (3.0, 0.75, 0.5)), ({}, (None, None, None))):
        put(result(tmp_path, "a", 3), {"environments": {"skill": {"systems": systems}}})
        row = arm.row(3, tmp_path)
        assert (row["mean_sps"], row["mean_of_max"], row["share_of_limit"]) == told
        assert row["limit_sps"] == 6.0


def test_a_breakdown_adds_what_the_network_takes(tmp_path):
    shares = {"learning_share": 0.5, "inference_share": 0.25, "simulation_share": 0.125}
    rows = {"batched": [{"steps_per_s": 10.0, **shares}], "simulation": [{"steps_per_s": 99.0}]}
    put(result(tmp_path, "N = 16", 1), {"rows": rows})
    row = Breakdown("N = 16", (), 1.0).row(1, tmp_path)
    assert (row["network_share"], row["simulation_per_s"]) == (0.75, 99.0)
    assert (row["learning_us"], row["network_us"]) == (50_000.0, 75_000.0)


def test_a_later_policy_goes_on_from_an_earlier_one(tmp_path):
    early, late = Training("early", "pick", ()), Training("late", "pick", ())
    first = Distances("early", (early,), (1.0, 4.0), ()).jobs(1, tmp_path)
    train, go_on, judge = Distances("late", (early, late), (1.0, 4.0), ()).jobs(1, tmp_path)
    assert train == first[0]
    assert f"trainer.start_from={tmp_path / 'runs/early_1/policy.safetensors'}" in go_on.arguments
    assert (go_on.after, judge.after) == ((train.name,), (go_on.name,))
    (untrained,) = Distances("untrained", (), (1.0,), ()).jobs(1, tmp_path)
    assert "untrained=untrained" in untrained.arguments


def test_distances_have_a_figure_each(tmp_path):
    points = [{"distance": d, "success_at_end": {"mean": d / 8}} for d in (1.0, 4.0)]
    put(result(tmp_path, "late", 1), {"curves": {"late": points}})
    row = Distances("late", (), (1.0, 4.0), ()).row(1, tmp_path)
    assert row == {"success_at_1": 0.125, "success_at_4": 0.5}


def test_slugs_are_names_of_jobs():
    assert slug("Open Fridge, ver, as it is", 3) == "open_fridge_ver_as_it_is_3"
