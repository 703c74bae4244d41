# SPDX-License-Identifier: Apache-2.0
"""What can be inferred without ids: the view `inferred` of the store, against what the engine knows.

The agent stores spans. Of each call the store has the request that the engine says it was made for,
by ids, and the one that the view says, by thread and time. right: the same; wrong: another one;
unknown: the view has none. "beyond" are calls of which the engine knows no request, and the view
says one: they count nowhere else, and are wrong where the program made them of its own accord. The
engine itself is held against the truth, as in the matrix.
"""
import contextlib
import dataclasses
import sqlite3
import time

ROWS = ("c-threads", "c-prefork")
REQUESTS = {1: 100, 8: 400}
REQUESTS_SHORT = {1: 20, 8: 60}
BAR = {1: 100, 8: 99}  # least per cent of right ones of ROWS, by requests in flight; wrong is none anywhere
STORED_SECONDS = 10
HEAD = ("row", "in flight", "calls", "right", "unknown", "wrong", "beyond", "bar", "")
WIDTHS = (20, 9, 6, 6, 7, 6, 6, 5, 6)

JUDGED = """SELECT request.id AS truth, inferred.request_id AS said
FROM spans AS call
LEFT JOIN spans AS request ON request.trace_id = call.trace_id AND request.span_id = call.parent_id
  AND request.kind = 2
LEFT JOIN inferred ON inferred.call_id = call.id
WHERE call.kind = 3 AND call.id > ?"""


@dataclasses.dataclass
class Inferred:
    """One cell."""
    row: str
    in_flight: int
    right: int
    unknown: int
    wrong: int
    beyond: int
    failed: list  # what is wrong with the cell itself, in words

    def calls(self):
        return self.right + self.unknown + self.wrong

    def part(self, name):
        return 100 * getattr(self, name) / self.calls() if self.calls() else 0.0

    def bar(self):
        return BAR.get(self.in_flight, 0) if self.row in ROWS else 0

    def missed(self):
        wrong = self.row in ROWS and self.wrong + self.beyond
        return bool(self.failed) or not self.calls() or wrong or self.part("right") < self.bar()

    def columns(self):
        return [self.row, str(self.in_flight), str(self.calls()),
                *[f"{self.part(name):.1f}" for name in ("right", "unknown", "wrong")],
                str(self.beyond), f"{self.bar():g}", "MISSED" if self.missed() else "met"]


class Stored:
    """The store of the agent, for reading."""

    def __init__(self, path):
        self.path = path

    def ask(self, query, *values):
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            return db.execute(query, values).fetchall()

    def last(self):
        return self.ask("SELECT coalesce(max(id), 0) FROM spans")[0][0]

    def wait(self, last, calls):
        """Until so many calls are stored behind row `last`. Returns whether they are."""
        end = time.monotonic() + STORED_SECONDS
        while time.monotonic() < end:
            if self.ask("SELECT count(*) FROM spans WHERE kind = 3 AND id > ?", last)[0][0] >= calls:
                return True
            time.sleep(0.1)
        return False

    def judge(self, row, in_flight, last, score, failed):
        """The Inferred of a cell whose spans stand behind row `last`."""
        failed = [*failed, *score.faults]
        if score.wrongs():
            failed.append(f"the engine itself is wrong about {score.wrongs()} calls")
        if not self.wait(last, score.calls + score.own):
            failed.append(f"less than {score.calls + score.own} calls are stored")
        pairs = self.ask(JUDGED, last)
        beyond = sum(truth is None and said is not None for truth, said in pairs)
        pairs = [pair for pair in pairs if pair[0] is not None]
        right = sum(truth == said for truth, said in pairs)
        unknown = sum(said is None for _, said in pairs)
        return Inferred(row, in_flight, right, unknown, len(pairs) - right - unknown, beyond,
                        failed)


def line(columns):
    return "  ".join(text.ljust(width) if i in (0, 8) else text.rjust(width)
                     for i, (text, width) in enumerate(zip(columns, WIDTHS))).rstrip()
