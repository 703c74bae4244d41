# SPDX-License-Identifier: Apache-2.0
"""liar.py ADDRESS PORT: threads.py that writes a traceparent itself; proves the scoring.

LIE says which: right (that of the request), wrong (that of the request before it), unknown (that
of nobody), twice (right, two times on each call).
"""
import os
import secrets
import threading

import calls
from threads import Service, main

LIE = os.environ["LIE"]
asked = []  # traceparents of all requests so far
mine = threading.local()


class Liar(Service):
    def do_GET(self):
        own = self.headers["traceparent"]
        asked.append(own)
        mine.claim = {"wrong": asked[max(0, len(asked) - 2)],
                      "unknown": f"00-{secrets.token_hex(16)}-"}.get(LIE, own)
        super().do_GET()


def lie(fields):
    value = f"{mine.claim[:36]}{secrets.token_hex(8)}-01"
    again = {"Traceparent": value} if LIE == "twice" else {}
    honest({**fields, "traceparent": value, **again})


honest, calls.call = calls.call, lie
main(Liar)
