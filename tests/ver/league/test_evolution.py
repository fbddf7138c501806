import json

import pytest
from gymnasium import spaces

from tests.helpers.leagues import quick_league
from ver import TrainerConfig, load_policy
from ver.config import PPOConfig
from ver.errors import UserError
from ver.league.evolution import Evolution, EvolutionConfig, Genome

CONFIG = EvolutionConfig(every=100)
CHOICE = spaces.Discrete(2)


def test_the_worst_takes_over_from_the_best_and_all_is_kept(tmp_path):
    evolution = Evolution.begin(tmp_path, PPOConfig(), CHOICE, 3)
    parents = evolution.change(CONFIG, [0.9, 0.1, 0.5], seed=1)
    assert parents == [0, 0, 2]
    for seed in range(2, 30):
        evolution.change(CONFIG, [0.9, 0.1, 0.5], seed)
    evolution.save()
    best, *others = evolution.genomes
    assert best == Genome.of(PPOConfig(), CHOICE)  # the best 30 % never mutate
    for own in others:
        assert own != best
        assert 0.0 <= own.adam_beta1 < 1.0
        for name in ("learning_rate", "entropy"):
            power = getattr(own, name) / getattr(best, name)
            assert 1.2**-29 <= power <= 1.2**29
    again = Evolution.begin(tmp_path, PPOConfig(), CHOICE, 3)
    assert (again.genomes, again.rounds) == (evolution.genomes, 29)
    assert again.history[0]["parents"] == parents
    with pytest.raises(UserError, match="is of 3 policies"):
        Evolution.begin(tmp_path, PPOConfig(), CHOICE, 2)


def test_settings_go_there_and_back():
    genome = Genome(1e-3, 0.02, 0.9)
    back = Genome.of_factors(genome.factors())
    assert back.adam_beta1 == pytest.approx(0.9)
    config = genome.put_into(TrainerConfig())
    assert (config.ppo.entropy.initial, config.ppo.adam_beta1) == (0.02, 0.9)
    assert Genome.of_factors({"learning_rate": 2.0, "entropy": 1.0, "forgetting": 1.5}) == Genome(
        1.0, 1.0, 0.0
    )


def test_a_league_evolves_while_it_trains(tmp_path):
    evolve = EvolutionConfig(every=128, metric="score")
    league = quick_league(tmp_path, "total_steps=512", policies=3, evolve=evolve)
    taken = []
    for number, trainer in enumerate(league.trainers):
        take_over = trainer.take_over

        def noted(number=number, trainer=trainer, take_over=take_over):
            handed = (trainer.run_directory / "adopt.safetensors").is_file()
            take_over()
            if handed:
                taken.append(
                    (number, trainer.genome, trainer.ppo.optimizer.param_groups[0]["betas"][0])
                )

        trainer.take_over = noted
    league.train()
    history = json.loads((tmp_path / "evolution.json").read_text())["history"]
    assert len(history) == 3
    changes = [(n, p) for each in history for n, p in enumerate(each["parents"]) if n != p]
    assert [number for number, *_ in taken] == [number for number, _ in changes]
    for _, genome, beta in taken:
        assert beta == genome.adam_beta1
    assert not list(tmp_path.glob("*/adopt.safetensors"))
    for number, trainer in enumerate(league.trainers):
        assert trainer.genome == league.evolution.genomes[number]
        kept = load_policy(tmp_path / f"policy_{number}" / "policy.safetensors").config["ppo"]
        assert kept["learning_rate"] == trainer.genome.learning_rate


def test_a_former_evolution_has_no_effect_where_none_is_asked_for(tmp_path):
    evolution = Evolution.begin(tmp_path, PPOConfig(), CHOICE, 2)
    evolution.genomes = [Genome(0.5, 0.5, 0.5)] * 2
    evolution.save()
    for every, rate in ((0, 0.125), (100, 0.5)):
        league = quick_league(
            tmp_path, "ppo.learning_rate=0.125", evolve=EvolutionConfig(every=every)
        )
        assert [each.config.ppo.learning_rate for each in league.trainers] == [rate] * 2


def test_what_was_handed_over_before_a_kill_is_taken_over_after_it(tmp_path):
    league = quick_league(tmp_path, "total_steps=128")
    league.train()
    league.trainers[0].hand_over(tmp_path / "policy_1" / "adopt.safetensors")
    again = quick_league(tmp_path, "total_steps=192")
    child, parent = again.trainers[1], league.trainers[0]
    child.take_over()
    killed = quick_league(tmp_path, "total_steps=192").trainers[1]  # after that, before a rollout
    for name, value in parent.policy.state_dict().items():
        assert (child.policy.state_dict()[name] == value).all(), name
        assert (killed.policy.state_dict()[name] == value).all(), name


def test_alone_nobody_evolves(tmp_path):
    with pytest.raises(UserError, match=r"evolve\.every=5 needs two policies or more"):
        quick_league(tmp_path, policies=1, evolve=EvolutionConfig(every=5))
    with pytest.raises(UserError, match=r"evolve\.every must not be negative, found -5"):
        quick_league(tmp_path, evolve=EvolutionConfig(every=-5))


def test_a_metric_that_no_episode_has_is_refused(tmp_path):
    evolve = EvolutionConfig(every=64, metric="scroe")
    league = quick_league(tmp_path, evolve=evolve)
    told = r"evolve\.metric=scroe: no episode has it; choose one of .*score"
    with pytest.raises(UserError, match=told):
        league.train()
