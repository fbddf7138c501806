"""Hook of mkdocs: what must not be broken at the end of a line is marked."""

from __future__ import annotations

import re
from typing import Any

_WORD = re.compile(r"<code>([^\s<]{1,40})</code>")
_MARKER = r"(?:<!--[^>]*-->)?"
_FIGURE = re.compile(rf"(<td[^>]*>)({_MARKER}[\d.,]+ \[[^\]<]+\]{_MARKER})(?=</td>)")


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Mark `--seed` behind its hyphen, and a figure before its interval."""
    del page, config, files
    html = _FIGURE.sub(r'\1<span class="whole">\2</span>', html)
    return _WORD.sub(r'<code class="whole">\1</code>', html)
