"""Figures in documents: markers that take them from results/, and a search for figures that have none.

A marker is `<!--=pick.success_at_end-->95.4 [93.2, 96.9]<!--/-->`: the file results/pick.json, the path in
it, then the text that it renders to. GitHub shows the text alone. docs/ledger.md tells all of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rearrange.errors import UserError

MARKER = re.compile(r"<!--=(?P<source>[^<>]+?)-->(?P<text>.*?)<!--/-->")
_SOURCE = re.compile(
    r"(?P<path>[^;/]+)(?:\s/\s(?P<divisor>[^;/]+))?"
    r"(?:;(?:(?P<operator>[*/])(?P<factor>\d+(?:\.\d+)?))? ?(?P<format>,?(?:\.\d+)?[df%]?))?"
)
_FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_LINK = re.compile(r"\]\([^)\n]*\)|https?://\S+")
_STARTS_LINE = re.compile(r"^\s*(?:[-*+>]\s+|\d+[.)]\s+)?<!--=")
_INTERVAL = re.compile(r"\b95\s%\s(?:\w+\s)?intervals?\b")  # a word of statistics, no figure

_NUMBER = r"(?<![\w.])\d[\d,]*(?:\.\d+)?"
_THINGS = r"(?:\s(?:million|thousand))?(?:\s?(?!(?:m|rad|deg|N)\b)[A-Za-z]+){0,2}"
MEASURED = re.compile(
    rf"{_NUMBER}\s?(?:%|percent\b)"  # shares
    rf"|{_NUMBER}\s\[{_NUMBER},\s{_NUMBER}\]"  # intervals
    rf"|\({_NUMBER}\sto\s{_NUMBER}\)"
    rf"|{_NUMBER}{_THINGS}\s?(?:/\s?(?:s|h|min)\b|per\s(?:second|minute|hour)\b)"  # rates
    rf"|{_NUMBER}(?:\stimes\b|[x×](?!\w)|[\s-]?fold\b)"  # ratios; not 64x64
    rf"|\bSPL\s(?:of\s)?{_NUMBER}"
    rf"|{_NUMBER}\sof\s(?:the\s)?\d[\d,]*\d\b"  # counts, 5 of 100
)
DURATION = re.compile(
    rf"(?<!/){_NUMBER}[\s-]?(?:ns|µs|us|ms|s|min|h|seconds?|minutes?|hours?|days?|weeks?)\b"
)
_ROW = re.compile(r"^\s*\|(.*)\|\s*$")
_RULE = re.compile(r"[\s|:-]+")
_MEASURED_COLUMN = re.compile(
    r"%|/s\b|\b(?:success|SPL|seconds?|minutes?|hours?|ms|µs|steps per|rate|speed|times)\b", re.I
)
_BARE_NUMBER = re.compile(rf"\W*{_NUMBER}(?!\w)")


@dataclass(frozen=True)
class Finding:
    """Something wrong with a document; `line` counts from 1."""

    page: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def look_up(ledger: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as "pick.rows.blind.success_at_end"; the first word names the file.

    An element of a list is found by its place or by its "name".

    Raises:
        UserError: There is none.
    """
    value: Any = ledger
    for depth, key in enumerate(path.strip().split(".")):
        if isinstance(value, list):
            named = [e for e in value if isinstance(e, Mapping) and e.get("name") == key]
            if key.isdecimal() and int(key) < len(value):
                named = [value[int(key)]]
            value = dict.fromkeys([key], named[0]) if named else {}
        if not isinstance(value, Mapping) or key not in value:
            where = "the ledger" if depth == 0 else ".".join(path.split(".")[:depth])
            raise UserError(f"{path}: no '{key}' in {where}")
        value = value[key]
    return value


def render(ledger: Mapping[str, Any], source: str) -> str:
    """The text of a marker's source, `PATH`, `PATH / PATH` or either with `;[*N or /N ]FORMAT` after it.

    Raises:
        UserError: The source is malformed, or not in the ledger, or no figure.
    """
    try:
        return _rendered(ledger, source)
    except (ValueError, ZeroDivisionError) as error:
        raise UserError(f"'{source}' cannot be rendered: {error}") from None


def _rendered(ledger: Mapping[str, Any], source: str) -> str:
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise UserError(f"'{source}' is no source: write FILE.PATH, perhaps with ;FORMAT")
    value = look_up(ledger, match["path"])
    factor = 1.0
    if match["divisor"]:
        factor = 1.0 / _number(look_up(ledger, match["divisor"]), match["divisor"])
    if match["operator"]:
        number = float(match["factor"])
        factor *= number if match["operator"] == "*" else 1.0 / number
    form = match["format"] or ""
    if isinstance(value, Mapping) and {"mean", "low", "high"} <= set(value):
        form = (form or ".1%").rstrip()
        scale, digits = (100.0, form[:-1] + "f") if form.endswith("%") else (1.0, form)
        mean, low, high = (
            format(scale * factor * _number(value[key], source), digits)
            for key in ("mean", "low", "high")
        )
        return f"{mean} [{low}, {high}]"
    if isinstance(value, str) and not form and factor == 1.0:
        return value
    return _plain(_number(value, source), factor, form)


def _plain(value: float, factor: float, form: str) -> str:
    """A number alone; a whole one gets its thousands apart, others three digits."""
    if isinstance(value, int) and factor == 1.0 and not form:
        return f"{value:,d}"
    scaled = value * factor
    if form.endswith("%"):
        return f"{100.0 * scaled:{form[:-1]}f} %"
    if form:
        return format(round(scaled) if form.endswith("d") else scaled, form)
    return f"{scaled:,.0f}" if abs(scaled) >= 100.0 else f"{scaled:.3g}"


def _number(value: Any, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UserError(f"{path} is no number and no interval")
    return value


def render_page(text: str, ledger: Mapping[str, Any]) -> str:
    """A document with all markers rendered anew; those in code blocks stay.

    Raises:
        UserError: A source is not in the ledger.
    """
    code = [match.span() for match in (*_FENCE.finditer(text), *_CODE.finditer(text))]

    def renewed(match: re.Match[str]) -> str:
        if any(begin <= match.start() < end for begin, end in code):
            return match[0]
        return f"<!--={match['source']}-->{render(ledger, match['source'])}<!--/-->"

    return MARKER.sub(renewed, text)


def check_page(
    page: Path, text: str, ledger: Mapping[str, Any], history: bool = False
) -> Iterator[Finding]:
    """Find markers that differ from the ledger, and figures outside of markers.

    Args:
        page: How the document is called in findings.
        text: Its Markdown.
        ledger: Name of a file in results/, without .json -> its content.
        history: Figures may stand outside of markers.
    """
    prose = _blank(_FENCE, text)
    plain = _CODE.sub("", prose)
    for number, line in enumerate(plain.split("\n"), 1):
        yield from (Finding(page, number, said) for said in _wrong_markers(line, ledger))
    if history:
        return
    found = {
        (number, figure)
        for where, pattern in ((prose, MEASURED), (plain, DURATION))
        for number, figure in _matches(pattern, _without_markers(where))
    }
    found.update(_bare_cells(_without_markers(plain)))
    for number, figure in sorted(found):
        yield Finding(page, number, f"'{figure}' has no marker: take it from results/")


def _wrong_markers(line: str, ledger: Mapping[str, Any]) -> Iterator[str]:
    """Find faults in the markers of a line."""
    if _STARTS_LINE.match(line):
        yield "a marker begins the line, which GitHub then takes for HTML: put a word before it"
    for match in MARKER.finditer(line):
        try:
            wanted = render(ledger, match["source"])
        except UserError as error:
            yield str(error)
            continue
        if match["text"] != wanted:
            yield f"'{match['text']}' differs from the ledger's '{wanted}' ({match['source']})"
    if "<!--=" in MARKER.sub("", line):
        yield "a marker does not end on its line: close it by <!--/-->"


def _without_markers(text: str) -> str:
    """Prose without what is backed, without links, and without the wording "95 % interval"."""
    bare = _LINK.sub("]", MARKER.sub("<>", text)).replace("&nbsp;", " ")
    return _INTERVAL.sub(lambda match: "\n" * match[0].count("\n"), bare)


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """Line and text of every match."""
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split())


def _bare_cells(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of cells that begin with a number, in columns whose heads speak of what is measured."""
    measured: list[bool] = []
    previous = ""
    for number, line in enumerate(text.split("\n"), 1):
        row = _ROW.match(line)
        if row is None:
            measured = []
        elif _RULE.fullmatch(line):
            heads = previous.strip().strip("|").split("|")
            measured = [bool(_MEASURED_COLUMN.search(head)) for head in heads]
        else:
            for cell, counts in zip(row[1].split("|"), measured, strict=False):
                if counts and _BARE_NUMBER.match(cell):
                    yield number, cell.strip()
        previous = line


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """The text with what matches replaced by as many empty lines."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def load_ledger(folder: Path) -> dict[str, Any]:
    """All results, by the name of their file.

    Raises:
        UserError: One is no JSON.
    """
    return {path.stem: _read(path) for path in sorted(folder.glob("*.json"))}


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is no JSON: {error}") from None
