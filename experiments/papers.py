"""`python -m experiments.papers > docs/papers.md`: the papers' tables and figures, ours beside theirs.

Takes the figures that `rearrange reproduce NAME --budget full` wrote to results/; claims, and what differs from
the paper, are the experiment's of today. What has no entry there is not measured; of a quick result it is told
that there is one, and none of its figures.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.claims import UNMEASURED, told_reference
from experiments.experiment import Experiment
from experiments.registry import EXPERIMENTS, MISSING
from rearrange.command_line import OneLineParser
from skills.command import counted, run_command
from skills.figures import load_ledger
from skills.ledger import REFERENCES
from skills.provenance import ROOT, told_machine

PREFIX = "paper_"  # of entries of the ledger and of pictures
QUICK_PREFIX = "quick_"  # of entries of quick budgets
INTRODUCTION = """\
# The papers' tables and figures

Made by `python -m experiments.papers` from [results/](../results/README.md): do not edit. Each experiment
is a file in `experiments/`, and a command makes it again:

```
rearrange reproduce list
rearrange reproduce ver_table1                    # quick: minutes, shows that all works, and measures nothing
rearrange reproduce ver_table1 --budget full      # hours to days; writes results/ and the picture
```

Stopped or killed, the same command goes on. A claim of a paper becomes a range, chosen before its command was
run here; older measurements of some of these questions were known ([systems](lab-notes/systems.md),
[findings](lab-notes/findings.md)). It holds where the 95 % interval over our seeds lies in the range, and does
not hold where it lies outside. Else, or with fewer than three seeds, it cannot be told. A ratio above 1 says
that the paper's direction holds, not its size. Ranges of a few points need more seeds than five where seeds
differ much: "cannot be told" is then no evidence against the paper. ± is the standard deviation over seeds.

Ours are homes of our own, a few processor cores, and 1 to 30 million steps where the papers mostly have 20 to
2,500 million. What holds here need not hold there, nor the other way round.
"""


def page(ledger: Mapping[str, Any], pictures: Path) -> str:
    """The whole page in Markdown.

    Args:
        ledger: Results by the name of their file.
        pictures: Folder of the pictures that there are.
    """
    lines = [INTRODUCTION]
    for paper in dict.fromkeys(each.paper for each in EXPERIMENTS.values()):
        lines += [f"## {paper}", ""]
        for experiment in EXPERIMENTS.values():
            if experiment.paper == paper:
                lines += _section(experiment, ledger, pictures)
    lines += ["## Not made yet", "", "Not measured, and no command measures them:", ""]
    lines += [f"- {paper}, {artefact}" for paper, artefact in MISSING]
    return "\n".join(lines) + "\n"


def _section(experiment: Experiment, ledger: Mapping[str, Any], pictures: Path) -> list[str]:
    name = f"{PREFIX}{experiment.name}"
    record, quick = ledger.get(name), ledger.get(f"{QUICK_PREFIX}{experiment.name}")
    lines = [f"### {experiment.artefact}", ""]
    if record is None:
        lines += [f"`rearrange reproduce {experiment.name} --budget full`: not measured.", ""]
        if quick is not None:
            lines[-1:] = [f"`{quick['made']['command']}`: {_ran(quick)}. It measures nothing.", ""]
    else:
        made = record["made"]
        told = f"{counted(record['seeds'], 'seed')}, {made['date'][:10]}, {told_machine(made['machine'])}"
        lines += [f"`{made['command']}`: {told}.", ""]
    lines += claims_table(experiment, record, ledger.get(REFERENCES, {}))
    if record is not None:
        lines += ["", *figures_table(experiment, record["rows"])]
        if (pictures / f"{name}.png").is_file():
            lines += ["", f"![{experiment.artefact}]({name}.png)"]
    lines += ["", "What differs from the paper:", "", *(f"- {x}" for x in experiment.departures)]
    if experiment.not_measured:
        lines += ["", "Not measured:", "", *(f"- {each}" for each in experiment.not_measured)]
    return [*lines, ""]


def _ran(quick: Mapping[str, Any]) -> str:
    """Day on which a quick budget ran to its end, and how long that took."""
    minutes = counted(math.ceil(quick["seconds"] / 60), "minute")
    return f"ran on {quick['made']['date'][:10]}, within {minutes}"


def claims_table(
    experiment: Experiment, record: Mapping[str, Any] | None, references: Mapping[str, Any]
) -> list[str]:
    """One row for each claim, the verdict last.

    Claims are judged anew, by the result's rows: what is mended in an experiment has to reach the page.
    """
    rows = record["rows"] if record else []
    claims = [each.judge(rows) for each in experiment.claims]
    lines = ["| the paper | its figure | ours | holds if | verdict |", "|---" * 5 + "|"]
    for claim in claims:
        figure = told_reference(references, claim["reference"])
        ours, verdict = told_figure(claim), claim["verdict"]
        lines.append(
            f"| {claim['text']} | {figure} | {ours} | {claim['by']} {claim['range']} | {verdict} |"
        )
    return lines


def told_figure(claim: Mapping[str, Any]) -> str:
    """Our figure of a claim and its interval, as far as there are any."""
    ours = claim["ours"]
    if ours is None:
        return UNMEASURED
    if "mean" not in ours:
        return f"{ours['known']} of {ours['seeds']} runs have one"
    interval = f" ({ours['low']:.3g} to {ours['high']:.3g})" if "low" in ours else ""
    return f"{ours['mean']:.3g}{interval}"


def figures_table(experiment: Experiment, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One row for each arm: means over the seeds and their deviations."""
    heads = experiment.figures.values()
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for arm in dict.fromkeys(row["arm"] for row in rows):
        of_arm = [row for row in rows if row["arm"] == arm]
        cells = [_cell([row.get(key) for row in of_arm]) for key in experiment.figures]
        lines.append(f"| {arm} | {' | '.join(cells)} |")
    return lines


def _cell(values: Sequence[float | None]) -> str:
    """Mean and deviation of what there is; of how many, where some have none."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    mean = float(np.mean(known))
    form = ",.0f" if abs(mean) >= 100 else ".3g"
    told = format(mean, form)
    if len(known) > 1:
        told += f" ± {format(float(np.std(known, ddof=1)), form)}"
    return told if len(known) == len(values) else f"{told} ({len(known)} of {len(values)})"


def main(arguments: Sequence[str]) -> int:
    """Print the page."""
    OneLineParser(prog="experiments.papers", description=__doc__).parse_args(arguments)
    sys.stdout.write(page(load_ledger(ROOT / "results"), ROOT / "docs"))
    return 0


if __name__ == "__main__":
    run_command(main)
