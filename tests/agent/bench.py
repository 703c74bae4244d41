# SPDX-License-Identifier: Apache-2.0
"""Two hosts with a link, the agent on the first, and what is checked there."""
import hooks
import pinned
from daemon import Agent
from lab import Lab

HOOKS = ("in", "out")


class Report:
    def __init__(self):
        self.failed = self.passed = self.skipped = 0

    def check(self, good, what, detail=""):
        self.passed += bool(good)
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} - {what}" +
              (f"\n    {detail}" if not good and detail != "" else ""), flush=True)

    def skip(self, what, why):
        self.skipped += 1
        print(f"skip - {what}: {why}", flush=True)


class Bench:
    """Two hosts with a link; the agent runs on the first."""

    def __init__(self, report, build, way):
        self.report, self.way = report, way
        self.lab = Lab("agent")
        self.node, self.peer = self.lab.host("node"), self.lab.host("peer")
        self.lab.link(self.node, self.peer, "10.77.0.1/24", "10.77.0.2/24")
        self.agent = Agent(build, self.node)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.agent.close()
        self.lab.close()

    def check(self, good, what, detail=""):
        self.report.check(good, f"{self.way}: {what}", detail)

    def start(self, *options):
        self.agent.start("--attach", self.way, *options)

    def programs(self, device, hook):
        """Ids of the BPF programs at a hook, in running order; None for a classic one."""
        if self.way == "tcx":
            return [program for program, _ in hooks.tcx_ids(self.node, device, hook)]
        return [row[2] for row in hooks.clsact_filters(self.node, device, hook)]

    def names(self, device, hook):
        return [hooks.program_name(i) if i else "foreign" for i in self.programs(device, hook)]

    def attached(self, device):
        return all(self.names(device, hook) == [f"ctxprop_{hook}_eth"] for hook in HOOKS)

    def all_programs(self):
        return [self.programs(d, hook) for d in ("lo", "eth0") for hook in HOOKS]


def check_nothing_left(bench):
    bench.check(not any(bench.all_programs()), "no program stays", bench.all_programs())
    qdiscs = bench.node.run(["tc", "qdisc", "show"]).stdout
    bench.check("clsact" not in qdiscs, "no qdisc stays", qdiscs)
    bench.check(not pinned.pins(bench.node).exists(), "no pin stays")
