# SPDX-License-Identifier: Apache-2.0
"""Where the matrix runs: namespaces client, app and upstream, the agent in "app", the programs."""
import contextlib
import ctypes
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
APPS = HERE / "apps"
sys.path.insert(0, str(HERE.parent / "lab"))
import following  # noqa: E402 (the path is set just above)
from agent import Agent  # noqa: E402
from javas import java_21  # noqa: E402
from lab import Lab  # noqa: E402

CLIENT, FRONT, BACK, OUTSIDE = "10.93.0.1", "10.93.0.2", "10.93.1.1", "10.93.1.2"
NAMED = "upstream.test"  # stands for OUTSIDE
START_SECONDS = 120  # emulated guests are slow
SAID_CHARACTERS = 600  # of what the programs wrote, shown when requests failed
CLONE_NEWNS, MS_BIND, MS_PRIVATE, MS_REC = 0x20000, 1 << 12, 1 << 18, 1 << 14
DEBIAN_GO = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "", "CGO_ENABLED": "0",
             "GOCACHE": "{made}/go-cache"}  # modules that Debian has
MADE = {
    "go": ("go", "go build -o {made}/go/server .", {"GOFLAGS": "-mod=mod", "GOPROXY": "off",
                                                     "CGO_ENABLED": "0",
                                                     "GOCACHE": "{made}/go-cache"}),
    "go_http2": ("go_http2", "go build -o {made}/go_http2/server .", DEBIAN_GO),
    "go_grpc": ("go_grpc", "go build -o {made}/go_grpc/server .", DEBIAN_GO),
    "java": ("java", "javac -d {made}/java Server.java Calls.java ListClient.java Ways.java", {}),
    "tomcat": ("java", "javac -d {made}/java -cp {tomcat} TomcatServer.java Calls.java "
               "ListClient.java Ways.java", {}),
    "dotnet": ("dotnet", "mcs -out:{made}/dotnet/Server.exe -r:System.Net.Http.dll Server.cs", {}),
    "rust": ("rust", "./build.sh {made}/rust", {}),
    "jetty": ("java", "javac -d {made}/java -cp {jetty} JettyServer.java Calls.java "
              "ListClient.java Ways.java", {}),
}


def private_mounts():
    """For this process and its children: an own bpffs at /sys/fs/bpf, so no other agent's pins, and
    an own /etc/hosts."""
    libc = ctypes.CDLL(None, use_errno=True)
    with tempfile.NamedTemporaryFile("w", prefix="ctxprop-hosts-") as hosts:
        hosts.write(f"127.0.0.1 localhost\n{OUTSIDE} {NAMED}\n")
        hosts.flush()
        os.chmod(hosts.name, 0o644)
        for done in (lambda: libc.unshare(CLONE_NEWNS),
                     lambda: libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None),
                     lambda: libc.mount(b"bpf", b"/sys/fs/bpf", b"bpf", 0, None),
                     lambda: libc.mount(hosts.name.encode(), b"/etc/hosts", None, MS_BIND, None)):
            if done():
                raise OSError(ctypes.get_errno(), "mounting a bpffs and /etc/hosts of its own")


def jars(*names):
    """A class path of what Debian has by these names, in its latest version; "": not all of it."""
    found = [sorted(glob.glob(f"/usr/share/java/{name}.jar")) for name in names]
    return ":".join(path for paths in found for path in paths) if all(found) else ""


def tomcat():
    return jars("tomcat10-*[a-z]")


def jetty():
    return jars("jetty9-server", "jetty9-http", "jetty9-io", "jetty9-util", "servlet-api")


def make(kind, made, apps=APPS, recipes=None):
    """Compile applications that CMake does not; nothing is done where nothing changed."""
    folder, command, env = (recipes or MADE)[kind]
    sources = [p for p in (apps / folder).iterdir() if p.is_file()]
    stamp = made / f"{kind}.stamp"
    if stamp.exists() and stamp.stat().st_mtime > max(p.stat().st_mtime for p in sources):
        return
    (made / folder).mkdir(parents=True, exist_ok=True)
    values = {"made": str(made), "tomcat": tomcat(), "jetty": jetty()}
    done = subprocess.run(command.format(**values).split(), cwd=apps / folder, text=True,
                          capture_output=True,
                          env={**os.environ, **{k: v.format(**values) for k, v in env.items()}})
    if done.returncode:
        raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    stamp.touch()


def module(name):
    """Where Debian has a module of Python, or ""."""
    found = Path(f"/usr/lib/python3/dist-packages/{name}")
    return str(found) if found.exists() else ""


def tornado():
    return module("tornado")


def waitress():
    return module("waitress")


def rust():
    return shutil.which("cargo") and glob.glob("/usr/share/cargo/registry/hyper-0.14.*")


def go_http2():
    return glob.glob("/usr/share/gocode/src/golang.org/x/net/http2/h2c")


def go_grpc():
    return glob.glob("/usr/share/gocode/src/google.golang.org/grpc")


def libuv_names():
    """Has Node a table of symbols with those of libuv that are nobody else's?"""
    done = subprocess.run(["nm", shutil.which("node")], capture_output=True, text=True, check=False)
    return " t uv__work_submit" in done.stdout


def erlang():
    return shutil.which("escript") and glob.glob("/usr/lib/erlang/lib/inets-*")


def uwsgi():
    return shutil.which("uwsgi") and glob.glob("/usr/lib/uwsgi/plugins/python3_plugin.so")


MAY_BE_ABSENT = {"uwsgi": (uwsgi, "uWSGI (uwsgi-core, uwsgi-plugin-python3)"),
                 "java_21": (java_21, "a Java of version 21 or later"),
                 "tomcat": (tomcat, "Tomcat 10 (libtomcat10-java)"),
                 "jetty": (jetty, "Jetty 9 (libjetty9-java)"),
                 "tornado": (tornado, "Tornado (python3-tornado)"),
                 "waitress": (waitress, "waitress (python3-waitress)"),
                 "rust": (rust, "hyper of Rust (cargo, librust-hyper-dev, librust-tokio-dev)"),
                 "go_http2": (go_http2, "HTTP/2 of Go (golang-golang-x-net-dev)"),
                 "go_grpc": (go_grpc, "gRPC of Go (golang-google-grpc-dev)"),
                 "erlang": (erlang, "Erlang with inets (erlang-base, erlang-inets)"),
                 "libuv_names": (libuv_names, "a Node that has libuv in it, with all names")}


def php_fpm():
    found = sorted(glob.glob("/usr/sbin/php-fpm*"))
    return found[-1] if found else "php-fpm"


class World:
    """Namespaces, agent and folders; a context manager."""

    def __init__(self, build):
        self.build = Path(build).resolve()
        self.made = self.build / "accuracy"
        self.lab = Lab("accuracy")
        self.folder = tempfile.TemporaryDirectory(prefix="ctxprop-accuracy-")
        self.agent = None

    def __enter__(self):
        self.client, self.app, self.upstream = map(self.lab.host, ("client", "app", "upstream"))
        self.lab.link(self.client, self.app, f"{CLIENT}/24", f"{FRONT}/24")
        self.lab.link(self.app, self.upstream, f"{BACK}/24", f"{OUTSIDE}/24")
        for host in (self.client, self.app):
            host.sysctl("net.ipv4.ip_local_port_range", "10000 65535")
        return self

    def __exit__(self, *_):
        try:
            self.lab.close()
        finally:
            self.folder.cleanup()

    def start_agent(self, *options):
        self.agent = Agent(self.app, self.build, "--http2", *options)

    def keep_busy(self, count):
        """So many processes that never wait, until the end."""
        for _ in range(count):
            self.app.spawn(["sh", "-c", "while :; do :; done"])

    def stop_agent(self):
        """The rest of the run goes without: its programs are taken away, too."""
        self.agent.stop()
        self.agent.command("detach", "--force")
        self.agent = None

    def addresses(self, row):
        """(host of the client, address of the application, host and address of the upstream)"""
        if row.lo:
            return self.app, "127.0.0.1", self.app, "127.0.0.2"
        return self.client, FRONT, self.upstream, OUTSIDE


class Application:
    """The programs of one row: start() them, stop() them."""

    def __init__(self, world, row, port, upstream):
        self.world, self.row, self.processes = world, row, []
        address = world.addresses(row)[1]
        if row.named:
            upstream = upstream.replace(OUTSIDE, NAMED)
        self.folder = Path(tempfile.mkdtemp(dir=world.folder.name))
        self.log = self.folder / "log"
        self.values = {"build": world.build, "apps": APPS, "made": world.made,
                       "folder": self.folder, "python": "/usr/bin/python3", "php_fpm": php_fpm(),
                       "java_21": java_21(), "tomcat": tomcat(), "jetty": jetty(),
                       "address": address, "port": port, "listen": f"{address}:{port}",
                       "upstream": upstream}

    def fill(self, text):
        return text.format(**self.values)

    def configure(self, name, template, values):
        text = (APPS / template).read_text(encoding="utf-8")
        for key, value in {**self.values, **values}.items():
            text = text.replace(f"@{key}@", self.fill(str(value)))
        (self.folder / name).write_text(text, encoding="utf-8")

    def start(self):
        for program in self.row.programs:
            self.run(program)
        if self.world.agent:  # until then requests are not followed
            following.all_known()

    def run(self, program):
        for name, (template, values) in program.conf.items():
            self.configure(name, template, values)
        argv = [self.fill(word) for word in program.argv]
        if not shutil.which(argv[0], path=os.environ["PATH"] + ":/usr/sbin"):
            raise RuntimeError(f"{self.row.name}: {argv[0]} is not there")
        env = {**os.environ, "UPSTREAM": self.values["upstream"], **program.env}
        with open(self.log, "a", encoding="utf-8") as log:
            self.processes.append(self.world.app.spawn(argv, env=env, stdout=log, stderr=log))
        try:
            self.wait(program.ready)
        except RuntimeError as error:
            raise RuntimeError(f"{self.row.name}: {error}\n{self.said()}") from error

    def wait(self, ready):
        """Until something listens on a port, or a file (a unix socket) is there."""
        if isinstance(ready, int):
            return self.world.app.wait_port(ready, seconds=START_SECONDS)
        path, end = Path(self.fill(ready)), time.monotonic() + START_SECONDS
        while not path.exists():
            if time.monotonic() > end:
                raise RuntimeError(f"{path} does not appear")
            time.sleep(0.02)

    def said(self):
        """The last that the programs wrote."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-SAID_CHARACTERS:]

    def stop(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.wait_gone(self.values["port"])

    def wait_gone(self, port):
        """Until nothing listens there: workers end after the process that made them."""
        end = time.monotonic() + START_SECONDS
        while self.world.app.run(["ss", "-Hltn", f"sport = :{port}"]).stdout.strip():
            if time.monotonic() > end:
                raise RuntimeError(f"{self.row.name}: something still listens on port {port}")
            time.sleep(0.02)
