"""Links in the documentation lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.helpers import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "results" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")


def targets(text: str) -> list[str]:
    """Where the links and pictures of a page lead, code left out."""
    return _LINK.findall(_CODE.sub("", _BLOCK.sub("", text)))


def anchors(text: str) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ +(.+?) *#*$", _BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, root: Path) -> list[str]:
    """Relative links of a page to what is not in the tree, or to a heading that a page lacks."""
    broken = []
    for target in targets(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue  # another site: no network here
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        inside = path.is_relative_to(root) and path.exists()
        if not inside or (anchor and anchor not in anchors(path.read_text(encoding="utf-8"))):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert broken_links(page, ROOT.resolve()) == []


def test_broken_links_are_found(tmp_path):
    (tmp_path / "there.md").write_text("# A heading, `here`\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md) [b](there.md#a-heading-here) ![c](gone.png) [d](there.md#nothing)\n"
        "[e](https://example.org/x) [f](../outside.md) [g](#own)\n## Own\n"
        "`[h](code.md)`\n```\n[i](code.md)\n```\n"
    )
    (tmp_path.parent / "outside.md").touch()
    assert broken_links(page, tmp_path) == ["gone.png", "there.md#nothing", "../outside.md"]
