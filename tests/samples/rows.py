# SPDX-License-Identifier: Apache-2.0
"""The rows of both tables: which program serves, how, and what share of its samples has to be right.

Placeholders in commands and environments: {build}, {here} (this folder), {made} (what was compiled for a run), {folder}
(scratch), {port}.
"""
from collections import namedtuple

# The family's bars of right samples, in per cent; what has none there may be unknown.
THREADS, LOOPS, NODES, ANY = 99, 95, 90, 0
PYTHON = "/usr/bin/python3"

# server: argv; env: what is added to the environment. right: the bar in per cent. background: it burns for nobody, too.
# depth: so many requests are sent at a time on each connection. short: it is one of those of `--short`.
Row = namedtuple("Row", "name server env right background depth short",
                 defaults=({}, ANY, False, 1, False))


def c(name, *words):
    return ["{build}/samples_" + name, "{port}", *words]


def python(script):
    return [PYTHON, "-B", f"{{here}}/python/{script}.py", "{port}"]


def node(script, **env):
    return ["node", f"{{here}}/node/{script}.js", "{port}"]


OWN = {"BACKGROUND": "1"}

ROWS = (
    Row("C, threads", c("threads"), right=THREADS, short=True),
    Row("C, threads, background", c("threads", "background"), right=THREADS, background=True),
    Row("C, threads, a helper thread", c("threads", "helper"), right=THREADS),
    Row("C, epoll, no pause", c("epoll"), right=ANY),
    Row("C, epoll, no pause, pipelined", c("epoll"), right=ANY, depth=4),
    Row("C, epoll, timerfd", c("epoll", "pause"), short=True),
    Row("C, epoll, timerfd, background", c("epoll", "pause", "background"), background=True, short=True),
    Row("aiohttp", python("aio"), right=LOOPS),
    Row("aiohttp, await", python("aio"), {"WAY": "await"}, LOOPS, short=True),
    Row("aiohttp, await, background", python("aio"), {"WAY": "await", **OWN}, LOOPS, True, short=True),
    Row("aiohttp, executor", python("aio"), {"WAY": "executor"}, LOOPS),
    Row("Node, no pause", node("http"), right=NODES),
    Row("Node, await a timer", node("http"), {"WAY": "await"}, NODES, short=True),
    Row("Node, await a timer, background", node("http"), {"WAY": "await", **OWN}, NODES, True, short=True),
)
