# SPDX-License-Identifier: Apache-2.0
"""One trace as a picture (SVG): the tree of its spans, as `ctxprop trace -j` tells them, with a bar for each."""
from html import escape
from pathlib import Path

WIDTH, ROW, TOP, MARGIN = 900, 26, 44, 16
BARS, TIMES = 520, 500  # where bars begin, and where durations end
SERVED, SENT = "#4c7fd9", "#8fb3ee"
STYLE = """\
text { font: 13px ui-monospace, monospace; fill: #1f2328 }
.id, .path { fill: #656d76 } .time { text-anchor: end } .paper { fill: #f6f8fa }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .id, .path { fill: #9198a1 } .paper { fill: #151b23 }
}"""


def in_order(spans):
    """(depth, span) of each, parents before their children, by time."""
    ids = {span["span_id"] for span in spans}

    def below(parent, depth):
        for span in sorted(spans, key=lambda span: span["start_ns"]):
            if (span.get("parent_id") if span.get("parent_id") in ids else None) == parent:
                yield depth, span
                yield from below(span["span_id"], depth + 1)
    return list(below(None, 0))


def row_of(number, depth, span, begin, scale):
    """A line of the picture."""
    top, left = TOP + ROW * number, MARGIN + 18 * depth
    served = span["kind"] == "server"
    name = span["service"] if served else f"{span['service']} → {span['remote']}"
    start = BARS + (span["start_ns"] - begin) * scale
    return (f'<text x="{left}" y="{top + 17}">{escape(name)} <tspan class="path">{escape(span["method"])} '
            f'{escape(span["path"])} {span["status"]}</tspan></text>'
            f'<text class="time" x="{TIMES}" y="{top + 17}">{span["duration_ns"] / 1e6:.2f} ms</text>'
            f'<rect x="{start:.1f}" y="{top + 5}" width="{max(2, span["duration_ns"] * scale):.1f}" height="16" rx="3" '
            f'fill="{SERVED if served else SENT}"/>')


def draw(trace, file):
    """Write the picture of a trace to a file."""
    rows = in_order(trace["spans"])
    begin = min(span["start_ns"] for _, span in rows)
    length = max(span["start_ns"] + span["duration_ns"] for _, span in rows) - begin
    scale = (WIDTH - MARGIN - BARS) / length
    height = TOP + ROW * len(rows) + MARGIN
    lines = [row_of(number, depth, span, begin, scale) for number, (depth, span) in enumerate(rows)]
    Path(file).write_text("\n".join([
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        f"<style>{STYLE}</style>", f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>',
        f'<text x="{MARGIN}" y="28">trace <tspan class="id">{escape(trace["trace_id"])}</tspan></text>',
        *lines, "</svg>", ""]), encoding="utf-8")
