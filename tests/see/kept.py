# SPDX-License-Identifier: Apache-2.0
"""Windows of a profile as the daemon keeps them, whose every sample is known."""
import gzip
import shutil
import time
import urllib.parse

import made
import pprof
from made import Stack

SECONDS = 60
WAITS = (("none", "count"), ("offcpu", "nanoseconds"))
LONG = "/" + "long" * 500
RTL = "\u202egnp.exe"
# Names that break a page or a picture made without care. Of the third one's bytes some are no UTF-8.
STRANGE = {
    "GET /<script>alert(1)</script>": "</title><script>alert(2)</script>",
    f"GET /{RTL}?'\"": f"]]><script>alert(3)</script>{RTL}",
    "GET /raw": "function",
    f"GET {LONG}": "f" * 3000,
}
STRANGE_SERVICE = "\"><img src=x onerror=alert(4)>"
RAW, RAW_BYTES = "GET /raw", b"GET /\xff\xfe\""


def shown(name):
    """A name without what would turn a line around."""
    return name.replace("\u202e", "\ufffd")


# Those names as they come out.
STRANGE_SHOWN = {RAW_BYTES.decode(errors="replace") if name == RAW else shown(name): shown(function)
                 for name, function in STRANGE.items()}


def labels(endpoint, bucket, service="shop"):
    return {"endpoint": endpoint, "service": service, "process": "app", "pid": 4711,
            "latency_bucket": bucket}


def waiting(ms, stack, kind, endpoint, bucket="p50"):
    """A wait, as many periods as that takes."""
    return Stack(ms * 1_000_000 // made.PERIOD_NS, stack, {**labels(endpoint, bucket), "wait": kind})


WAITED = (waiting(300, ("main", "serve", "read"), "blocked", "GET /a"),
          waiting(100, ("main", "serve", "read"), "run queue", "GET /a", "p99"))


class Kept:
    """The folder beside a store."""

    def __init__(self, world):
        self.folder, self.now = world.folder / "profiles", int(time.time())
        self.remove()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, age):
        """A window that ended so many minutes ago."""
        self.folder.mkdir(exist_ok=True)
        end = self.now - SECONDS * age
        return self.folder / f"{end - SECONDS}-{end}.pb.gz"

    def write(self, stacks=made.STACKS, age=0, comments=(), replaced=(), **options):
        """A window with these samples; `comments` are such as "#requests\\t3\\tshop\\tGET /a"."""
        message = made.message_of(stacks, **options)
        first = len(pprof.fields(message)[6])
        for number, text in enumerate(comments):
            message += made.field(6, text.encode()) + made.field(13, first + number)
        for old, new in replaced:
            # Of the same length, so that all else stays as it is.
            message = message.replace(old.encode(), new)
        with gzip.open(self.path(age), "wb") as file:
            file.write(message)

    def usual(self):
        """Two minutes with samples, and one with waits."""
        self.write(age=2, comments=("#requests\t3\tshop\tGET /a", "#lost\t5"))
        self.write(age=1, comments=("#requests\t1\tshop\tGET /a", "#requests\t10\tshop\tGET /b"))
        self.write(WAITED, age=0, types=WAITS)

    def strange(self):
        """Of each strange endpoint ten samples."""
        self.write([Stack(10, ("main", function), labels(endpoint, "p50", STRANGE_SERVICE))
                    for endpoint, function in STRANGE.items()], replaced=((RAW, RAW_BYTES),))


def picture(**parameters):
    """The path of a picture, behind /api/v1/."""
    return "profile.svg?" + urllib.parse.urlencode(parameters)
