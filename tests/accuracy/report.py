# SPDX-License-Identifier: Apache-2.0
"""Scores to a table, and the table to a verdict."""
import dataclasses
from pathlib import Path

from truth import Score

HERE = Path(__file__).resolve().parent
HEAD = ("row", "in flight", "calls", "right", "unknown", "wrong", "learnt", "own", "bar", "",
        "by rule")


@dataclasses.dataclass(frozen=True)
class Way:
    """How the matrix is run."""
    short: bool = False
    cold: bool = False  # programs that have just been started


@dataclasses.dataclass(frozen=True)
class Bar:
    """Least per cent of right calls of a row, by requests in flight, and why it is that."""
    right: dict
    learnt: float  # the same, at all of these, without the calls of the first requests of a cell
    short: float  # in any cell of a short run, where what must be learned first weighs more
    note: str
    cold: float  # with programs that have just been started

    def least(self, in_flight, way):
        """The bar of a cell; 0 at numbers in flight that have none."""
        least = self.right.get(in_flight, 0)
        least = min(least, self.cold) if way.cold else least
        return min(least, self.short) if way.short else least

    def least_learnt(self, in_flight, way):
        """The bar of what is right once the first requests of a cell are over; likewise."""
        whole = not way.cold and not way.short and in_flight in self.right
        return self.learnt if whole else 0


def read_cold():
    """{row: least per cent} of cold.tsv."""
    lines = (HERE / "cold.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {name: float(least) for name, least, _ in rows}


def read_bars():
    """{row: Bar} of bars.tsv and cold.tsv."""
    bars, columns, cold = {}, [], read_cold()
    for line in (HERE / "bars.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("# row\t"):
            columns = [int(word) for word in line.split("\t")[1:-3]]
        if not line.startswith("#"):
            name, *least, learnt, short, note = line.split("\t")
            bars[name] = Bar(dict(zip(columns, map(float, least))), float(learnt), float(short),
                             note, cold.get(name, 100))
    return bars


def rules(before, after):
    """What `ctxprop stats` counted meanwhile, of the rules: "loop 12; veto: spent 3"."""
    def grown(which):
        return [f"{name.removeprefix('by-').removeprefix('veto-')} {n - before.get(group, {}).get(name, 0)}"
                for group, counts in after.items() if which in group
                for name, n in counts.items() if n > before.get(group, {}).get(name, 0)]
    evidence, veto = grown("evidence"), grown("veto")
    return ", ".join(evidence) + ("; veto: " + ", ".join(veto) if veto else "")


@dataclasses.dataclass
class Cell:
    """A row at one number of requests in flight."""
    row: str
    in_flight: int
    score: object
    rules: str
    bar: float
    learnt_bar: float
    failed: list  # requests that went wrong, in words

    def broken(self):
        """What may not be in any cell, in words."""
        score = self.score
        found = self.failed + score.faults
        if score.wrongs():
            found.append(f"{score.wrongs()} calls carry another request's trace id")
        return found if score.calls else [*found, "no call arrived"]

    def missed(self):
        """The cell is not as it has to be."""
        low = self.score.part("right") < self.bar
        learnt = self.score.part_learnt()
        low_learnt = learnt is not None and learnt < self.learnt_bar
        return low or low_learnt or bool(self.broken())

    def columns(self):
        score = self.score
        own = f"{score.own} ({score.own_wrong} wrong)" if score.own else ""
        learnt = score.part_learnt()
        return [self.row, str(self.in_flight), str(score.calls),
                *[f"{score.part(name):.1f}" for name in ("right", "unknown", "wrong")],
                "" if learnt is None else f"{learnt:.1f}", own, f"{self.bar:g}",
                "MISSED" if self.missed() else "met", self.rules]


WIDTHS = (20, 9, 6, 6, 7, 6, 6, 15, 5, 6, 0)


def line(columns):
    """One line of the table; rows are printed as they come, so widths are fixed."""
    return "  ".join(text.ljust(width) if i in (0, 7, 9, 10) else text.rjust(width)
                     for i, (text, width) in enumerate(zip(columns, WIDTHS))).rstrip()


def of_hundred(value):
    """A per cent as the table in docs/accuracy.md shows it: only what is all is 100."""
    return "100" if value == 100 else f"{min(value, 99.9):.1f}".removesuffix(".0")


def markdown_cell(score):
    """Per cent right, and in brackets that of the calls behind the first requests if it is more."""
    right, learnt = of_hundred(score.part("right")), score.part_learnt()
    more = learnt is not None and of_hundred(learnt) != right and learnt > score.part("right")
    return f"{right} ({of_hundred(learnt)})" if more else right


def markdown(cells):
    """The table for docs/accuracy.md; rows that have 100 everywhere share a line, the first one."""
    rows = {}
    for cell in cells:
        rows.setdefault(cell.row, {})[cell.in_flight] = markdown_cell(cell.score)
    numbers = list(dict.fromkeys(cell.in_flight for cell in cells))
    full = [row for row, shown in rows.items() if set(shown.values()) == {"100"}]
    lines = [["programs", *map(str, numbers)], ["---"] * (1 + len(numbers))]
    lines += [[", ".join(full), *["100"] * len(numbers)]] if full else []
    lines += [[row, *[shown.get(n, "") for n in numbers]]
              for row, shown in rows.items() if row not in full]
    calls, wrong = (sum(of(cell.score) for cell in cells)
                    for of in (lambda score: score.calls, Score.wrongs))
    return "\n".join([f"{len(rows)} kinds of programs, {calls:,} calls. Wrong, in all cells: {wrong}.",
                      "", *[f"| {' | '.join(line)} |" for line in lines]])
