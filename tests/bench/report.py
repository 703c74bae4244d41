# SPDX-License-Identifier: Apache-2.0
"""Figures to tables, and tables to a verdict."""
import dataclasses
import operator
import pathlib

BARS = pathlib.Path(__file__).resolve().parent / "bars.tsv"


@dataclasses.dataclass(frozen=True)
class Bar:
    key: str
    sign: str
    limit: float
    unit: str
    what: str
    source: str
    quiet: bool  # it is judged where nothing else runs, and so not in the short form

    def met(self, value):
        return {"<=": operator.le, ">=": operator.ge}[self.sign](value, self.limit)


def read_bars():
    """The bars of bars.tsv, in its order."""
    bars = []
    for line in BARS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        key, limit, unit, what, source, *quiet = line.split("\t")
        sign, number = limit.split()
        bars.append(Bar(key, sign, float(number), unit, what, source, quiet == ["quiet"]))
    return bars


def figure(value):
    """Three digits that matter, never in scientific notation."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def with_spread(triple):
    """median [first..third quartile]"""
    return "{} [{}..{}]".format(*map(figure, triple))


def table(head, rows, markdown):
    """One table as text: columns aligned either way."""
    rows = [head] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    edge, gap = ("| ", " | ") if markdown else ("", "  ")
    lines = [edge + gap.join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
    lines = [line + " |" if markdown else line.rstrip() for line in lines]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join(lines[:1] + [rule if markdown else "-" * max(map(len, lines))] + lines[1:])


def verdict(values, short):
    """(rows of the table of bars, number of bars missed).

    values: {key: (median, first quartile, third quartile)}; an absent key was not measured.
    """
    rows, missed = [], 0
    for bar in read_bars():
        limit = f"{bar.sign} {bar.limit:g} {bar.unit}".strip()
        if bar.key not in values:
            rows.append([bar.what, limit, "-", "skipped: an arm is missing"])
            continue
        if short and bar.quiet:
            rows.append([bar.what, limit, with_spread(values[bar.key]), "not judged: short"])
            continue
        met = bar.met(values[bar.key][0])
        missed += not met
        rows.append([bar.what, limit, with_spread(values[bar.key]), "met" if met else "MISSED"])
    return rows, missed
