# SPDX-License-Identifier: Apache-2.0
"""Requests of real programs in `app`, as they arrive at the peer: one new header each."""
import contextlib
import hashlib
import re
import tempfile

from cases import equal, need_program, shared
from recorder import Recorder
from worlds import common

ADDED = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-03")


@shared
@contextlib.contextmanager
def recorder():
    made = Recorder(common().peer, common().PEER)
    yield made
    made.close()


@contextlib.contextmanager
def arriving(count, body=b"", server=None, own=None):
    """So many requests arrive meanwhile, each with exactly one new header and this body."""
    server = server or recorder()
    server.clear()
    yield server
    equal(server.broken, [], "connections that ended badly")
    equal(len(server.requests), count, "requests that arrived")
    for request in server.requests:
        check(request, body, own)
    ids = {value for request in server.requests for value in request.traceparents}
    if not own:
        equal(len(ids), count, "different traceparents")


def check(request, body, own):
    values = request.traceparents
    if own:
        equal(values, [own], f"traceparent of {request.target}")
    elif len(values) != 1 or not ADDED.fullmatch(values[0]):
        raise AssertionError(f"traceparent of {request.method} {request.target}: {values}")
    equal(request.sha256, hashlib.sha256(body).hexdigest(), f"body of {request.target}")


def curl(*arguments, **kw):
    need_program("curl")
    return common().app.run(["curl", "-sS", "--max-time", "15", "-o", "/dev/null", *arguments],
                            **kw)


@contextlib.contextmanager
def file_of(body):
    with tempfile.NamedTemporaryFile(prefix="ctxprop-body-") as file:
        file.write(body)
        file.flush()
        yield file.name
