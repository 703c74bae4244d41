# SPDX-License-Identifier: Apache-2.0
"""What the sender wrote against what the receiver got: the one comparison of all raw tests."""
import re

LINE = re.compile(rb"traceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}\r\n")
LINE_LENGTH = 70
BLANK = re.compile(rb"\r?\n(\r?\n)")


class Damage(AssertionError):
    """The receiver got something that may not be."""


def compare(wire, requests):
    """Hold received bytes against the requests that were sent, (head, body) each.

    Returns for each request whether a header was added. Raises Damage for every other difference,
    for a header at a wrong place, and for an id that is zero or was there before.
    """
    at, seen, injected = 0, set(), []
    for number, (head, body) in enumerate(requests):
        added = take_head(wire, at, head, number, seen)
        injected.append(bool(added))
        at += len(head) + added
        take_same(wire, at, body, f"body of request {number}")
        at += len(body)
    if at != len(wire):
        raise Damage(f"{len(wire) - at} bytes too many: {wire[at:at + 80]!r}")
    return injected


def take_same(wire, at, sent, what):
    got = wire[at:at + len(sent)]
    if got == sent:
        return
    where = next((i for i, (a, b) in enumerate(zip(got, sent)) if a != b), len(got))
    raise Damage(f"{what}, byte {where} of {len(sent)}: sent {sent[where:where + 80]!r}, "
                 f"got {got[where:where + 80]!r}")


def take_head(wire, at, head, number, seen):
    """Check one head; returns how many bytes were added to it."""
    what = f"head of request {number}"
    if wire[at:at + len(head)] == head:
        return 0
    added = LINE.search(wire, at, at + len(head) + LINE_LENGTH)
    if not added:
        take_same(wire, at, head, what)
    place = added.start() - at
    take_same(wire, at, head[:place], what)
    take_same(wire, added.end(), head[place:], what)
    blank = BLANK.search(head)
    if not head[:place].endswith(b"\n") or place > blank.start(1):
        raise Damage(f"{what}: the header stands at byte {place}: {wire[at:added.end()]!r}")
    check_ids(added, seen, what)
    return LINE_LENGTH


def check_ids(added, seen, what):
    for name in added.groups():
        if not name.strip(b"0") or name in seen:
            raise Damage(f"{what}: id {name.decode()} is zero or was used before")
        seen.add(name)
