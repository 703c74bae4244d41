# SPDX-License-Identifier: Apache-2.0
"""Results of runs, and the table of them."""
import dataclasses
import re

WRONG = ("corrupt", "missing", "double", "reset")
BAD = (*WRONG, "stuck", "left")  # the last two may come of a machine that is busy
LIMITS = ("too-deep",)  # a head begins too far inside a packet
# The same of HTTP/2; its frame began in an earlier packet, or its head goes on in another frame; more requests are on their way than a
# connection has edits for.
HTTP2_LIMITS = (*LIMITS, "h2-cut", "h2-continuation", "edits-full")
LEFT_ALONE_MAX = 0.25  # of the requests; more would be no measurement
AGAIN_MAX = 2  # so many rows may be late at first
COLUMNS = ("requests", "ok", *BAD, "aborted", "skipped", "injected", "retrans", "stall", "seconds")


@dataclasses.dataclass
class Result:
    """One row's outcome; `counts` has the client's summary by name."""
    name: str
    counts: dict
    status: int = 0
    notes: str = ""
    late: bool = False   # if it is not ok, then only since something took too long
    again: bool = False  # it is the second result of a row of which the first was late
    limits: tuple = LIMITS

    @property
    def left_alone(self):
        """Requests that the agent says it left alone, by its documented limits.

        How often these are met depends on how TCP fills its packets.
        """
        said = re.search(r"^agent: (.*)", self.notes, re.MULTILINE)
        counts = dict(re.findall(r"(\S+)=(\d+)", said[1])) if said else {}
        return sum(int(counts.get(name, 0)) for name in self.limits)

    @property
    def ok(self):
        """Nothing wrong, and every header that is missing is accounted for by the agent."""
        wrong = any(self.counts.get(name) for name in BAD if name != "missing")
        missing = self.counts.get("missing", 0)
        if wrong or missing > min(self.left_alone, LEFT_ALONE_MAX * self.counts.get("requests", 0)) or not self.counts.get("requests"):
            return False
        return self.status == (1 if missing else 0)


def limits_of(row):
    """The reasons for which a row's requests may go without a header."""
    return HTTP2_LIMITS if row.streams else LIMITS


def read_summary(text):
    """The counts of the client's last line: {} when it printed none."""
    lines = [line for line in text.splitlines() if line.startswith("requests=")]
    words = lines[-1].split() if lines else []
    return {name: float(value) if "." in value else int(value)
            for name, _, value in (word.partition("=") for word in words)}


def add_up(name, counts):
    """The sum over several runs; of stalls the longest."""
    values = [one[name] for one in counts if name in one]
    return max(values, default=0) if name == "stall" else sum(values)


def shown(value):
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def verdict(result):
    return "FAIL" if not result.ok else "ok, again" if result.again else "ok"


class Table:
    """Prints one line per result as it comes, and the verdict at the end."""

    def __init__(self, width):
        self.width, self.results = width, []

    def head(self):
        print(f"{'combination':{self.width}}" + "".join(f"{name:>9}" for name in COLUMNS))

    def add(self, result):
        self.results.append(result)
        cells = "".join(f"{shown(result.counts.get(name)):>9}" for name in COLUMNS)
        print(f"{result.name:{self.width}}{cells}  {verdict(result)}", flush=True)
        if (result.again or not result.ok) and result.notes:
            print("    " + result.notes.strip().replace("\n", "\n    "), flush=True)

    def foot(self):
        """Print the sums; returns the exit status."""
        total = {name: add_up(name, [result.counts for result in self.results]) for name in COLUMNS}
        failed = [result.name for result in self.results if not result.ok]
        again = [result.name for result in self.results if result.ok and result.again]
        if len(again) > AGAIN_MAX:
            print(f"more than {AGAIN_MAX} rows were late: these have failed")
            failed += again
        print(f"{'all':{self.width}}" + "".join(f"{shown(total[name]):>9}" for name in COLUMNS))
        print(f"{len(self.results) - len(failed)} passed, {len(failed)} failed, 0 skipped")
        return 1 if failed or not self.results else 0
