# SPDX-License-Identifier: Apache-2.0
"""The file of options, and what --check says of everything that the daemon reads."""
import json
import pathlib
import subprocess
import tempfile

import pinned

# Each line of a file of options that is wrong, and what has to be said of it.
WRONG = (
    ("flows = 0", "expected a number from 16 to"),
    ("flow = 100", "did you mean flows?"),
    ("frobnicate = 1", "is no option"),
    ("http2", "expected http2 = yes|no"),
    ("http2 = maybe", "expected yes or no"),
    ("store =", "expected store = FILE"),
    ("verbose = yes", "for the command line only"),
    ("check = yes", "for the command line only"),
    ("redact = (", "expected an extended regular expression"),
    ("sample = 0.5\nsample = 0.6", "has a value in line"),
    ("attach tcx", "expected NAME = VALUE"),
)
# Files beside it: the option that names one, its contents, and what has to be said of it.
BESIDE = (
    ("policy", "policy add dir out action inject\npolicy add action skipp\n", ":2:19: 'skipp': expected inject"),
    ("policy", None, "No such file"),
    ("services", "match exe=* set service.name=a\nmatch exe set x=y\n", ":2: 'exe': expected KEY=PATTERN"),
    ("otlp-headers", "Authorization: secret\nsecret2\n", "line 2: expected Name: value"),
    ("otlp-ca", "nothing\n", "expected certificates in PEM"),
)
GOOD = (
    ("policy", "policy add dir out action inject\n"),
    ("services", "match exe=* set service.name=a\n"),
    ("otlp-headers", "Authorization: secret\n"),
    ("otlp-ca", "-----BEGIN CERTIFICATE-----\n"),
)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


def room(bench):
    """The size of the flow table that is pinned."""
    shown = subprocess.run(["bpftool", "-j", "map", "show", "pinned", pinned.layer(bench.node) / "maps/flows"],
                           capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)["max_entries"]


def check_says(bench, file, status, part, what):
    done = bench.agent.daemon("--config", file, "--check")
    bench.check(done.returncode == status and part in done.stdout + done.stderr, f"--check: {what}",
                f"{done.returncode}\n{done.stdout}{done.stderr}")
    bench.check("secret" not in done.stdout + done.stderr, f"--check: {what}: no secret is told", done.stderr)


def case_config(bench):
    """Options of a file hold, those of the command line outrank them; a wrong file starts nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = write(pathlib.Path(folder) / "conf", "# sizes\nflows = 1000 # few\n\nhttp2 = no\n")
        bench.start("--config", file)
        bench.check(room(bench) == 1000, "flows of the file", room(bench))
        bench.check(bench.agent.logs("options-read", str(file)), "the log names the file", bench.agent.log())
        bench.agent.stop()
        bench.agent.ctxprop("detach", "--force")
        bench.start("--config", file, "--flows", "2000")
        bench.check(room(bench) == 2000, "the command line outranks it", room(bench))
        bench.agent.stop()
        bench.agent.ctxprop("detach", "--force")
        for text in ("flows = 1\n", "profile = 19\n"):
            done = bench.agent.daemon("--config", write(file, text))
            bench.check(done.returncode == 1 and done.stderr, f"{text.strip()}: it does not start", done.stderr)
        done = bench.agent.daemon("--config", file.with_name("none-such"))
        bench.check(done.returncode == 1 and "none-such" in done.stderr, "a file that was named has to be there")
        bench.check(not pinned.pins(bench.node).exists(), "and nothing is left")


def case_config_check(bench):
    """--check names file and line of what is wrong, in the file of options and in those that it names."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        file = folder / "conf"
        policy = f"policy = {write(folder / 'empty', '')}\n"
        for text, part in WRONG:
            write(file, f"# a comment\n{policy}{text}\n")
            check_says(bench, file, 1, part, text.splitlines()[-1])
            line = 2 + len(text.splitlines())
            check_says(bench, file, 1, f"{file}:{line}: ", f"{text.splitlines()[-1]}: line {line}")
        write(file, policy + "".join(f"{text}\n" for text, _ in WRONG[:3]))
        done = bench.agent.daemon("--config", file, "--check")
        bench.check(done.stderr.count(f"{file}:") == 3, "--check: every wrong line is named", done.stderr)
        for option, text, part in BESIDE:
            beside = folder / "beside"
            beside.unlink(missing_ok=True)
            if text is not None:
                write(beside, text)
            write(file, f"{'' if option == 'policy' else policy}{option} = {beside}\n")
            check_says(bench, file, 1, f"{beside}", option)
            check_says(bench, file, 1, part, f"{option}: what is wrong")
        write(file, "".join(f"{option} = {write(folder / option, text)}\n" for option, text in GOOD))
        for option, _ in GOOD:
            check_says(bench, file, 0, f"{folder / option}: ", f"{option} is fine")
        (folder / "otlp-headers").chmod(0o644)
        check_says(bench, file, 1, "others may read", "header fields that others may read")
        bench.check(not pinned.pins(bench.node).exists(), "--check: nothing is begun")


# With a folder of ours as /etc, in which the default files are.
ELSEWHERE = 'mount --bind "$1" /etc; shift; exec "$@"'


def case_config_default(bench):
    """Without --config it is /etc/ctxprop/ctxpropd.conf, if that exists; none: not even then."""
    def asked(*options):
        return bench.node.run(["unshare", "--mount", "sh", "-c", ELSEWHERE, "sh", etc,
                               bench.agent.build / "ctxpropd", "--check", *options], check=False, timeout=60)
    with tempfile.TemporaryDirectory() as etc:
        done = asked()
        bench.check(done.returncode == 0 and "ctxpropd.conf" not in done.stdout, "no file: no error", done.stderr)
        (pathlib.Path(etc) / "ctxprop").mkdir()
        file = write(pathlib.Path(etc) / "ctxprop/ctxpropd.conf", "flows = 1\n")
        done = asked()
        bench.check(done.returncode == 1 and "/etc/ctxprop/ctxpropd.conf:1: flows = 1: " in done.stderr,
                    "the file is read", done.stderr)
        bench.check(asked("--config", "none").returncode == 0, "--config none: it is not")
        done = asked("--flows", "100")
        bench.check(done.returncode == 0, "what the command line says does not count in the file", done.stderr)
        write(file, "flows = 100\n")
        done = asked()
        bench.check(done.returncode == 0 and "/etc/ctxprop/ctxpropd.conf: options" in done.stdout, "it is fine", done.stderr)
