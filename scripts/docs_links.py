"""Hook of mkdocs: the README is the front page, and links to files of the repository work on the site, too.

A page links to `../ver/ppo.py`, as every viewer of the repository shows it. The site shows that file as a page
of its own. A link to what is not there is left as it is, and fails the strict build.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
DOCS, README = ROOT / "docs", ROOT / "README.md"
FRONT, SHOWN = "index.md", "source"
AS_IT_IS = (".json", ".md")  # all others are shown in a block of code
LANGUAGES = {".py": "python", ".sh": "bash", ".yaml": "yaml", ".pddl": "lisp", ".toml": "toml"}
_LINK = re.compile(r"(?<=\]\()(?![\w+.-]+:)[^)\s#]+|(?<=src=\")(?!\w+:)[^\"]+")


def on_files(files: Files, config: Any) -> Files:
    """Add the README, and the files that pages lead to."""
    waiting = [README, *DOCS.rglob("*.md")]
    found = set(waiting)
    while waiting:
        path = waiting.pop()
        if not path.is_relative_to(DOCS):
            files.append(File.generated(config, address_of(path), content=content_of(path)))
        text = path.read_text(encoding="utf-8") if path.suffix == ".md" else ""
        led_to = {target_of(match[0], path) for match in _LINK.finditer(text)}
        new = {each for each in led_to if each and not each.is_relative_to(DOCS)} - found
        waiting += new
        found |= new
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links that lead out of docs/ lead to pages of the site."""
    del config, files
    uri = page.file.src_uri
    own = uri == FRONT or uri.startswith(f"{SHOWN}/")  # made above
    return markdown if own else with_links(markdown, DOCS / uri)


def target_of(link: str, path: Path) -> Path | None:
    """The file of the repository that a link on a page leads to, if it does.

    Args:
        link: Relative, without its anchor.
        path: Of the page.
    """
    target = (path.parent / link).resolve()
    return target if target.is_file() and target.is_relative_to(ROOT) else None


def address_of(path: Path) -> str:
    """Path below docs/ at which the site has a file of the repository."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    if path == README:
        return FRONT
    shown = "" if path.suffix in AS_IT_IS else ".md"
    return f"{SHOWN}/{path.relative_to(ROOT).as_posix()}{shown}"


def content_of(path: Path) -> str:
    """Page of the site for a file outside docs/."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return with_links(text, path)
    if path.suffix in AS_IT_IS:
        return text
    name, language = path.relative_to(ROOT).as_posix(), LANGUAGES.get(path.suffix, "text")
    head = f"---\nsearch:\n  exclude: true\n---\n# {name}\n"
    return f"{head}\n``````{language}\n{text}\n``````\n"


def with_links(markdown: str, path: Path) -> str:
    """A page with the links that the site can follow.

    Args:
        markdown: Its text.
        path: Of it in the repository.
    """
    here = posixpath.dirname(address_of(path))

    def led(match: re.Match[str]) -> str:
        target = target_of(match[0], path)
        return match[0] if target is None else posixpath.relpath(address_of(target), here)

    return _LINK.sub(led, markdown)
