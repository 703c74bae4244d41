# SPDX-License-Identifier: Apache-2.0
"""Reads what `ctxprop profile` writes for pprof; knows only the format (protobuf's wire format, and the
numbers of pprof's profile.proto)."""
import gzip
from collections import defaultdict, namedtuple

# count, ns, off_ns: how many samples, how much CPU, and how long a wait; functions: the innermost first;
# labels: {key: text or number}
Sample = namedtuple("Sample", "count ns off_ns functions labels")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """{number: [values]} of one message."""
    found, at = defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        found[key >> 3].append(value)
    return found


def packed(values):
    """Numbers that are written one by one, or all in one."""
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            numbers.append(number)
    return numbers


class Profile:
    """A file, read."""

    def __init__(self, path):
        with gzip.open(path) as file:
            self.message = fields(file.read())
        self.texts = [text.decode() for text in self.message[6]]
        functions = {f[1][0]: self.texts[f[2][0]] for f in map(fields, self.message[5])}
        self.lines = {self.texts[f[2][0]]: f[5][0] for f in map(fields, self.message[5]) if f[5]}  # where functions begin
        self.locations = {place[1][0]: functions[fields(place[4][0])[1][0]]
                          for place in map(fields, self.message[4])}
        self.samples = [self.sample(fields(data)) for data in self.message[2]]
        self.period = self.message[12][0]
        self.comments = [self.texts[number] for number in packed(self.message[13])]
        self.types = [tuple(self.texts[n[0]] for n in (t[1], t[2])) for t in map(fields, self.message[1])]

    def sample(self, message):
        count, ns, off_ns = (*packed(message[2]), 0)[:3]
        labels = {}
        for label in map(fields, message[3]):
            labels[self.texts[label[1][0]]] = self.texts[label[2][0]] if label[2] else (label[3] or [0])[0]
        return Sample(count, ns, off_ns, [self.locations[i] for i in packed(message[1])], labels)
