"""`python -m skills.ledger`: results/README.md anew from the results, and figures in documents from them.

Without options it writes results/README.md; `--write` also renders the markers in README.md and docs/ anew;
`--check` writes nothing, prints what is wrong, one line each, and ends with 1 if anything is. See
docs/ledger.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from atomic_files import write_whole
from rearrange.command_line import OneLineParser
from rearrange.errors import UserError
from skills.command import counted, run_command
from skills.figures import Finding, check_page, load_ledger, render_page
from skills.places import places_of
from skills.provenance import ROOT, TEST
from ver.public import without_private_folders

REFERENCES = "references"  # kept by hand: figures of other people's papers
LARGEST = 60_000  # bytes of an entry
MADE = ("what", "command", "commit", "dirty", "date", "split", "release", "seed", "checkpoints")
HISTORY = "docs/lab-notes"  # pages whose figures need no marker; those that have one are compared
# Pages whose figures are not looked for: made from settings, or from results.
UNCHECKED = ("docs/hab.md", "docs/papers.md", "docs/results.md", "docs/changelog.md")

INTRODUCTION = """\
# Results

Made by `python -m skills.ledger`: do not edit. Every file is what a command wrote, with its origin in `made`;
[docs/ledger.md](../docs/ledger.md) says how documents quote them. `*`: the sources differed from the commit.
"""


def pages(root: Path) -> list[Path]:
    """The documents whose figures have to stand in the ledger, relative to the root."""
    folders = ("docs", HISTORY)
    found = [root / "README.md", *(p for f in folders for p in sorted((root / f).glob("*.md")))]
    names = [str(page.relative_to(root)) for page in found if page.is_file()]
    return [Path(name) for name in names if name not in UNCHECKED]


def index(ledger: Mapping[str, Any]) -> str:
    """The text of results/README.md."""
    entries = {name: entry for name, entry in ledger.items() if name != REFERENCES}
    lines = [
        "| file | what | homes | split | n | plans | apartments | seed | date | commit | command |",
        "|---" * 11 + "|",
    ]
    for name, entry in entries.items():
        made = entry["made"]
        commit = made["commit"][:8] + "*" * bool(made["dirty"])
        seed = "" if made["seed"] is None else made["seed"]
        places = places_of(entry)
        where = (made.get("homes", ""), made["split"], entry.get("episodes", ""))
        counts = (places.get("plans", ""), places.get("apartments", ""))
        cells = (f"[{name}]({name}.json)", made["what"], *where, *counts)
        told = (*cells, seed, made["date"][:10], f"`{commit}`", f"`{made['command']}`")
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in told) + " |")
    if not entries:
        lines = ["There are none yet."]
    looked = Counter(
        entry["made"]["release"] for entry in entries.values() if entry["made"]["split"] == TEST
    )
    by_release = ", ".join(f"{release}: {count}" for release, count in sorted(looked.items()))
    total = counted(sum(looked.values()), "time")
    lines += [
        "",
        f"The test split was looked at {total}" + (f" ({by_release})." if looked else "."),
    ]
    if REFERENCES in ledger:
        lines += ["", "Figures of others, kept by hand in [references.json](references.json):", ""]
        lines += [f"- `{name}`: {each['source']}" for name, each in ledger[REFERENCES].items()]
    return INTRODUCTION + "\n" + "\n".join(lines) + "\n"


def check_entries(ledger: Mapping[str, Any], root: Path) -> Iterator[Finding]:
    """Find faults in entries: no origin, too large, private paths; references without a source."""
    for name, entry in ledger.items():
        path = Path("results") / f"{name}.json"
        if name == REFERENCES:
            for key, each in entry.items():
                if not (isinstance(each, Mapping) and each.get("source")):
                    yield Finding(path, 1, f"'{key}' has no source")
            continue
        made = entry.get("made") if isinstance(entry, Mapping) else None
        missing = [key for key in MADE if not isinstance(made, Mapping) or key not in made]
        if missing:
            yield Finding(
                path, 1, f"no '{missing[0]}' in its 'made': write it by a command's --json"
            )
        if (root / path).stat().st_size > LARGEST:
            yield Finding(path, 1, f"it has more than {LARGEST} bytes: ask for fewer episodes")
        for text in _strings(entry):
            if without_private_folders(text) != text:
                yield Finding(path, 1, f"'{text}' holds a private path")


def check(root: Path) -> list[Finding]:
    """All that is wrong with the ledger and with the documents that quote it."""
    folder = root / "results"
    ledger = load_ledger(folder)
    findings = list(check_entries(ledger, root))
    if findings:
        return findings
    readme = folder / "README.md"
    if not readme.is_file() or readme.read_text(encoding="utf-8") != index(ledger):
        findings.append(
            Finding(Path("results/README.md"), 1, "not as python -m skills.ledger makes it")
        )
    for page in pages(root):
        text, history = (root / page).read_text(encoding="utf-8"), str(page.parent) == HISTORY
        findings += check_page(page, text, ledger, history)
    return findings


def write(root: Path, documents: bool) -> None:
    """Write results/README.md anew, and the figures in the documents if asked.

    Raises:
        UserError: An entry is not as a command writes it, or a marker has none.
    """
    ledger = load_ledger(root / "results")
    for finding in check_entries(ledger, root):
        raise UserError(str(finding))
    write_whole(root / "results" / "README.md", index(ledger))
    for page in pages(root) if documents else []:
        path = root / page
        text = path.read_text(encoding="utf-8")
        renewed = render_page(text, ledger)
        if renewed != text:
            write_whole(path, renewed)
            print(f"figures anew: {page}")


def _strings(value: Any) -> Iterator[str]:
    """All texts in plain data, names included."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _strings(key)
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, str):
        yield value


def main(arguments: Sequence[str]) -> int:
    """Write or check."""
    parser = OneLineParser(prog="skills.ledger", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--write", action="store_true", help="also render the documents' figures anew"
    )
    what.add_argument("--check", action="store_true", help="only say what is wrong")
    options = parser.parse_args(arguments)
    if not options.check:
        write(ROOT, options.write)
        return 0
    findings = check(ROOT)
    for finding in findings:
        print(finding)
    return int(bool(findings))


if __name__ == "__main__":
    run_command(main)
