"""Hooks of mkdocs: the README is the front page, and links to files of the code become names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_README = Path(__file__).parents[1] / "README.md"
_INTO_DOCS = re.compile(r"(\]\(|src=\")docs/")
_OUT_OF_DOCS = re.compile(r"(?<!!)\[([^\]]+)\]\((?:\.\./)+[^)]*\)")
_BESIDE_DOCS = re.compile(r"(?<!!)\[([^\]]+)\]\((?:examples|results|configs|data|scripts)[^)]*\)")
_WORD = re.compile(r"<code>([^\s<]{1,40})</code>")
_MARKER = r"(?:<!--[^>]*-->)?"
_FIGURE = re.compile(rf"(<td[^>]*>)({_MARKER}[\d.,]+ \[[^\]<]+\]{_MARKER})(?=</td>)")


def on_files(files: Files, config: Any) -> Files:
    """Add the README as index.md."""
    text = _INTO_DOCS.sub(r"\1", _README.read_text(encoding="utf-8"))
    files.append(File.generated(config, "index.md", content=_BESIDE_DOCS.sub(_name, text)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Take links that lead out of docs/ away: the site has no such pages."""
    del page, config, files
    return _OUT_OF_DOCS.sub(_name, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Mark what must not be broken: `--seed` behind its hyphen, a figure before its interval."""
    del page, config, files
    html = _FIGURE.sub(r'\1<span class="whole">\2</span>', html)
    return _WORD.sub(r'<code class="whole">\1</code>', html)


def _name(match: re.Match[str]) -> str:
    return match[1] if match[1].startswith("`") else f"`{match[1]}`"
