"""The command that trains: what it tells the shell, and a tiny training."""

from dataclasses import asdict
from types import SimpleNamespace

import pytest

from rearrange.errors import UserError
from skills import train
from tests.helpers.small_runs import logged
from ver.checkpoint import load_policy

TINY = [
    "camera_size=40",
    "task.max_steps=10",
    "trainer.collect.num_environments=2",
    "trainer.collect.rollout_length=16",
    "trainer.network.hidden_size=8",
    "trainer.network.visual_features=8",
    "trainer.learner_threads=1",
    "trainer.tensorboard=false",
    "trainer.log_interval_s=1e9",
]


@pytest.mark.parametrize("steps", [0, 64])
def test_a_policy_that_learned_nothing_is_not_offered(monkeypatch, tmp_path, capsys, steps):
    group = SimpleNamespace(size=1, main=True)
    trainer = SimpleNamespace(
        steps=steps, rollout_steps=64, group=group, interrupted=True, train=lambda: None
    )
    monkeypatch.setattr(train, "Trainer", lambda *_, **__: trainer)
    train.main(["pick", f"run={tmp_path}"])
    ending = capsys.readouterr().err.splitlines()[-1]
    assert ("nothing learned yet" in ending) is (steps == 0)
    assert ("policy.safetensors" in ending) is (steps > 0)


def test_what_the_learner_says_of_its_settings_can_be_typed_here(tmp_path):
    waits = ["trainer.system=appo", "trainer.collect.overlap=true", f"run={tmp_path}"]
    with pytest.raises(train.UserError, match=r"anyway; set trainer\.collect\.overlap=false"):
        train.main(["close_fridge", "stages=[]", *waits])


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("raise collect.startup_timeout_s, or", "raise trainer.collect.startup_timeout_s, or"),
        ("(ppo.entropy.target)", "(trainer.ppo.entropy.target)"),
        ("trainer.network.memory=lstm", "trainer.network.memory=lstm"),
        (
            "runs/ppo.safetensors, system=appo collects",
            "runs/ppo.safetensors, system=appo collects",
        ),
    ],
)
def test_settings_in_messages_get_the_prefix_that_they_lack(message, told):
    assert train.with_prefix(message) == told


@pytest.mark.parametrize(
    ("skill", "hint"),
    [
        ("nav_to_obj", "(habitat-lab's nav_to_obj is navigate here)"),
        (
            "RearrangePickTask-v0",
            "(for habitat-lab's own task: habitat-lab:RearrangePickTask-v0; Gymnasium's: "
            "python -m ver train RearrangePickTask-v0)",
        ),
        ("grasp", "explore"),
    ],
)
def test_unknown_skills_are_told_those_that_exist(skill, hint):
    with pytest.raises(
        UserError, match=rf"^unknown skill '{skill}': choose one of navigate, "
    ) as e:
        train.load_settings(skill)
    assert str(e.value).endswith(hint)


def test_recorded_starts_of_another_split_say_how_to_leave_them_out():
    settings = train.load_settings("pick", ["split=val"])
    with pytest.raises(UserError, match=r"pick/\*_val.json.gz \(starts.paths=\[\] takes"):
        train.make_environments(settings)


@pytest.mark.parametrize(
    ("key", "old", "new"), [("trainer.seed", "1", "7"), ("split", "train", "val")]
)
def test_a_stage_that_was_done_with_another_seed_is_not_taken_for_this_one(
    monkeypatch, tmp_path, key, old, new
):
    def stage(*overrides):
        return train.load_stages("pointnav", ["trainer.total_steps=64", *overrides])[0]

    metadata = asdict(stage())
    done = SimpleNamespace(config=metadata.pop("trainer"), metadata=metadata | {"steps": 64})
    monkeypatch.setattr(train, "load_policy", lambda _: done)
    (tmp_path / train.POLICY).touch()
    assert train._ended_after(tmp_path, stage()) == 64
    told = f"{key}={new}: {tmp_path} was trained with {key}={old}: say that, or choose another run="
    with pytest.raises(train.UserError, match=told):
        train._ended_after(tmp_path, stage(f"{key}={new}"))


def test_a_stage_that_is_done_began_as_it_is_asked_for(monkeypatch, tmp_path):
    folder, other = tmp_path / "run" / "a", tmp_path / "b" / train.POLICY
    for path in (folder, other.parent):
        path.mkdir(parents=True)
    other.touch()
    (folder / "config.yaml").write_text("start_from: ''\n")
    monkeypatch.setattr(train, "_ended_after", lambda *_: 64)
    monkeypatch.setattr(train, "copy_policy", lambda *_: None)
    words = ["pointnav", "trainer.total_steps=64", f"run={folder.parent}", "stages=[{name: a}]"]
    assert train.main(words) == 0
    with pytest.raises(
        train.UserError, match=r"/a holds a run that began from scratch; leave it out"
    ):
        train.main([*words, f"trainer.start_from={other}"])


def test_who_imitates_first_begins_with_no_weights(tmp_path):
    (tmp_path / "old.safetensors").touch()
    begun = [f"trainer.start_from={tmp_path / 'old.safetensors'}", f"run={tmp_path / 'run'}"]
    with pytest.raises(
        train.UserError, match="first stage imitates the oracle, and begins with no"
    ):
        train.main(["navigate", *begun])
    assert not (tmp_path / "run").exists()


def test_a_run_that_has_gone_on_keeps_its_policy(monkeypatch, tmp_path, capsys):
    """As `until=` of a stage that is done, too, copies nothing over what came of the ones after it."""
    recipe = [
        "trainer.total_steps=64",
        f"run={tmp_path}",
        "stages=[{name: a}, {name: b}, {name: c}]",
    ]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / train.POLICY).touch()
    copied = []
    monkeypatch.setattr(train, "_ended_after", lambda *_: 64)
    monkeypatch.setattr(train, "copy_policy", lambda source, _: copied.append(source.parent.name))
    assert train.main(["pointnav", *recipe, "until=a"]) == 0
    assert copied == []
    assert f"{tmp_path} has gone on to b: its policy stays that" in capsys.readouterr().err
    assert train.main(["pointnav", *recipe, "until=b"]) == 0
    assert copied == ["b"]


@pytest.mark.parametrize(
    ("interrupted", "size", "status"), [(False, 1, 0), (True, 1, 130), (True, 2, 0)]
)
def test_an_interrupted_training_is_no_success_for_the_shell(
    monkeypatch, tmp_path, capsys, interrupted, size, status
):
    group = SimpleNamespace(size=size, main=True)
    trainer = SimpleNamespace(
        steps=7, rollout_steps=64, group=group, interrupted=interrupted, train=lambda: None
    )
    monkeypatch.setattr(train, "Trainer", lambda *_, **__: trainer)
    assert train.main(["open_cab", "stages=[]", f"run={tmp_path}"]) == status
    told = capsys.readouterr().err.splitlines()
    ending = told[-1 if interrupted else -2]
    assert ending.startswith("interrupted" if interrupted else "done")
    assert "step 7" in ending
    assert ("as it was: no rollout was full" in ending) == interrupted
    judged = "judge it: rearrange eval open_cab --actions mean --checkpoint "
    assert interrupted or told[-1].startswith(judged)


def test_a_process_beside_the_first_leaves_the_files_of_a_validation(monkeypatch, tmp_path):
    group = SimpleNamespace(size=2, main=False)
    trainer = SimpleNamespace(
        steps=7, rollout_steps=64, group=group, interrupted=False, train=lambda: None
    )
    monkeypatch.setattr(train, "Trainer", lambda *_, **__: trainer)
    judged = tmp_path / "validated.safetensors"
    judged.touch()
    train.main(["open_cab", "stages=[]", "validate_every=32", f"run={tmp_path}"])
    assert judged.exists()


def test_the_batched_system_trains_pick(tmp_path):
    run = [*TINY, f"run={tmp_path}", "trainer.system=batched", "trainer.total_steps=64"]
    assert train.main(["pick", "stages=[]", *run]) == 0
    rows = logged(tmp_path)
    assert [row["steps"] for row in rows] == [32, 64]
    last = rows[-1]
    # In 32 steps of each of two worlds, and most episodes run out of time.
    assert last["episodes"] >= 2 * 3
    assert last["episode/episode_length"] == last["episode/length"] <= 10
    assert last["episode/reward/distance"] != 0.0
    assert last["time/simulation_wait"] > 0.0
    assert load_policy(tmp_path / "policy.safetensors").metadata["skill"] == "pick"
