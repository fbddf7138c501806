"""The pages of the skills are what code, configs and results say."""

from dataclasses import asdict
from types import SimpleNamespace

from skills import cards
from skills.cards import Setting, about, settings_of
from skills.provenance import ROOT
from skills.registry import built_in
from skills.train import load_stages

CONFIG = """\
# Skill: what differs from configs/skill.yaml. Two stages
stages:
  - name: alone
    settings:
      # Long enough
      trainer.total_steps: 100
task:
  open_share: 0.25
  # A blow
  # costs
  force:
    penalty: 1.0
starts:
  paths:
    - a.gz
    - b.gz
  share: 0.4
"""


def test_settings_have_the_comments_above_them():
    assert settings_of(CONFIG) == [
        Setting("stages", "", "Skill: what differs from configs/skill.yaml. Two stages"),
        Setting("stages.alone.settings.trainer.total_steps", "100", "Long enough"),
        Setting("task.open_share", "0.25", ""),
        Setting("task.force", "", "A blow costs"),
        Setting("task.force.penalty", "1.0", ""),
        Setting("starts.paths", "a.gz, b.gz", ""),
        Setting("starts.share", "0.4", ""),
    ]


def test_a_docstring_is_told_in_paragraphs():
    paragraphs = list(about(built_in()["pick"].task))
    assert paragraphs[0].startswith("Pick: ")
    assert [p.partition(":")[0].partition(" ")[0] for p in paragraphs[2:]] == [
        "Observation", "Action", "Start", "Success",
    ]  # fmt: skip


def test_what_tasks_md_says_is_not_said_again():
    text = cards.card("place", {})
    paragraphs = list(about(built_in()["place"].task))
    assert [text.count(p) for p in paragraphs] == [1, 1, 1, 0, 0, 0]
    assert "../tasks.md#place" in text
    assert "../tasks.md#open-and-close" in cards.card("open_cab", {})


def test_the_pages_in_the_docs_are_up_to_date(capsys, monkeypatch):
    pages = cards.pages()
    monkeypatch.setattr(cards, "pages", lambda: pages)  # made once: they take seconds
    assert cards.main(["--check"]) == 0, capsys.readouterr().out
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in pages:
        assert f"- {page.relative_to('docs')}" in nav


def test_a_page_that_is_not_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cards, "ROOT", tmp_path)
    monkeypatch.setattr(cards, "pages", lambda: {cards.FOLDER / "pick.md": "new\n"})
    assert cards.main(["--check"]) == 1
    assert "docs/skills/pick.md: not as" in capsys.readouterr().out
    assert cards.main([]) == 0
    assert cards.main(["--check"]) == 0


def measured(checkpoint, mean):
    success = {"mean": mean, "low": 0.1, "high": 0.9}
    return {
        "skill": "pick", "episodes": 10, "success_at_end": success, "failures": {"timeout": 2},
        "made": {"command": "python -m x", "date": "2026-12-01T00:00:00Z",
                 "checkpoints": {"a.safetensors": checkpoint}},
    }  # fmt: skip


def test_results_of_other_policies_stand_apart():
    ledger = {
        "pick": measured("ours", 0.8), "pick_again": measured("ours", 0.7),
        "study": measured("theirs", 0.6), "place": {**measured("ours", 0.5), "skill": "place"},
    }  # fmt: skip

    def told(shipped):
        parts = cards._measured("pick", ledger, shipped)
        return "\n".join(cards._results("pick", parts[0])), "\n".join(cards._studies(parts[1]))

    own, studies = told("ours")
    assert "| 2026-12-01 |" in own
    assert "Of 10 episodes failed by: timeout 2." in own
    assert [name in own for name in ("results/pick.json", "pick_again", "study", "place")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert [name in studies for name in ("pick.json", "study")] == [False, True]
    assert "starts" not in own
    ledger["pick"]["starts"] = {kind: measured("", 0.5) for kind in ("straight", "detour")}
    own = told("ours")[0]
    assert "| the policy, detour starts | 10 | 50.0 [10.0, 90.0] |" in own
    assert cards.OLDER_DETOURS in own
    ledger["pick"]["receptacles"] = {"fridge_middle": measured("", 0.5)}
    own = told("ours")[0]
    assert "| the policy, at fridge middle | 10 | 50.0 [10.0, 90.0] |" in own
    assert cards.OLDER_DETOURS not in own
    none = told("new")[0]
    assert none.startswith("The shipped policy was not evaluated yet.")
    assert "Of 10 episodes" not in none


def test_the_curve_of_a_training_is_shown_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(cards, "ROOT", tmp_path)
    assert "no curve" in cards._curve("pick")
    (tmp_path / cards.FOLDER).mkdir(parents=True)
    (tmp_path / cards.FOLDER / "pick.png").touch()
    assert cards._curve("pick").endswith("(pick.png)")


def test_a_card_tells_how_far_the_shipped_policy_is_of_its_recipe(monkeypatch):
    parts = load_stages("open_cab")

    def told(stages, **changes):
        settings = asdict(parts[-1]) | {"recipe": {"stages": stages}} | changes
        policy = SimpleNamespace(config=settings.pop("trainer"), metadata=settings)
        monkeypatch.setattr(cards, "load_policy", lambda path: policy)
        return cards._of_this_recipe("open_cab")

    names = ["masked", "alone", "stops_end"]
    assert told(names) == "The shipped policy was trained by it, up to stage `stops_end`."
    assert told(["alone"]) == "The shipped policy is older than this recipe."
    assert told([]) == "The shipped policy is older than this recipe."
    other = told(names, camera_size=128)
    assert other == (
        "The shipped policy was trained by another one, from before it had today's camera_size."
    )
