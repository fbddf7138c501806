"""One policy that does a household task without skills and plan: how its episodes end and what is counted."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

from planner import eval as command
from planner import eval_options, page, scenarios, table
from planner.interactions import bind
from planner.monolithic import run_alone
from planner.report import row_name
from planner.rules import ExecutiveSettings
from planner.scenarios import Stage
from rearrange.errors import UserError
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim.base import NOTHING
from skills import library
from tests.helpers.planner_fakes import FakeWorld


@dataclass
class ScriptedPolicy:
    """Picks and places targets in the given order, a step each, then calls stop, if it ever does."""

    order: tuple[int, ...] = ()
    stops: bool = True
    source: str = "fake.safetensors"
    name: str = "monolithic"
    timeout: int = 0
    left: list = field(default_factory=list)

    def reset(self, world, argument):
        self.left = [(verb, k) for k in self.order for verb in ("pick", "place")]
        self.asked_after_last = False

    def act(self, world):
        action = np.zeros(10)
        if not self.left:
            self.asked_after_last = True
            return action
        verb, k = self.left.pop(0)
        target = world.episode.targets[k]
        if verb == "pick":
            world.state.held_object[0] = target.slot
        else:
            world.state.object_position[0, target.slot] = target.goal
            world.state.held_object[0] = NOTHING
        return action

    def done(self, world):
        return self.stops and self.asked_after_last


@pytest.fixture
def calls(task_and_plan):
    task, plan = task_and_plan
    return [bind(step, task.arguments, APARTMENT) for step in plan.steps]


def once(execution):
    return [result.name for result in execution.interactions if result.once]


def test_a_faultless_policy_succeeds_once_it_calls_stop(world, calls):
    execution = run_alone(world, ScriptedPolicy(order=(0, 1, 2, 3, 4)), calls, 100)
    assert (execution.success_at_end, execution.success_once, execution.failure) == (
        *(True, True),
        None,
    )
    assert len(once(execution)) == len(execution.interactions) == 10
    assert execution.steps == world.elapsed_steps == 11
    (hand_off,) = execution.hand_offs
    assert (hand_off.skill, hand_off.label) == ("monolithic", "everything")
    assert (hand_off.ending, hand_off.steps, hand_off.deviation) == ("done", 11, None)


def test_a_stop_with_work_left_is_too_early(world, calls):
    execution = run_alone(world, ScriptedPolicy(), calls, 100)
    assert execution.failure == "monolithic: stopped early"
    assert (execution.steps, once(execution), execution.success_once) == (1, [], False)
    assert execution.hand_offs[0].deviation == "stopped early"


def test_without_a_stop_the_time_runs_out_although_all_is_done(world, calls):
    policy = ScriptedPolicy(order=(0, 1, 2, 3, 4), stops=False)
    execution = run_alone(world, policy, calls, 20)
    assert execution.failure == "monolithic: time-out"
    assert (execution.steps, execution.success_once) == (20, True)
    assert execution.hand_offs[0].ending == "time-out"
    assert not execution.success_at_end


def test_the_force_limit_ends_the_episode(calls):
    world = FakeWorld(force_limit_at=3)
    execution = run_alone(world, ScriptedPolicy(order=(0, 1, 2, 3, 4)), calls, 100)
    assert execution.failure == "monolithic: force limit"
    assert (execution.steps, once(execution)) == (3, ["pick_0", "place_0", "pick_1"])


def test_the_order_is_the_policys_own(world, calls):
    assert len(once(run_alone(world, ScriptedPolicy((4, 2, 0, 1, 3)), calls, 100))) == 10
    world.load(world.episode)
    # What comes later in the plan counts only once all before it is done
    assert once(run_alone(world, ScriptedPolicy((1, 2, 0)), calls, 100))[-1] == "place_2"
    world.load(world.episode)
    assert once(run_alone(world, ScriptedPolicy((1, 2, 3)), calls, 100)) == []


def test_what_was_placed_has_to_stay(world, calls):
    slot = world.episode.targets[0].slot

    def disturb(world, moment):
        if moment.skill_step == 4:
            world.state.object_position[0, slot] = 50.0

    execution = run_alone(world, ScriptedPolicy((0, 1)), calls, 100, [disturb])
    assert once(execution) == ["pick_0", "place_0", "pick_1", "place_1"]
    assert [r.name for r in execution.interactions if r.at_end] == ["pick_0"]


def test_observers_are_told_what_is_missing_first(world, calls):
    seen = []
    policy = ScriptedPolicy((0, 1, 2, 3, 4))
    run_alone(world, policy, calls, 100, [lambda _, moment: seen.append(moment)])
    assert [moment.plan_index for moment in seen] == [*range(1, 10), 9, 9]
    assert [call.skill for call in seen[0].calls] == ["pick", "place"] * 5
    assert {moment.skill for moment in seen} == {"monolithic"}


def test_an_evaluation_has_records_page_and_row(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(eval_options, "robot_of", lambda *given: "fetch")
    stage = Stage(FakeWorld(), {"monolithic": ScriptedPolicy(order=(0, 1))})
    monkeypatch.setattr(scenarios, "open_stage", lambda *_: stage)
    for module in (command, eval_options):
        monkeypatch.setattr(module, "skill_sources", lambda words, scenario: {})
    path = tmp_path / "result.json"
    arguments = ["tidy_house", "--workers", "1", "--episodes", "2", "--skills", "monolithic"]
    assert command.main([*arguments, "--json", str(path)]) == 0
    result = json.loads(path.read_text())
    assert (result["row"], result["skills"]) == (
        "MonolithicRL (knowledge: robot)",
        {"monolithic": "fake.safetensors"},
    )
    assert result["failures"] == {"monolithic: stopped early": 2}
    assert [i["success"]["mean"] for i in result["interactions"]] == [1.0] * 4 + [0.0] * 6
    assert result["wrong_object"] == {"wrong": 0, "picks": 0}
    assert "monolithic everything: 5 steps, stopped early" in page.page([result])
    assert "MonolithicRL (knowledge: robot)" in " ".join(capsys.readouterr().out.split())
    table.main([str(path)])
    text = capsys.readouterr().out
    assert "| MonolithicRL (knowledge: robot) | 2 | 1 | 1 | 100 | 100 | 100 | 100 | 0 |" in text
    assert "**MonolithicRL (knowledge: robot)** (monolithic: fake.safetensors)" in text


def test_the_time_limit_is_that_of_plans(monkeypatch, tmp_path):
    monkeypatch.setattr(eval_options, "robot_of", lambda *given: "fetch")
    stage = Stage(FakeWorld(), {"monolithic": ScriptedPolicy(stops=False)})
    monkeypatch.setattr(scenarios, "open_stage", lambda *_: stage)
    settings = command.settings_from(command.parse(["tidy_house", "--skills", "monolithic"]))
    execution = command.run_episodes(
        command.replace(settings, episodes=1, executive=ExecutiveSettings(max_steps=7)), workers=1
    )
    (record,) = execution
    assert (record.execution.steps, record.execution.failure) == (7, "monolithic: time-out")


def test_the_row_does_not_tell_the_file(monkeypatch):
    monkeypatch.setattr(eval_options, "robot_of", lambda *given: "fetch")
    options = command.parse(["tidy_house", "--skills", "monolithic=runs/a/policy.safetensors"])
    assert row_name(command.settings_from(options)) == "MonolithicRL (knowledge: robot)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--replan"], "--skills monolithic follows no plan: leave out --replan"),
        (["--no-nav"], "--skills monolithic follows no plan: leave out --no-nav"),
        (
            ["--record-hand-offs", "x"],
            "--skills monolithic follows no plan: leave out --record-hand-offs",
        ),
        (["--navigate-timeout", "proceed"], "leave out --navigate-timeout"),
    ],
)
def test_what_needs_a_plan_is_refused(options, message):
    with pytest.raises(UserError, match=message):
        command.parse(["tidy_house", "--skills", "monolithic", *options])


def test_a_missing_policy_names_the_command_that_trains_it(monkeypatch, tmp_path):
    monkeypatch.setattr(library, "CHECKPOINTS", tmp_path)
    arguments = ["tidy_house", "--workers", "1", "--episodes", "1", "--skills"]
    with pytest.raises(UserError, match=r"no policy for tidy_house .*train_skill.sh tidy_house"):
        command.main([*arguments, "monolithic", "--json", str(tmp_path / "a.json")])
    gone = str(tmp_path / "gone.safetensors")
    with pytest.raises(UserError, match=f"no policy for tidy_house at {gone}"):
        command.main([*arguments, f"monolithic={gone}", "--json", str(tmp_path / "b.json")])
