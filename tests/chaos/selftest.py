# SPDX-License-Identifier: Apache-2.0
"""Faults made on purpose, each of which the harness must notice: a check that cannot fail is none."""
import dataclasses

from rig import Rig
from rows import Row
from score import BAD, read_summary

REQUESTS = 600
# Faults come every 50th to 100th request or packet; in runs of 600 each shows several times.
SMALL = {"bodies": 20_000, "connections": 16}


@dataclasses.dataclass(frozen=True)
class Case:
    """`wants`: the columns of failures that must not be zero (empty: all must be zero);
    `moves`: counts of the link, or retrans, that must not be zero."""
    name: str
    wants: tuple = ()
    row: Row = Row("veth", **SMALL)
    expect: str = "one"
    fake: str = "one"
    client: tuple = ()
    server: tuple = ()
    link: tuple = ()
    moves: tuple = ()
    blocked: str = ""  # what the server does not get, as a match of nft


def faulty_agent(fake, *wants):
    return Case(f"agent: {fake}", wants, fake=fake)


def faulty_server(fault, *wants):
    return Case(f"server: {fault}", wants, server=("--fault", fault), client=("--stuck", "3"))


def faulty_link(offload, path):
    return Case(f"link: payload changed, {path}, offload {offload}", ("corrupt",),
                row=Row(path, offload=offload, **SMALL), link=("--fault", "50"),
                client=("--stuck", "3"))


def over_http2(name, *wants, **how):
    """The same checks of the client of HTTP/2."""
    return Case(f"HTTP/2: {name}", wants, row=Row("veth", streams=4, **SMALL), **how)


def bad_link(name, moves, **how):
    return Case(f"link: {name}", row=Row("tun", **SMALL, **how), moves=moves)


# RSTs do not come, as if their numbers were wrong: so soon the server does not give up by itself.
UNBELIEVED_SECONDS = 3
BLOCKED = "table inet blocked { chain in { type filter hook input priority 0; %s drop; }; }"

CASES = (
    Case("nothing wrong"),
    Case("nothing wrong, no agent", expect="none", fake="none"),
    Case("agent: none at all", ("missing",), fake="none"),
    Case("agent: where none may be", ("double",), expect="none"),
    faulty_agent("missing", "missing"),
    faulty_agent("double", "double"),
    faulty_agent("override", "double"),
    faulty_agent("same", "corrupt"),
    faulty_agent("zero", "corrupt"),
    faulty_agent("malformed", "corrupt"),
    faulty_agent("misplaced", "corrupt"),
    Case("agent: missing, at most one wanted", fake="missing", expect="atmost"),
    faulty_server("reset", "reset"),
    faulty_server("stall", "stuck"),
    faulty_server("short", "reset"),
    faulty_server("body", "corrupt"),
    faulty_server("swap", "corrupt"),
    Case("aborts", row=Row("veth", aborts=50, **SMALL)),
    Case("aborts: RSTs that are not believed", ("left",), row=Row("veth", aborts=50, **SMALL),
         blocked="tcp flags & rst == rst"),
    over_http2("nothing wrong"),
    over_http2("nothing wrong, no agent", expect="none", fake="none"),
    over_http2("none at all", "missing", fake="none"),
    over_http2("where none may be", "double", expect="none"),
    over_http2("missing", "missing", fake="missing"),
    over_http2("double", "double", fake="double"),
    over_http2("same", "corrupt", fake="same"),
    over_http2("malformed", "corrupt", fake="malformed"),
    Case("HTTP/2: payload changed", ("corrupt", "reset"), row=Row("tap", streams=4, **SMALL), link=("--fault", "50"),
         client=("--stuck", "3")),
    faulty_link("off", "tun"),
    faulty_link("segment", "tun"),
    faulty_link("pass", "tap"),
    Case("link: a mishap for each connection", moves=("suffered", "lost", "duplicated", "reordered"),
         row=Row("tun", each=4, extra=("--per-connection", "4"), **SMALL)),
    bad_link("loss", ("lost", "retrans"), loss=5),
    bad_link("duplication", ("duplicated",), duplicate=5),
    bad_link("reordering", ("reordered",), reorder=10),
    bad_link("damage that the checksum shows", ("corrupted", "retrans"), corrupt=3),
    bad_link("damage, partial checksums passed on", ("corrupted", "retrans", "partial"), corrupt=3,
             offload="pass"),
    bad_link("large packets cut", ("large", "partial"), offload="segment"),
    bad_link("MTU that only the path knows", ("too_big", "icmp"), mtu=1280, limit="path"),
    bad_link("MTU that only the path knows, IPv6", ("too_big", "icmp"), mtu=1280, limit="path", ip=6),
)


def complaint(case, counts, moved):
    """Why the case is not as it should be, or None."""
    if counts.get("requests") != REQUESTS:
        return f"{counts.get('requests', 0)} requests were counted instead of {REQUESTS}"
    if case.wants and not any(counts.get(name) for name in case.wants):
        return f"the fault was not noticed as {' or '.join(case.wants)}"
    if not case.wants and any(counts.get(name) for name in BAD):
        return "something was wrong without a fault"
    idle = [name for name in case.moves if not moved.get(name)]
    return f"the link never did: {', '.join(idle)}" if idle else None


def run_case(build, case, seed):
    with Rig(build, case.row, seed, case.server, case.link) as rig:
        if case.blocked:
            rig.server.run(["nft", "-f", "-"], input=BLOCKED % case.blocked)
        argv = rig.client_argv(REQUESTS, case.expect, "--fake", case.fake, *case.client)
        done = rig.client.run(argv, check=False)
        counts = read_summary(done.stdout)
        if case.row.aborts:
            counts["left"] = len(rig.connections_left(UNBELIEVED_SECONDS))
        moved = {"retrans": rig.retransmissions()}
        if case.moves:
            moved.update(rig.link_totals())
    why = complaint(case, counts, moved)
    if not why and bool(done.returncode) != bool(case.wants) and case.wants != ("left",):
        why = f"the client ended with {done.returncode}"
    return why, counts


def run(build, seed, only):
    """All cases. Returns the exit status."""
    failed = 0
    cases = [case for case in CASES if only in case.name]
    for case in cases:
        why, counts = run_case(build, case, seed)
        seen = " ".join(f"{name}={counts.get(name, '-')}" for name in ("ok", *BAD))
        print(f"{'FAIL' if why else 'ok':5}{case.name:48} {seen}", flush=True)
        if why:
            print(f"     {why}")
            failed += 1
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not cases else 0
