#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ctxpropd attaches in the way it was told to, and requests get their header by it.

    attach_check.py --build BUILD clsact|tcx

Exit code: 0, 1 with the reason, 77 where the kernel has no TCX.
"""
import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402

SKIP_STATUS = 77
TCX_SINCE = (6, 6)
HEADER = re.compile(r"^traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$", re.MULTILINE)
URL = "http://10.67.0.2:8080/"


class Failed(Exception):
    """The check went wrong; the text says how."""


def kernel_version():
    return tuple(int(n) for n in os.uname().release.split("-")[0].split("+")[0].split(".")[:2])


def check_way(host, device, way):
    """clsact shows as filters; TCX does not, its links are pinned."""
    for hook in ("ingress", "egress"):
        filters = host.run(["tc", "filter", "show", "dev", device, hook], check=False).stdout
        if ("ctxprop" in filters) != (way == "clsact"):
            raise Failed(f"--attach {way}: tc filter show dev {device} {hook}: {filters or 'none'}")


def request(host, *options):
    """The answers to one run of curl."""
    done = host.run(["curl", "-sS", "-m", "20", *options], check=False)
    if done.returncode:
        raise Failed(f"curl {' '.join(options)}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def expect_headers(answers, count, what):
    found = HEADER.findall(answers)
    if len(found) != count or len(set(found)) != count or answers.count("traceparent") != count:
        raise Failed(f"{what}: expected {count} different traceparent headers:\n{answers}")


def check_requests(host):
    """Small requests on one connection, and one with a body that needs many segments."""
    expect_headers(request(host, URL + "a", URL + "b", URL + "c"), 3, "three requests")
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(range(256)) * 1000)
        file.flush()
        answer = request(host, "--data-binary", "@" + file.name, URL, "-H", "Expect:")
    expect_headers(answer, 1, "a request of 256 kB")
    digest = hashlib.sha256(bytes(range(256)) * 1000).hexdigest()
    if f"body: {digest}\n" not in answer:
        raise Failed(f"the body of 256 kB did not arrive as it was sent:\n{answer}")


def check(build, way):
    with Lab("attach") as lab:
        client, server = lab.host("client"), lab.host("server")
        device, _ = lab.link(client, server, "10.67.0.1/24", "10.67.0.2/24")
        server.spawn([sys.executable, HERE / "echo_server.py"], stdout=subprocess.DEVNULL)
        server.wait_port(8080)
        agent = Agent(client, build, "--attach", way)
        try:
            check_way(client, device, way)
            check_requests(client)
        except Failed as error:
            raise Failed(f"{error}\nctxpropd said:\n{agent.said()}") from error


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("way", choices=("clsact", "tcx"))
    args = parser.parse_args()
    if args.way == "tcx" and kernel_version() < TCX_SINCE:
        print(f"TCX came with Linux 6.6, this is {os.uname().release}")
        return SKIP_STATUS
    try:
        check(args.build, args.way)
    except (Failed, RuntimeError) as error:
        print(error)
        return 1
    print(f"ok: {args.way} on {os.uname().release}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
