"""From nothing to judged skills by one command."""

from functools import lru_cache

import pytest

from planner import household
from rearrange.errors import UserError
from rearrange.tasks import household_names
from skills.jobs import Progress
from skills.train import load_stages

STAGES = "stages=[{name: shown}, {name: alone}, {name: in_chains}]"


@lru_cache
def read(name: str, overrides: tuple[str, ...]):
    return load_stages(name, overrides)


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    """Recipes that were read already are not read again: that took most of the time of these tests."""
    monkeypatch.setattr(household, "load_stages", lambda name, more: read(name, tuple(more)))


def names_of(*arguments: str) -> list[str]:
    return [job.name for job in household.household(household.parse(arguments))]


def commands_of(*arguments: str) -> dict[str, list[str]]:
    jobs = household.household(household.parse(arguments))
    return {job.name: list(job.arguments) for job in jobs}


def test_skills_without_stages_are_trained_once():
    names = names_of("--skills", "open_cab,close_fridge")
    assert names[:5] == [
        "record_oracles_tidy_house",
        "record_oracles_prepare_groceries",
        "record_oracles_set_table",
        "train_open_cab",
        "train_close_fridge",
    ]
    assert names[5:7] == ["initiation_open_cab", "initiation_close_fridge"]
    assert all(name.startswith("judge_") for name in names[7:])
    assert len(names) == len(set(names))


def test_with_stages_what_was_learned_records_before_the_later_ones():
    commands = commands_of(
        "--skills", "pick,close_fridge", "--seed", "3", "--run", "r", "--rounds", "2", STAGES
    )
    names = list(commands)
    assert names[3:10] == [
        "train_pick_alone",
        "train_close_fridge_alone",
        "record_learned_tidy_house",
        "record_learned_prepare_groceries",
        "record_learned_set_table",
        "train_pick",
        "train_close_fridge",
    ]
    alone, all_of_it = commands["train_pick_alone"], commands["train_pick"]
    assert "starts.paths=[r/hand_offs/oracles]" in alone
    assert "starts.paths=[r/hand_offs/learned]" in all_of_it
    assert "until=alone" in alone
    assert not any(part.startswith("until") for part in all_of_it)
    assert "trainer.seed=3" in all_of_it
    assert "trainer.system=batched" in all_of_it
    assert "run=r/pick" in all_of_it
    recording = commands["record_learned_set_table"]
    skills = recording[recording.index("--skills") + 1]
    assert skills == (
        "learned,pick=r/pick/policy.safetensors,close_fridge=r/close_fridge/policy.safetensors"
    )
    assert "starts.paths" not in " ".join(commands["train_close_fridge"])  # it has none


def test_each_job_comes_after_what_it_needs():
    def afters(*more: str) -> dict[str, tuple[str, ...]]:
        options = household.parse(["--skills", "pick,close_fridge", "--run", "r", *more])
        return {job.name: job.after for job in household.household(options)}

    jobs = afters("--rounds", "2")
    oracles = tuple(f"record_oracles_{scenario}" for scenario in household_names())
    learned = tuple(f"record_learned_{scenario}" for scenario in household_names())
    assert jobs["train_pick_careful"] == oracles
    assert jobs["train_close_fridge"] == ()  # it begins at no hand-offs
    assert {jobs[name] for name in learned} == {("train_pick_careful", "train_close_fridge")}
    assert jobs["train_pick"] == learned
    assert jobs["judge_pick"] == ("train_pick",)
    trained = ("train_pick", "train_close_fridge")
    assert jobs["judge_set_table"] == jobs["judge_set_table_replan"] == trained
    assert jobs["initiation_pick"] == ("train_pick",)
    foreseen = (*trained, "initiation_pick", "initiation_close_fridge")
    assert jobs["judge_set_table_redrive"] == jobs["judge_set_table_replan_redrive"] == foreseen
    once = afters()
    assert once["judge_pick"] == ("train_pick_careful",)
    assert not set(learned) & set(once)
    seen: set[str] = set()
    for name, after in jobs.items():
        assert seen.issuperset(after), name
        seen.add(name)


def test_initiation_sets_are_of_skills_that_follow_a_drive_and_know_the_true_state():
    names = names_of("--skills", "navigate,pick,place")
    assert [n for n in names if n.startswith("init")] == ["initiation_pick", "initiation_place"]
    assert not any(n.startswith("init") for n in names_of("--skills", "pick", "sensors=depth"))
    commands = commands_of("--skills", "pick", "--seed", "3", "--run", "r")
    assert commands["initiation_pick"] == [
        *("-m", "skills.initiation", "pick", "--checkpoint", "r/pick/policy.safetensors"),
        *("--seed", "3", "--starts", "6000", "--json", "r/results/initiation_pick.json"),
    ]
    elsewhere = commands_of("--skills", "pick", "--run", "r", "homes=classic")["initiation_pick"]
    assert elsewhere[elsewhere.index("--homes") + 1] == "classic"
    assert commands["judge_tidy_house_replan_redrive"][-4:] == [
        *("--replan", "--redrive", "--ledger", "r/results/tidy_house_replan_redrive.json")
    ]


def test_all_is_shipped_at_the_end_where_that_is_asked_for():
    jobs = household.household(household.parse(["--run", "r", "--ship"]))
    commands = {job.name: list(job.arguments) for job in jobs}
    assert list(commands)[-1] == "ship"
    assert commands["ship"][:3] == ["-m", "planner.ship", "r"]
    some = commands_of("--run", "r", "--ship", "--skills", "pick,place")
    assert some["ship"][3:] == ["--skills", "pick,place"]
    assert set(jobs[-1].after) == set(commands) - {"ship"}
    assert "ship" not in commands_of("--run", "r", "--skills", "pick")


def test_settings_go_to_every_training():
    commands = commands_of("--skills", "pick,place", "--rounds", "2", "trainer.total_steps=64")
    for name in ("train_pick", "train_place"):
        assert commands[name][-1] == "trainer.total_steps=64"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--skills", "pick,fly"], "--skills: fly is none of navigate"),
        (["--skills", "pick,pick"], "--skills: pick is there twice: name each once"),
        (["run=x"], "run=x: run of every training is said by --run: leave it out"),
        (["trainer.seed=4"], "trainer.seed=4: trainer.seed of every training is said by --seed"),
        (["trainer={seed: 4}"], "trainer.seed of every training is said by --seed"),
        (["until=alone"], "until of every training is said by --rounds"),
        (["--episodes", "0"], "--episodes must be at least 1, found 0"),
        (["--recordings", "0"], "--recordings must be at least 1"),
        (["--jobs", "0"], "--jobs must be at least 1, found 0"),
        (["--starts", "50"], "--starts must be at least 100, found 50"),
        (["split=val"], "split=val: split of every training is said by its recordings"),
        (["--run", "a,b"], "--run a,b: its path becomes a setting of trainings"),
    ],
)
def test_what_makes_no_sense_is_told(arguments, message):
    with pytest.raises(UserError, match=message):
        household.parse(arguments)


def test_the_list_is_printed_and_nothing_run(capsys, tmp_path):
    assert household.main(["--list", "--skills", "pick", "--run", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].startswith("python -m skills.train pick run=")
    assert not list(tmp_path.iterdir())


def test_homes_and_robot_of_the_trainings_are_those_of_all_jobs():
    commands = commands_of("--skills", "pick", "--rounds", "2", "homes=classic", "robot=mast")
    for name, command in commands.items():
        if not name.startswith("train"):  # a policy knows where it was trained
            assert command[command.index("--homes") + 1] == "classic", name
        if name.startswith("record"):
            assert command[command.index("--robot") + 1] == "mast"
    assert not any(
        "--homes" in c or "--robot" in c for c in commands_of("--skills", "pick").values()
    )


@pytest.mark.parametrize(
    ("more", "others"),
    [
        (["--seed", "2"], "--seed"),
        pytest.param(["--recordings", "7"], "--recordings", marks=pytest.mark.slow),
        (["trainer.total_steps=64", "camera_size=32"], "trainer.total_steps, camera_size"),
    ],
)
def test_a_folder_of_other_settings_is_refused(tmp_path, monkeypatch, more, others):
    run = tmp_path / "seed"
    asked = ["--skills", "pick,place", "--rounds", "2", "--run", str(run)]
    progress = Progress(run / "state.json")
    for job in household.household(household.parse(asked)):
        progress.note(job, "waiting")
    begun = []
    monkeypatch.setattr(household, "run_jobs", lambda *arguments: begun.append(arguments) or 0)
    assert household.main([*asked, *more]) == 0  # nothing is learned yet
    begun.clear()
    (run / "pick" / "alone").mkdir(parents=True)
    (run / "pick" / "alone" / "policy.safetensors").write_text("")
    with pytest.raises(UserError, match=f"was begun with another {others}: give back") as error:
        household.main([*asked, *more])
    assert "\n" not in str(error.value)
    assert begun == []
    with pytest.raises(UserError, match="was begun with another --skills"):  # who recorded
        household.main([*asked[2:], "--skills", "pick"])
    assert household.main([*asked, "--episodes", "3", "--jobs", "1", "--ship"]) == 0
    run.rename(tmp_path / "moved")
    assert household.main([*asked[:-1], str(tmp_path / "moved")]) == 0


@pytest.mark.slow
def test_a_household_from_nothing_to_its_table(tmp_path):
    tiny = ["trainer.total_steps=32", "trainer.collect.num_environments=2"]
    tiny += ["trainer.collect.environments_per_worker=1", "trainer.collect.rollout_length=16"]
    tiny += ["trainer.network.hidden_size=8", "trainer.network.visual_features=8"]
    tiny += ["trainer.tensorboard=false", "starts.share=0.5", STAGES]
    few = ["--skills", "pick", "--recordings", "1", "--episodes", "1", "--run", str(tmp_path)]
    few += ["--chain-episodes", "1", "--starts", "100"]
    few += ["--rounds", "2"]
    assert household.main([*few, *tiny]) == 0
    results = {path.name for path in (tmp_path / "results").iterdir()}
    assert {"pick.json", "tidy_house.json", "set_table_replan.json"} <= results
    assert (tmp_path / "pick" / "in_chains" / "policy.safetensors").exists()
    assert household.main([*few, *tiny]) == 0  # all is done


def test_navigate_also_begins_where_blind_drives_got_stuck_in_both_rounds():
    commands = commands_of(
        "--skills", "navigate,pick", "--run", "r", "--rounds", "2", "--seed", "3"
    )
    drives = [name for name in commands if name.endswith("_blind")]
    assert drives == ["record_oracles_navigate_blind", "record_learned_navigate_blind"]
    assert commands[drives[1]][1:] == [
        *("planner.blind_drives", "navigate", "--seed", "3", "--output", "r/hand_offs/learned")
    ]
    assert not [name for name in commands_of("--skills", "pick") if "blind" in name]
