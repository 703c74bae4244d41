# SPDX-License-Identifier: Apache-2.0
"""Reads profiles of OTLP; knows only protobuf's wire format and the numbers of OTLP's profiles.proto
(opentelemetry.proto.profiles.v1development, OTLP 1.10), and refuses what is against its words."""
import struct
from collections import defaultdict, namedtuple

from pprof import fields, packed

ZERO_ID = b""
# stack: the innermost function first; attributes: {key: value}; link: (trace id, span id) or None
Sample = namedtuple("Sample", "value stack attributes link")
Profile = namedtuple("Profile", "type unit samples time_ns duration_ns period id")


def number(message, which):
    return message[which][0] if message[which] else 0


class Data:
    """ProfilesData, read."""

    def __init__(self, path):
        with open(path, "rb") as file:
            message = fields(file.read())
        assert set(message) <= {1, 2}, set(message)
        dictionary, = map(fields, message[2])
        assert set(dictionary) <= set(range(1, 8)), set(dictionary)
        self.tables = {key: dictionary[key] for key in range(1, 8)}
        self.used = defaultdict(set)  # by table: what is referred to
        for key, table in self.tables.items():
            assert table and not table[0], f"entry 0 of table {key} is {table[:1]}"
            # Files of different containers may be called the same: 1 to 3, what is in them.
            assert key <= 3 or len(set(table)) == len(table), f"entries of table {key} are there twice"
        self.texts = [text.decode() for text in self.tables[5]]
        self.attributes = [self.attribute(fields(data)) for data in self.tables[6]]
        resource, = map(fields, message[1])
        scope, = map(fields, resource[2])
        self.scope = fields(scope[1][0])[1][0].decode()
        self.profiles = [self.profile(fields(data)) for data in scope[2]]
        for key, table in self.tables.items():
            assert self.used[key] | {0} == set(range(len(table))), f"nobody refers to entries of table {key}"

    def at(self, key, place):
        """An entry of a table."""
        self.used[key].add(place)
        return self.tables[key][place]

    def text(self, message, which):
        return self.at(5, number(message, which)).decode()

    def attribute(self, message):
        if not message:
            return None
        assert set(message) <= {1, 2, 3}, message
        value = fields(message[2][0])
        return (self.text(message, 1), value[1][0].decode() if value[1] else value[3][0],
                self.text(message, 3))

    def profile(self, message):
        assert set(message) <= {1, 2, 3, 4, 5, 6, 7}, set(message)
        kind = fields(message[1][0])
        return Profile(self.text(kind, 1), self.text(kind, 2),
                       [self.sample(fields(data)) for data in message[2]],
                       struct.unpack("<Q", message[3][0])[0] if message[3] else 0, number(message, 4),
                       number(message, 6), message[7][0])

    def functions(self, location):
        message = fields(self.at(2, location))
        lines = [fields(line) for line in message[3]]
        self.text(fields(self.at(1, number(message, 1))), 4)
        functions = [fields(self.at(3, number(line, 1))) for line in lines]
        assert functions
        for function in functions:
            self.text(function, 2)
            self.text(function, 3)
        return [self.text(function, 1) for function in functions]

    def sample(self, message):
        assert set(message) <= {1, 2, 3, 4}, set(message)
        value, = packed(message[4])
        stack = fields(self.at(7, number(message, 1)))
        self.used[6].update(packed(message[2]))
        attributes = [self.attributes[i] for i in packed(message[2])]
        assert None not in attributes
        keys = [key for key, _, _ in attributes]
        assert len(keys) == len(set(keys)), keys
        link = fields(self.at(4, number(message, 3)))
        return Sample(value, [name for place in packed(stack[1]) for name in self.functions(place)],
                      {key: value for key, value, _ in attributes},
                      (link[1][0].hex(), link[2][0].hex()) if link else None)
