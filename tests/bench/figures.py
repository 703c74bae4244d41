# SPDX-License-Identifier: Apache-2.0
"""From samples to the rows of the cost table and the values that bars bound.

Arms are compared within a round, and the median is taken over the rounds: what disturbs a whole
round then disturbs both sides of the comparison.
"""
import dataclasses
import operator
import statistics

from loads import EDGE, LONG_POST, SMALL
from report import figure, with_spread

HEAD = ["load", "arm", "CPU us/request", "added us", "requests/s", "p50", "p99", "headers/request",
        "BPF ns/out", "BPF ns/in", "BPF ns/request"]


@dataclasses.dataclass
class Measured:
    """What Bench returned; without the agent's arms only the first two."""
    costs: dict  # {Load: {arm: [Sample]}}
    bulk: dict   # {arm: [CPU microseconds]}
    times: dict = dataclasses.field(default_factory=dict)  # {load name: [(empty, agent's)]}
    follow: list = dataclasses.field(default_factory=list)  # [(empty, agents' and probes')]
    spans: list = dataclasses.field(default_factory=list)  # [(without spans, with them)]
    stored: tuple | None = None  # (part of the spans, MiB, percent of a core)
    many_flows: list | None = None  # [(empty, few, many)]
    many_rules: list | None = None  # [(empty, one, many)]
    agent: tuple | None = None  # (MiB, percent of a core)
    profile: dict = dataclasses.field(default_factory=dict)  # as values()
    start: dict = dataclasses.field(default_factory=dict)  # the same


def spread(values):
    """(median, first quartile, third quartile)"""
    if len(values) == 1:
        return values[0], values[0], values[0]
    first, median, third = statistics.quantiles(values, n=4, method="inclusive")
    return median, first, third


def median_of(samples, field):
    return statistics.median(getattr(sample, field) for sample in samples)


def against_none(arms, arm, field, combine):
    """combine(arm, none) of one field, per round."""
    return [combine(getattr(a, field), getattr(n, field)) for a, n in zip(arms[arm], arms["none"])]


def added(arms, arm, to="none"):
    """CPU microseconds per request that an arm adds to another, per round."""
    return [a.cpu_us - b.cpu_us for a, b in zip(arms[arm], arms[to])]


def cost_rows(measured):
    """One row per load and arm."""
    rows = []
    for load, arms in measured.costs.items():
        times = measured.times.get(load.name, [])
        follow = measured.follow if load == SMALL else []
        rows += [[load.title, arm, *cost_cells(arms, arm), *bpf_cells(times, arm, follow)]
                 for arm in arms]
    for arm in measured.bulk:
        throughput = with_spread(spread(bulk_ratios(measured.bulk, arm)))
        rows.append(["bulk TCP, throughput", arm, "", "", throughput, "", "", "",
                     *bpf_cells(measured.times.get("bulk", []), arm)[:2], ""])
    return rows + packet_rows(measured.times)


def packet_rows(times):
    """Rows of what was only measured by its packets."""
    titles = {LONG_POST.name: LONG_POST.title, "packets": "bulk TCP, packet by packet"}
    return [[title, arm, *[""] * 6, *bpf_cells(times[name], arm)[:2], ""]
            for name, title in titles.items() if name in times for arm in ("none", "inject")]


def bulk_ratios(bulk, arm):
    """Throughput with the arm / without, per round."""
    return [none / cost for none, cost in zip(bulk["none"], bulk[arm])]


def cost_cells(arms, arm):
    headers = [sample.headers for sample in arms[arm]]
    cells = [figure(median_of(arms[arm], "cpu_us"))]
    if arm == "none":
        cells += ["", "1", "1", "1"]
    else:
        cells.append(with_spread(spread(added(arms, arm))))
        cells += [figure(statistics.median(against_none(arms, arm, field, operator.truediv)))
                  for field in ("rate", "p50_us", "p99_us")]
    return cells + ["" if None in headers else figure(statistics.median(headers))]


def net(times):
    """The agent's run times less those of an empty program, per round."""
    return [agent.less(empty) for empty, agent, *_ in times]


def bpf_cells(times, arm, follow=()):
    """The row of "none" has what an empty program reads; it is off the agent's row."""
    samples = {"none": [empty for empty, _ in times], "inject": net(times),
               "follow": net(follow)}.get(arm)
    if not samples:
        return ["", "", ""]
    return [figure(median_of(samples, field)) for field in ("out_ns", "in_ns", "request_ns")]


def values(measured):
    """{key of a bar: (median, first quartile, third quartile)}; what was not measured is absent."""
    small = measured.costs[SMALL]
    result = measured.profile | measured.start
    if "inject" in small:
        result |= inject_values(measured, small)
    if "follow" in small:
        result["added_follow"] = spread(added(small, "follow"))
    if measured.spans:
        result["spans"] = spread([on.request_ns - off.request_ns for off, on in measured.spans])
        keys = ("stored", "spans_memory", "spans_cpu")
        result |= {key: (value,) * 3 for key, value in zip(keys, measured.stored)}
    if "spans" in small and "nginx" in small:
        result["spans_vs_proxy"] = spread(parts(small, "nginx", of="spans"))
    if "inject" in small and "skmsg" in small:
        result["vs_skmsg"] = spread(parts(small, "skmsg"))
    proxies = [arm for arm in ("nginx", "haproxy") if arm in small]
    if "inject" in small and proxies:
        result["vs_proxy"] = max(spread(parts(small, arm)) for arm in proxies)
    return result


def parts(arms, other, of="inject"):
    """What one arm adds as a part of what another one adds, per round."""
    return [a / b for a, b in zip(added(arms, of), added(arms, other))]


def inject_values(measured, small):
    result = {
        "injected": spread([sample.headers for sample in small["inject"]]),
        "added_grow": spread(added(small, "inject")),
        "added_split": spread(added(measured.costs[EDGE], "inject")),
        "beyond_two": spread(added(measured.costs[EDGE], "inject", to="own-two")),
        "rate": spread(against_none(small, "inject", "rate", operator.truediv)),
        "bpf_request": spread([t.request_ns for t in net(measured.times[SMALL.name])]),
        "bpf_ack": spread([t.in_ns for t in net(measured.times[LONG_POST.name])]),
        "many_flows": spread([many.less(empty).packet_ns / few.less(empty).packet_ns
                              for empty, few, many in measured.many_flows]),
        "many_rules": spread([many.less(empty).request_ns / one.less(empty).request_ns
                              for empty, one, many in measured.many_rules]),
        "memory": (measured.agent[0],) * 3,
        "agent_cpu": (measured.agent[1],) * 3,
    }
    if measured.bulk:
        result |= bulk_values(measured)
    return result


def bulk_values(measured):
    times = net(measured.times["packets"])
    return {"bulk": spread(bulk_ratios(measured.bulk, "inject")),
            "bpf_out": spread([t.out_ns for t in times]),
            "bpf_in": spread([t.in_ns for t in times])}
