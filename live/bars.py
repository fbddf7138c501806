"""Numbers as bars, in HTML: the action, and the terms of the reward."""

from __future__ import annotations

import html
from collections.abc import Mapping

POSITIVE, NEGATIVE = "#2f9e6e", "#d1603d"
_ROW = (
    '<div style="display:flex;align-items:center;gap:6px;font-size:12px;line-height:17px">'
    '<span style="flex:0 0 42%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap">{name}</span>'
    '<span style="flex:1;position:relative;height:8px;background:#8883;border-radius:2px">'
    '<span style="position:absolute;height:8px;left:{left:.1f}%;width:{width:.1f}%;background:{colour}">'
    '</span></span><span style="flex:0 0 58px;text-align:right;font-variant-numeric:tabular-nums">'
    "{value}</span></div>"
)


def bars(title: str, values: Mapping[str, float], largest: float, digits: int) -> str:
    """A bar for every number, from the middle to the left where it is negative.

    Args:
        title: Above them.
        values: By name.
        largest: The number whose bar is as long as there is room.
        digits: After the point.
    """
    rows = [f'<div style="font-size:12px;opacity:0.65;margin-top:4px">{html.escape(title)}</div>']
    for name, value in values.items():
        width = 50.0 * min(abs(value) / largest, 1.0)
        rows.append(
            _ROW.format(
                name=html.escape(name.replace("_", " ")),
                left=50.0 if value >= 0.0 else 50.0 - width,
                width=width,
                colour=POSITIVE if value >= 0.0 else NEGATIVE,
                value=f"{round(value, digits) + 0.0:+.{digits}f}",  # no -0.00
            )
        )
    return f'<div style="padding:0 12px 6px 12px">{"".join(rows)}</div>'
