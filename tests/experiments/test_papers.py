"""The page that sets ours beside the papers' figures."""

import pytest

from experiments.papers import PREFIX, QUICK_PREFIX, figures_table, page, told_figure
from experiments.registry import EXPERIMENTS, MISSING
from skills.figures import load_ledger
from tests.helpers import ROOT

REFERENCES = load_ledger(ROOT / "results")["references"]
LAMB = EXPERIMENTS["bps_lamb"]


def record(seeds: int) -> dict:
    """A result as the command writes it, in which Lamb is better by a tenth."""
    rows = [
        {"arm": arm, "seed": seed, "spl": spl + seed / 1000, "mean_spl": 0.5, "success": None}
        for seed in range(1, seeds + 1)
        for arm, spl in (("Lamb", 0.6), ("Adam", 0.5))
    ]
    machine = {"cpu": "a processor", "cores": 2}
    return {
        "made": {"command": "python -m experiments bps_lamb", "date": "2026-01-02T", "machine": machine},
        "seeds": seeds,
        "rows": rows,
        "claims": [LAMB.claims[0].judge([]) | {"text": "Claimed then"}],
        "departures": ["As it was then."],
        "not_measured": ["Not measured then."],
    }  # fmt: skip


def test_the_page_is_that_of_the_ledger():
    told = page(load_ledger(ROOT / "results"), ROOT / "docs")
    assert (ROOT / "docs" / "papers.md").read_text() == told, (
        "python -m experiments.papers > docs/papers.md"
    )


def test_what_has_no_entry_is_not_measured(tmp_path):
    told = page({"references": REFERENCES}, tmp_path)
    for experiment in EXPERIMENTS.values():
        assert f"`rearrange reproduce {experiment.name} --budget full`: not measured." in told
        for claim in experiment.claims:
            assert f"| {claim.text} | " in told
        for each in (*experiment.departures, *experiment.not_measured):
            assert f"- {each}\n" in told
    claims = sum(len(each.claims) for each in EXPERIMENTS.values())
    assert told.count("| not measured |\n") == claims
    assert all(f"- {paper}, {artefact}\n" in told for paper, artefact in MISSING)


@pytest.mark.parametrize(
    ("seeds", "row"),
    [
        (5, "| 0.006 | 0.1 (0.1 to 0.1) | difference above 0 | holds |"),
        (2, "| 0.006 | 0.1 | difference above 0 | cannot be told |"),
    ],
)
def test_ours_stands_beside_the_papers(seeds, row, tmp_path):
    told = page({"references": REFERENCES, f"{PREFIX}bps_lamb": record(seeds)}, tmp_path)
    assert f"| Lamb ends with more SPL {row}\n" in told
    assert (
        f"`python -m experiments bps_lamb`: {seeds} seeds, 2026-01-02, machine: a processor" in told
    )
    assert "paper_bps_lamb.png" not in told
    (tmp_path / "paper_bps_lamb.png").touch()
    told = page({"references": REFERENCES, f"{PREFIX}bps_lamb": record(seeds)}, tmp_path)
    assert "](paper_bps_lamb.png)" in told


def test_corrections_reach_the_page(tmp_path):
    """Only figures are those of then: claims and departures are the file's of today."""
    then = record(5)
    told = page({"references": REFERENCES, f"{PREFIX}bps_lamb": then}, tmp_path)
    without = page({"references": REFERENCES}, tmp_path)
    old = *then["departures"], *then["not_measured"], *(each["text"] for each in then["claims"])
    assert not any(text in told for text in old)
    for each in (*LAMB.departures, *LAMB.not_measured):
        assert told.count(f"- {each}\n") == without.count(f"- {each}\n")
    for claim in LAMB.claims:
        judged = claim.judge(then["rows"])
        (line,) = [line for line in told.splitlines() if line.startswith(f"| {claim.text} |")]
        assert line.endswith(
            f"| {told_figure(judged)} | difference {claim.range} | {judged['verdict']} |"
        )


def test_of_a_quick_result_only_that_it_ran_is_told(tmp_path):
    quick = record(5) | {"seconds": 61.0}
    ledger = {"references": REFERENCES, f"{QUICK_PREFIX}bps_lamb": quick}
    told = page(ledger, tmp_path)
    without = page({"references": REFERENCES}, tmp_path)
    (more,) = set(told.splitlines()) - set(without.splitlines())
    assert more == (
        "`python -m experiments bps_lamb`: ran on 2026-01-02, within 2 minutes. It measures nothing."
    )
    full = page(ledger | {f"{PREFIX}bps_lamb": record(5)}, tmp_path)
    assert "It measures nothing." not in full


def test_a_table_of_arms_has_means_and_deviations():
    rows = [
        {"arm": "a", "spl": 0.25, "success": 100.0},
        {"arm": "a", "spl": 0.75, "success": None},
    ]
    assert figures_table(LAMB, rows)[2:] == ["| a | 0.5 ± 0.354 | 100 (1 of 2) |  |"]


def test_runs_that_never_got_there_are_counted():
    assert told_figure({"ours": {"seeds": 5, "known": 3}}) == "3 of 5 runs have one"
    assert told_figure({"ours": None}) == "not measured"
