# SPDX-License-Identifier: Apache-2.0
"""Firewall rules for the length of a with block."""
import contextlib
import re

from cases import need_program


@contextlib.contextmanager
def rules(host, table, chain_type, hook, *lines, priority=0, family="inet"):
    """One table with one chain of the same name, deleted at the end."""
    need_program("nft")
    text = "\n".join(lines)
    host.run(["nft", "-f", "-"], input=f"""table {family} {table} {{
        chain {table} {{
            type {chain_type} hook {hook} priority {priority}
            {text}
        }}
    }}
    """)
    try:
        yield
    finally:
        host.run(["nft", "delete", "table", family, table])


def strict(host, hook):
    """Packets that conntrack does not understand are dropped: nothing may need its patience."""
    return rules(host, f"strict_{hook}", "filter", hook,
                 "tcp flags & rst == 0 ct state invalid drop", "ct state established counter")


def lossy(host, hook, percent):
    """Drop so many of the TCP packets, at random.

    At its own output not a SYN-ACK: a server is told of that, and for one that it sends again
    (the client's acknowledgement was lost) it forgets the connection that the client believes in.
    """
    but = "tcp flags & syn == 0 " if hook == "output" else ""
    return rules(host, f"lossy_{hook}", "filter", hook,
                 f"meta l4proto tcp {but}numgen random mod 100 < {percent} counter drop")


def packets_counted(host, table):
    """What the counters in a table of rules() come to, in packets."""
    listed = host.run(["nft", "list", "table", "inet", table]).stdout
    return sum(map(int, re.findall(r"counter packets (\d+)", listed)))
