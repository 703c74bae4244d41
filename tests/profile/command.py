#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does `ctxprop profile` tell what each request costs, and where? Servers in C, Python, Go, Ruby, JavaScript and
Java burn a known time of CPU for each request, in a known function.

    command.py [--build DIR] [ROW...]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from agent import Agent  # noqa: E402
from clocks import has_clocks  # noqa: E402
from javas import java_21  # noqa: E402
from lab import Lab  # noqa: E402
from load import Load  # noqa: E402
from nodes import VERSIONS, fetch_node, node  # noqa: E402
from pprof import Profile  # noqa: E402
from sampling import ADDRESS, CPU_US, FOLLOWED, GOES, PORT, tell, wait_until_said, world  # noqa: E402
from waiting import wait_until  # noqa: E402

HZ, SECONDS, CONNECTIONS, REQUESTS = 997, 120, 4, 12
# All requests together burn CPU_US each; before and behind that they cost a little, too.
COST_FROM, COST_TO = 0.95, 1.15

SHARES, BUCKETS = ("function", "whole", "endpoint", "latency", "source"), ("p50", "p90", "p99", "max")

# bar: of a request's samples, at least so many have to be where they belong. source: whose ids they are.
# more: another way to run what a row before it runs; only where it is named, and in `./run samples stacks`.
# begins: how the line of its file begins that the profile says to be the function's first; "": it says none.
# says: what the server has to say, a regular expression, so that it does what the row is about.
Row = namedtuple("Row", "name server function awaits bar source more begins says",
                 defaults=("", 0.99, "ctxprop", False, "", ""))
NODE, NODE_22, NODE_24, OF_NODE = "/usr/bin/node", node(22), node(24), "burn (burn.js)"
OF_SUM = "sumTo (burn.js)"
# sumTo is put into step, and this into burn.
BY_TURBOFAN = (("--trace-turbo-inlining",), r"Inlining .* step>.* into .* burn>}")
BY_TURBOFAN_24 = (("--print-opt-code", "--print-opt-code-filter=burn"),
                  r"kind = TURBOFAN_JS\nname = burn\n(?s:.*?)\nInlined functions .*\n(?: 0x.*\n)*? 0x.* step>\n")
BY_MAGLEV = (("--no-opt", "--maglev", "--trace-maglev-inlining-verbose"), r"== Inlining .* step>\n")
OF_GREENLETS = "burn (burn_greenlets.py)"
JAVA, OF_JAVA = "/usr/bin/java", "Burn.burn (Burn.java)"
INLINED = ("-XX:CompileCommand=inline,Burn.step", "-XX:CompileCommand=dontinline,Burn.round")
ROWS = (
    Row("C", ["{build}/profile_burn"], "burn_until"),
    Row("Python", ["/usr/bin/python3", "-B", "{here}/burn.py"], "Handler.do_GET (burn.py)", begins="def do_GET"),
    Row("Python, gevent", ["/usr/bin/python3", "-B", "{here}/burn_greenlets.py", "gevent"], OF_GREENLETS, FOLLOWED,
        more=True, begins="def burn"),
    Row("Python, eventlet", ["/usr/bin/python3", "-B", "{here}/burn_greenlets.py", "eventlet"], OF_GREENLETS, FOLLOWED,
        more=True, begins="def burn"),
    Row("Go", ["{build}/profile_burn_go"], "main.burn", GOES),
    Row("Ruby", ["/usr/bin/ruby", "{here}/burn.rb"], "Object#burn (burn.rb)", bar=0.95, begins="def burn"),
    Row("Node", [NODE, "{here}/burn.js"], OF_NODE, bar=0.95),
    Row("Node, interpreted", [NODE, "--no-opt", "--no-sparkplug", "{here}/burn.js"], OF_NODE, bar=0.95, more=True),
    Row("Node, baseline", [NODE, "--no-opt", "--always-sparkplug", "{here}/burn.js"], OF_NODE, bar=0.95, more=True),
    Row("Node 22", [NODE_22, "{here}/burn.js"], OF_NODE, bar=0.95, more=True),
    Row("Node 22, interpreted", [NODE_22, "--no-opt", "--no-sparkplug", "{here}/burn.js"], OF_NODE, bar=0.95, more=True),
    Row("Node 22, baseline", [NODE_22, "--no-opt", "--always-sparkplug", "{here}/burn.js"], OF_NODE, bar=0.95, more=True),
    Row("Node 24", [NODE_24, "{here}/burn.js"], OF_NODE, bar=0.95, more=True),
    Row("Node 24, interpreted", [NODE_24, "--no-opt", "--no-maglev", "--no-sparkplug", "{here}/burn.js"], OF_NODE,
        bar=0.95, more=True),
    Row("Node 24, baseline", [NODE_24, "--no-opt", "--no-maglev", "--always-sparkplug", "{here}/burn.js"], OF_NODE,
        bar=0.95, more=True),
    Row("Node 24, Maglev", [NODE_24, "--no-opt", "--maglev", "{here}/burn.js"], OF_NODE, bar=0.95, more=True),
    Row("Node, inlined", [NODE, *BY_TURBOFAN[0], "{here}/burn.js"], OF_SUM, bar=0.95, more=True,
        says=BY_TURBOFAN[1]),
    Row("Node 22, inlined", [NODE_22, *BY_TURBOFAN[0], "{here}/burn.js"], OF_SUM, bar=0.95, more=True,
        says=BY_TURBOFAN[1]),
    Row("Node 24, inlined", [NODE_24, *BY_TURBOFAN_24[0], "{here}/burn.js"], OF_SUM, bar=0.95, more=True,
        says=BY_TURBOFAN_24[1]),
    Row("Node 24, Maglev, inlined", [NODE_24, *BY_MAGLEV[0], "{here}/burn.js"], OF_SUM, bar=0.95, more=True,
        says=BY_MAGLEV[1]),
    Row("Java", [JAVA, "{here}/Burn.java"], OF_JAVA, bar=0.95),
    Row("Java, interpreted", [JAVA, "-Xint", "{here}/Burn.java"], OF_JAVA, bar=0.95, more=True),
    Row("Java, compiled once", [JAVA, "-XX:TieredStopAtLevel=1", "{here}/Burn.java"], OF_JAVA, bar=0.95, more=True),
    # Burn.step is put into Burn.burn, and calls.
    Row("Java, inlined", [JAVA, *INLINED, "{here}/Burn.java"], "Burn.step (Burn.java)", bar=0.95, more=True),
    Row("Java 21 or later, inlined", [java_21() or "/usr/lib/jvm/java-21", *INLINED, "{here}/Burn.java"],
        "Burn.step (Burn.java)", bar=0.95, more=True),
)
# No other stacks, but other ids: its own span in the trace of its request.
INSTRUMENTED = Row("C, OpenTelemetry", ["{build}/profile_burn_otel"], "burn_until", source="otel_thread_ctx_v1")


class Profiled:
    """`ctxprop profile` of one process, or of all (None), while this is held; it asks the agent where its store is."""

    def __init__(self, agent, pid, file):
        argv = [f"{agent.build}/ctxprop", "profile", "-j", "-F", HZ, "-d", SECONDS, *(["-p", pid] if pid else []),
                "--ids", "-o", file]
        self.process = agent.host.spawn(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.file = file
        wait_until(lambda: has_clocks(self.process.pid), "the sampler has no clock")

    def end(self):
        self.process.send_signal(2)
        said, error = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, (self.process.returncode, error)
        return Profile(self.file), json.loads(said), error


def measure(build, row, folder, lab):
    """(the profile, the load, what is wrong with what it says of the server's samples) of a row's server."""
    server, client = world(lab)
    agent = Agent(server, build, "--store", f"{folder}/store.db")
    argv = [word.format(build=build, here=HERE) for word in row.server]
    said = open(f"{folder}/said", "w", encoding="utf-8")
    process = server.spawn([*argv, PORT, f"{folder}/truth"], stdout=said)
    server.wait_port(PORT)
    load = Load(client, ADDRESS, PORT, CPU_US)
    for connection in load.run(1, 1):  # so that the process is known
        connection.close()
    if row.awaits:
        wait_until_said(agent, process.pid, row.awaits)
    profiled = Profiled(agent, process.pid, f"{folder}/profile.pb.gz")
    for connection in load.run(1, 15):  # the profiler reads tables of what it has met
        connection.close()
    before = {request.trace for request in load.requests}
    load.requests.clear()
    for connection in load.run(CONNECTIONS, REQUESTS):
        connection.close()
    profile, told, error = profiled.end()
    complaints = complaints_of_servers(profile, told, error)
    said.close()
    assert re.search(row.says, Path(said.name).read_text(encoding="utf-8")), f"{row.name}: never said {row.says}"
    profile.samples = [s for s in profile.samples if s.labels.get("trace_id") not in before]
    return profile, load, complaints


def complaints_of_servers(profile, said, error):
    """What is told of the server's samples that belong to no request has to be what their labels say."""
    reasons, of_requests = Counter(), 0
    for sample in profile.samples:
        if "trace_id" in sample.labels:
            of_requests += sample.count
        if "no_request" in sample.labels:
            reasons[sample.labels["no_request"]] += sample.count
    without, told = sum(reasons.values()), said["servers"]
    of_servers = of_requests + without
    wanted = {"samples": of_servers, "without_request": without, "reasons": dict(reasons)}
    comments = {f"#servers\t{of_servers}"} | {f"#no_request\t{count}\t{reason}" for reason, count in reasons.items()}
    line = f"profile: {100 * without / of_servers:.1f} % of the samples of servers have no request"
    found = next((text for text in error.splitlines() if text.startswith(line)), "")
    shares = {reason: f"{100 * count / of_servers:.1f} %" for reason, count in reasons.most_common()}
    first = dict(part.split(" ", 1) for part in found[len(line) + 2:].split(", ") if part)
    return [f"of servers: {told}, and labels say {wanted}"] * (told != wanted) + \
           [f"comments: {profile.comments}, not {comments}"] * (not comments <= set(profile.comments)) + \
           [f"{error!r} has no line {line!r} with the first of {shares}"] * \
           (not found or list(first.values()) != list(shares.values())[:3] or not first.items() <= shares.items()) + \
           ["samples of no request have a reason and a request"] * \
           any("no_request" in s.labels and s.labels["endpoint"] != "(no request)" for s in profile.samples)


def counted(row, profile, load):
    """Counter of the samples of requests: all, those in SHARES, and wrong: with a trace of nobody's."""
    traces = {request.trace for request in load.requests}
    mine = [sample for sample in profile.samples if sample.labels.get("trace_id")]
    known = Counter()
    for sample in mine:
        known["all"] += sample.count
        known["wrong"] += sample.labels["trace_id"] not in traces and sample.count
        known["function"] += row.function in sample.functions and sample.count
        known["whole"] += "stack" not in sample.labels and sample.count
        known["latency"] += sample.labels.get("status") == "200" and sample.count * (
            sample.labels.get("latency_bucket") in BUCKETS and sample.labels["latency_ms"] >= CPU_US / 1000)
        known["source"] += sample.labels["context_source"] == row.source and sample.count
        known["endpoint"] += sample.labels["endpoint"].startswith("GET /{id}/") and sample.count
    return known


def line_of(row):
    """At which line of its file the function of a row begins; 0: profiles do not say that."""
    if not row.begins:
        return 0
    file = HERE / row.function.split("(")[-1].rstrip(")")
    lines = file.read_text(encoding="utf-8").splitlines()
    return 1 + next(number for number, line in enumerate(lines) if line.strip().startswith(row.begins))


def reasons(profile):
    """Why stacks of requests are not whole, and how many samples that is."""
    found = Counter()
    for sample in profile.samples:
        if sample.labels.get("trace_id") and "stack" in sample.labels:
            found[sample.labels["stack"]] += sample.count
    return ", ".join(f"{reason} {count}" for reason, count in found.items()) or "all are"


def complaints_of(row, profile, load):
    """What is wrong with a profile."""
    known = counted(row, profile, load)
    cost = known["all"] * profile.period / (len(load.requests) * CPU_US * 1000)
    print(f"{row.name}: {known['all']} samples of requests, " + ", ".join(
        f"{word} {100 * known[word] / max(known['all'], 1):.2f} %" for word in SHARES) +
        f", wrong {known['wrong']}, cost {100 * cost:.1f} % of the truth", flush=True)
    return [f"{word}: {known[word]} of {known['all']}; whole stacks: {reasons(profile)}" for word in SHARES
            if known[word] < row.bar * known["all"]] + \
           [f"{known['wrong']} samples have another's trace"] * (known["wrong"] > 0) + \
           [f"{row.function} begins at line {profile.lines.get(row.function, 0)}, not {line_of(row)}"] * \
           (profile.lines.get(row.function, 0) != line_of(row)) + \
           [f"the requests cost {cost:.3f} of what they burned"] * (not COST_FROM <= cost <= COST_TO)


def is_there(build, row):
    """Is a row's server on this host? Other versions of Node may come to be."""
    for major in VERSIONS:
        if row.server[0] == node(major):
            return fetch_node(major)
    return os.path.exists(row.server[0].format(build=build, here=HERE))


def looked_at(build, row):
    """What is wrong with a profile that is taken now."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-profile-") as folder, Lab("profile") as lab:
        profile, load, complaints = measure(build, row, folder, lab)
    return complaints + complaints_of(row, profile, load)


def run(build, row):
    """Shares and costs that are missed are measured once more; another's trace is not."""
    complaints = looked_at(build, row)
    if complaints and not any("another's trace" in text for text in complaints):
        print("".join(f"# again: {text}\n" for text in complaints), end="", flush=True)
        complaints = looked_at(build, row)
    return tell(f"profile of {row.name}", complaints)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("names", nargs="*", metavar="ROW", help="how rows' names begin")
    args = parser.parse_args()
    build, failed = os.path.abspath(args.build), 0
    for row in (*ROWS, INSTRUMENTED):
        named = row.name.lower().startswith(tuple(map(str.lower, args.names)))
        if not named if args.names else row.more:
            continue
        if not is_there(build, row):
            print(f"ok - profile of {row.name} # SKIP {row.server[0]} is not there")
            continue
        failed += run(build, row)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
