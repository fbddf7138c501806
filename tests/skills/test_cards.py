"""The pages of the skills are what code, configs and results say."""

from skills import cards
from skills.cards import Setting, about, settings_of
from skills.provenance import ROOT
from skills.registry import built_in

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


def test_the_pages_in_the_docs_are_up_to_date(capsys):
    assert cards.main(["--check"]) == 0, capsys.readouterr().out
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in cards.pages():
        assert f"- {page.relative_to('docs')}" in nav


def test_a_page_that_is_not_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cards, "ROOT", tmp_path)
    monkeypatch.setattr(cards, "pages", lambda: {cards.FOLDER / "pick.md": "new\n"})
    assert cards.main(["--check"]) == 1
    assert "docs/skills/pick.md: not as" in capsys.readouterr().out
    assert cards.main([]) == 0
    assert cards.main(["--check"]) == 0
