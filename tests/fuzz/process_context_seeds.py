#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""process_context_seeds.py FOLDER: payloads of OTEP 4719, with names of keys in either place that may have them."""
import sys
from pathlib import Path


def field(number, data):
    """A field of protobuf that has a length."""
    return bytes([number << 3 | 2, len(data)]) + data


def attribute(key, value):
    return field(1, key) + field(2, value)


schema = attribute(b"threadlocal.schema_version", field(1, b"tls_v1"))
keys = attribute(b"threadlocal.attribute_key_map",
                 field(5, b"".join(field(1, field(1, key)) for key in (b"method", b"route", b"much.too.long.a.name"))))
SEEDS = {"attributes": field(2, schema) + field(2, keys), "resource": field(1, field(1, schema) + field(1, keys))}

for name, payload in SEEDS.items():
    (Path(sys.argv[1]) / name).write_bytes(payload)
