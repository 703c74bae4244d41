# SPDX-License-Identifier: Apache-2.0
"""A profile of pprof whose every sample is known, written without ctxprop; knows only the format."""
import gzip
from collections import namedtuple

PERIOD_NS = 10_000_000
TRACES = ("0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736")
SPANS = ("b7ad6b7169203331", "00f067aa0ba902b7")

# count: how many samples; stack: the outermost function first; labels: {key: text or number}
Stack = namedtuple("Stack", "count stack labels")


def labels(endpoint, bucket, number, **more):
    return {"endpoint": endpoint, "service": "shop", "process": "app", "pid": 4711, "status": "200",
            "latency_ms": 12, "latency_bucket": bucket, "trace_id": TRACES[number],
            "span_id": SPANS[number], **more}


# Functions with what breaks a format that is written without care.
ODD = 'a;b<i>"&c'
STACKS = (
    Stack(10, ("main", "serve", "parse"), labels("GET /a", "p50", 0)),
    Stack(30, ("main", "serve", "query"), labels("GET /a", "p50", 0)),
    Stack(20, ("main", "serve", "query", "lock"), labels("GET /a", "p99", 1)),
    Stack(25, ("main", "serve", "render"), labels("GET /b", "p50", 1)),
    Stack(5, ("main", "serve", ODD), labels("GET /b", "p99", 1)),
    Stack(7, ("main", "idle"), {"endpoint": "(no request)", "process": "app", "pid": 4711}),
    Stack(3, (), {"endpoint": "(no request)", "process": "app", "pid": 4711,
                  "stack": "[program not known yet]"}),
)
# How many requests there were meanwhile, as ctxprop says it.
REQUESTS = {"GET /a": 120, "GET /b": 60, "GET /idle": 7}
COMMENTS = (*(f"#requests\t{count}\tshop\t{endpoint}" for endpoint, count in REQUESTS.items()), "#lost\t2")
FILES = {"main": "/srv/app", "serve": "/srv/app", "parse": "/usr/lib/python3/json/decoder.py",
         "idle": "kernel"}


def varint(number):
    number &= 2**64 - 1
    text = b""
    while number > 0x7f:
        text += bytes([number & 0x7f | 0x80])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    """A number, or bytes that are a text or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Texts(list):
    def number(self, text):
        if text not in self:
            self.append(text)
        return self.index(text)


def message_of(stacks=STACKS, types=(("samples", "count"), ("cpu", "nanoseconds")), scale=1, comments=()):
    """The message. Ids of functions and locations are not their places, as may be."""
    texts, functions, out = Texts([""]), [], b""
    for kind, unit in types:
        out += field(1, field(1, texts.number(kind)) + field(2, texts.number(unit)))
    for stack in stacks:
        for name in stack.stack:
            if name not in functions:
                functions.append(name)
        locations = b"".join(varint(500 + 3 * functions.index(name)) for name in reversed(stack.stack))
        values = varint(stack.count * scale) + varint(stack.count * scale * PERIOD_NS) + bytes(len(types) - 2)
        sample = field(1, locations) + field(2, values)
        for key, value in stack.labels.items():
            said = field(3, value) if isinstance(value, int) else field(2, texts.number(value))
            sample += field(3, field(1, texts.number(key)) + said)
        out += field(2, sample)
    for number, name in ((9, "[kernel]"), (4, "[unknown]")):
        out += field(3, field(1, number) + field(5, texts.number(name)))
    for place, name in enumerate(functions):
        mapping = 9 if FILES.get(name) == "kernel" else 4
        out += field(4, field(1, 500 + 3 * place) + field(2, mapping) + field(3, 4096 + place) +
                     field(4, field(1, 70 + place)))
        out += field(5, field(1, 70 + place) + field(2, texts.number(name)) +
                     field(4, texts.number(FILES.get(name, ""))))
    out += field(9, 1_700_000_000_000_000_000) + field(10, 2_000_000_000)
    out += field(11, field(1, texts.number("cpu")) + field(2, texts.number("nanoseconds")))
    out += field(12, PERIOD_NS) + field(14, texts.number("cpu"))
    out += b"".join(field(13, texts.number(comment)) for comment in comments)
    return out + b"".join(field(6, text.encode()) for text in texts)


def write(path, *args, **options):
    with gzip.open(path, "wb") as file:
        file.write(message_of(*args, **options))
    return path
