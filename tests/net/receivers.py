# SPDX-License-Identifier: Apache-2.0
"""Servers that say what their HTTP libraries make of a request, and proxies that pass on what they
take for fields. The programs stand in programs/, and answer as echo.py does."""
import contextlib
import os
import string
import subprocess
import tempfile
from pathlib import Path

from cases import Skip, need_program

PROGRAMS = Path(__file__).with_name("programs")
PYTHON = "/usr/bin/python3"


@contextlib.contextmanager
def running(host, port, argv, **kw):
    """A program that listens on a port of a host."""
    process = host.spawn(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kw)
    host.wait_port(port)
    yield
    process.terminate()
    process.wait(timeout=15)


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="ctxprop-receiver-") as path:
        os.chmod(path, 0o755)
        yield Path(path)


@contextlib.contextmanager
def node(host, port):
    with running(host, port, [need_program("node"), PROGRAMS / "echo.js", port]):
        yield


@contextlib.contextmanager
def golang(host, port):
    with folder() as path:
        subprocess.run([need_program("go"), "build", "-o", path / "echo", PROGRAMS / "echo.go"],
                       check=True, env={**os.environ, "GO111MODULE": "off"})
        with running(host, port, [path / "echo", port]):
            yield


@contextlib.contextmanager
def java(host, port):
    with running(host, port, [need_program("java"), PROGRAMS / "Echo.java", port]):
        yield


@contextlib.contextmanager
def php(host, port):
    with running(host, port, [need_program("php"), "-S", f"[::]:{port}", PROGRAMS / "echo.php"]):
        yield


@contextlib.contextmanager
def puma(host, port):
    with running(host, port, [need_program("puma"), "-b", f"tcp://[::]:{port}",
                              PROGRAMS / "echo.ru"]):
        yield


def by_python(program, *modules):
    """A server of Debian's Python, which needs these modules."""
    @contextlib.contextmanager
    def serve(host, port):
        imports = "; ".join(f"import {module}" for module in modules) or "pass"
        if subprocess.run([PYTHON, "-c", imports], check=False, capture_output=True).returncode:
            raise Skip(f"Python has not all of {', '.join(modules)}")
        with running(host, port, [PYTHON, "-B", PROGRAMS / program, port]):
            yield
    return serve


SERVERS = {
    "node": node, "golang": golang, "java": java, "php": php, "puma": puma,
    "http_server": by_python("echo.py"),
    "aiohttp": by_python("echo_aiohttp.py", "aiohttp"),
    "uvicorn": by_python("echo_uvicorn.py", "uvicorn", "httptools"),
}


@contextlib.contextmanager
def proxy(program, host, port, server, *options):
    """A proxy before a Recorder."""
    path = need_program(program)
    text = string.Template((PROGRAMS / f"passing_{program}.conf.in").read_text())
    with folder() as place:
        conf = Path(place, "conf")
        conf.write_text(text.substitute(folder=place, port=port, upstream_host=server.address,
                                        upstream_port=server.port,
                                        upstream=f"{server.address}:{server.port}"))
        with running(host, port, [path, *options, conf]):
            yield
