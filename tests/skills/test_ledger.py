"""The ledger: results in git, and the documents that quote them."""

import json

import pytest

from rearrange.errors import UserError
from skills import ledger
from skills.ledger import check, index, write
from skills.provenance import ROOT, made


def entry(**more):
    origin = made("skills.eval", ["pick"], what="pick: learned", seed=1, split="val")
    return {
        "made": origin | {"commit": "0123456789abcdef", "dirty": False} | more,
        "episodes": 200,
        "success_at_end": {"mean": 0.5, "low": 0.4, "high": 0.6},
    }


@pytest.fixture
def root(tmp_path):
    """A repository with one entry and one page that quotes it."""
    (tmp_path / "results").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Title\n")
    (tmp_path / "results" / "pick.json").write_text(json.dumps(entry()))
    (tmp_path / "docs" / "a.md").write_text("Pick: <!--=pick.success_at_end--><!--/--> %.\n")
    write(tmp_path, documents=True)
    return tmp_path


def said(root):
    return [str(finding) for finding in check(root)]


def test_a_good_repository_passes(root):
    assert said(root) == []
    assert "50.0 [40.0, 60.0]" in (root / "docs" / "a.md").read_text()


def test_a_planted_false_figure_fails(root):
    page = root / "docs" / "a.md"
    text = page.read_text()
    page.write_text(text.replace("50.0", "90.0"))
    assert said(root)[0].startswith("docs/a.md:1: '90.0 [40.0, 60.0]' differs")
    page.write_text(text + "\nAnd 97.3 % of them.\n")
    assert said(root) == ["docs/a.md:3: '97.3 %' has no marker: take it from results/"]


def test_history_may_have_figures_without_a_marker_and_none_with_a_false_one(root):
    page = root / "docs" / "lab-notes" / "b.md"
    page.parent.mkdir()
    page.write_text("It had 97.3 %, and has <!--=pick.success_at_end-->90.0<!--/-->.\n")
    assert [each.split(" differs")[0] for each in said(root)] == ["docs/lab-notes/b.md:1: '90.0'"]
    write(root, documents=True)
    assert said(root) == []


def test_a_new_result_is_in_the_table_and_in_the_documents(root):
    changed = entry() | {"success_at_end": {"mean": 0.7, "low": 0.6, "high": 0.8}}
    (root / "results" / "pick.json").write_text(json.dumps(changed))
    assert len(said(root)) == 1
    write(root, documents=True)
    assert said(root) == []
    (root / "results" / "place.json").write_text(json.dumps(entry()))
    assert said(root) == ["results/README.md:1: not as python -m skills.ledger makes it"]


def test_entries_tell_their_origin_and_nothing_private(root):
    place = root / "results" / "place.json"
    place.write_text(json.dumps({"success": 1}))
    assert said(root) == [
        "results/place.json:1: no 'what' in its 'made': write it by a command's --json"
    ]
    with pytest.raises(UserError, match="no 'what' in its 'made'"):
        write(root, documents=False)
    place.write_text(json.dumps(entry() | {"file": "/home/me/x"}))
    assert said(root) == ["results/place.json:1: '/home/me/x' holds a private path"]
    place.write_text(json.dumps(entry() | {"skills": "learned,pick=/home/me/p.safetensors"}))
    assert len(said(root)) == 1
    place.write_text(json.dumps(entry() | {"rows": list(range(20_000))}))
    assert "more than 60000 bytes" in said(root)[0]
    place.write_text("{")
    with pytest.raises(UserError, match="is no JSON"):
        check(root)


def test_references_have_sources(root):
    path = root / "results" / "references.json"
    path.write_text(json.dumps({"ver": {"speed": 2.0}}))
    assert said(root) == ["results/references.json:1: 'ver' has no source"]
    path.write_text(json.dumps({"ver": {"source": "VER, table 1", "speed": 2.0}}))
    (root / "docs" / "a.md").write_text("It has <!--=references.ver.speed-->2<!--/--> times.\n")
    write(root, documents=True)
    assert said(root) == []
    assert "`ver`: VER, table 1" in (root / "results" / "README.md").read_text()


def test_the_table_counts_plans_and_apartments():
    rows = [[0, 5003, 1, 1], [1, 5003, 2, 0], [2, 5004, 0, 1]]
    columns = ["episode", "layout", "variation", "success"]
    played = entry(homes="generated") | {"per_episode": {"columns": columns, "rows": rows}}
    assert "| generated | val | 200 | 2 | 3 | 1 | " in index({"a": played})


def test_the_table_counts_looks_at_the_test_split():
    table = index({"a": entry(), "b": entry(split="test", release="1.0"), "c": entry(dirty=True)})
    assert "The test split was looked at 1 time (1.0: 1)." in table
    assert "| [a](a.json) | pick: learned |  | val | 200 |  |  | 1 | " in table
    assert (table.count("`01234567`"), table.count("`01234567*`")) == (2, 1)
    assert "looked at 0 times." in index({"a": entry()})


def test_the_command_checks_this_repository(monkeypatch, root, capsys):
    monkeypatch.setattr(ledger, "ROOT", root)
    assert ledger.main(["--check"]) == 0
    (root / "docs" / "a.md").write_text("It takes 31 minutes.\n")
    assert ledger.main(["--check"]) == 1
    assert (
        capsys.readouterr().out
        == "docs/a.md:1: '31 minutes' has no marker: take it from results/\n"
    )


def test_every_figure_in_the_documents_is_in_the_ledger():
    assert [str(finding) for finding in check(ROOT)] == []
