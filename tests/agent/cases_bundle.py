# SPDX-License-Identifier: Apache-2.0
"""`ctxprop doctor --bundle`: what is in it, and what is not."""
import json
import pathlib
import tarfile
import tempfile

from traffic import serve

# Each stands where it must not get into a bundle from.
SECRETS = ("in-a-path", "in-a-field", "in-userinfo", "in-a-query", "in-a-comment", "in-a-header-file")
NAMES = {"version", "doctor", "stats", "policy", "sets", "options", "process", "host"}


def read(path):
    """{name: text} of an archive, as tarfile reads it."""
    with tarfile.open(path, "r:gz") as archive:
        members = archive.getmembers()
        return {member.name: archive.extractfile(member).read().decode() for member in members if member.isfile()}


def make(bench, path, *words):
    """Make one. What the command has said, and its texts by their short names."""
    done = bench.agent.ctxprop(*words, "doctor", "--bundle", path)
    texts = {name.removeprefix("ctxprop-bundle/").removesuffix(".txt"): text for name, text in read(path).items()}
    return done, texts


def configured(folder):
    """A file of options that has secrets, as far as it may."""
    headers = folder / "headers"
    headers.write_text("Authorization: in-a-header-file\n", encoding="utf-8")
    headers.chmod(0o600)
    file = folder / "conf"
    file.write_text(f"# in-a-comment\nhead = 512 # in-a-comment\notlp-headers = {headers}\n"
                    "otlp = http://me:in-userinfo@127.0.0.1:9/in-a-query?key=in-a-query\n", encoding="utf-8")
    return file


def ask(bench):
    """A request with what must not be told."""
    server = serve(bench.peer, "10.77.0.2")
    bench.node.run(["curl", "-sS", "-m", "10", "-o", "/dev/null", "-H", "Cookie: in-a-field",
                    f"http://10.77.0.2:{server.server_address[1]}/in-a-path"])
    server.shutdown()
    server.server_close()


def case_bundle(bench):
    """A bundle has the daemon's options, counters, rules and the kernel; no secrets, nothing of requests."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = folder / "bundle.tar.gz"
        bench.start("--config", configured(folder), "--otlp-ca", folder / "conf")
        ask(bench)
        bench.agent.ctxprop("set", "near", "add", "198.51.100.0/24")
        bench.agent.ctxprop("policy", "add", "prio", "7", "to", "192.0.2.7", "action", "skip")
        done, texts = make(bench, path)
        bench.check(done.returncode == 0 and set(texts) == NAMES, "all is there", f"{done.stderr}{sorted(texts)}")
        bench.check(all(f"ctxprop-bundle/{name}.txt" in done.stdout for name in NAMES), "and listed", done.stdout)
        bench.check(path.stat().st_mode & 0o777 == 0o600, "it is for its owner alone")
        for name, part in (("policy", "192.0.2.7"), ("sets", "198.51.100.0/24"), ("options", "head = 512"), ("options", "--otlp-ca"),
                           ("options", "127.0.0.1:9"), ("process", "CapEff:"), ("host", "MemTotal:"),
                           ("doctor", "our programs are at both hooks"), ("version", "ABI")):
            bench.check(part in texts[name], f"{name}.txt has {part}", texts[name])
        bench.check(any(line.split()[:1] == ["injected"] and line.split()[1] != "0" for line in texts["stats"].splitlines()),
                    "stats.txt has counted a request", texts["stats"])
        for secret in SECRETS:
            bench.check(not any(secret in text for text in texts.values()), f"no secret {secret}",
                        [name for name, text in texts.items() if secret in text])
        listed = json.loads(make(bench, path, "-j")[0].stdout)
        bench.check(all(row["bytes"] > 0 and row["what"] for row in listed) and len(listed) == len(NAMES), "as JSON", listed)
        bench.agent.stop()
        done, texts = make(bench, path)
        bench.check(done.returncode == 0 and "no daemon answers" in texts["options"], "without a daemon", done.stderr)
        done = bench.agent.ctxprop("doctor", "--bundle", folder / "none/bundle")
        bench.check(done.returncode == 1 and "No such file" in done.stderr, "a file that cannot be written", done.stderr)
