# SPDX-License-Identifier: Apache-2.0
"""More programs as clients, servers and proxies; each runtime has an HTTP library of its own."""
import contextlib
import os
import string
import subprocess
import tempfile
from pathlib import Path

from arrivals import ADDED, arriving, curl, file_of
from cases import case, equal, need_program
from worlds import common, counted

PROGRAMS = Path(__file__).with_name("programs")
COUNT = 8


def posts(program, *arguments):
    """The program posts 5,000 bytes so many times."""
    path = need_program(program)
    with arriving(COUNT, b"n" * 5000) as server:
        common().app.run([path, *arguments, server.url, COUNT], timeout=35,
                         env={**os.environ, "GO111MODULE": "off"})


@case
def java():
    """Java's HttpClient: it offers an upgrade to HTTP/2"""
    posts("java", "-XX:TieredStopAtLevel=1", PROGRAMS / "Client.java")


@case
def golang():
    """Go's net/http: bodies by length and in chunks"""
    posts("go", "run", PROGRAMS / "client.go")


@case
def ruby():
    """Ruby's Net::HTTP"""
    posts("ruby", PROGRAMS / "client.rb")


@case
def php():
    """PHP's streams: a connection for each request"""
    posts("php", PROGRAMS / "client.php")


@case
def perl():
    """Perl's HTTP::Tiny: chunks"""
    posts("perl", PROGRAMS / "client.pl")


@case
def wget():
    """wget: several requests on a connection"""
    program = need_program("wget")
    with arriving(COUNT) as server:
        common().app.run([program, "-q", "-O", "/dev/null",
                          *[f"{server.url}/{i}" for i in range(COUNT)]], timeout=20)


@case
def bash():
    """A shell that writes its request line by line"""
    script = r"""
        exec 3<>/dev/tcp/$1/$2
        for line in "GET / HTTP/1.1" "Host: x" "Connection: close" ""; do
            printf "%s\r\n" "$line" >&3
        done
        cat <&3"""
    with arriving(1) as server:
        done = common().app.run(["bash", "-c", script, "bash", server.address, server.port],
                                timeout=20)
        equal(done.stdout[:12], "HTTP/1.1 200", "answer")


@contextlib.contextmanager
def serving(program, host, port, upstream=("127.0.0.1", 9)):
    """A web server with the configuration of its name; gives what ends it and returns its log."""
    def ended():
        process.terminate()
        process.wait(timeout=15)
        return Path(folder, "access.log").read_text().split("\n")[:-1]

    path = need_program(program)
    with tempfile.TemporaryDirectory(prefix=f"ctxprop-{program}-") as folder:
        os.chmod(folder, 0o755)
        conf = Path(folder, "conf")
        text = string.Template((PROGRAMS / f"{program}.conf.in").read_text())
        conf.write_text(text.substitute(folder=folder, port=port, upstream_host=upstream[0],
                                        upstream_port=upstream[1]))
        Path(folder, "seen").write_text("seen\n")
        process = host.spawn([path, *FOREGROUND[program], "-f", conf], stderr=subprocess.DEVNULL)
        host.wait_port(port)
        yield ended


FOREGROUND = {"apache2": ["-DFOREGROUND"], "lighttpd": ["-D"]}


def as_server(program, port):
    """It takes requests of several sizes, and sees a header with each."""
    world = common()
    with serving(program, world.peer, port) as ended:
        with counted(world.agent, injected=20):
            for number in range(10):
                url = f"http://{world.PEER}:{port}/seen"
                curl("-f", "-H", f"X-Pad: {'x' * number * 150}", url, url)
        log = ended()
    equal((len(log), [line for line in log if not ADDED.fullmatch(line)]), (20, []), "its log")


def as_proxy(program, port):
    """What it takes from its clients is cut off: each request that goes on gets a new header."""
    body = os.urandom(100_000)
    with arriving(20, body) as server, file_of(body) as path:
        with serving(program, common().app, port, (server.address, server.port)) as ended:
            curl("-f", "-H", "Expect:", "--data-binary", f"@{path}",
                 *[f"http://127.0.0.1:{port}/up"] * 20)
            ended()


@case
def apache_server():
    """Apache as the server"""
    as_server("apache2", 8321)


@case
def apache_proxy():
    """Apache as a proxy"""
    as_proxy("apache2", 8322)


@case
def lighttpd_server():
    """lighttpd as the server"""
    as_server("lighttpd", 8323)


@case
def lighttpd_proxy():
    """lighttpd as a proxy"""
    as_proxy("lighttpd", 8324)
