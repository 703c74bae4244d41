# SPDX-License-Identifier: Apache-2.0
"""What the journal of systemd gets: entries with fields, from a real journald in a mount namespace of its own."""
import json
import os
import shutil
import tempfile

from daemon import QUIET
from logged import logged

JOURNALD = "/lib/systemd/systemd-journald"
# A journald, and a daemon whose stderr it is, as systemd makes it; then all that it has of it, line by line.
RECORDED = """
mount -t tmpfs none /run && mount -t tmpfs none /var/log && mkdir -p /run/log/journal /run/systemd/journal || exit 1
"$1" & journald=$!
shift
trap 'kill $daemon $journald 2>/dev/null' EXIT
until_true() { for _ in $(seq 300); do "$@" && return; sleep 0.1; done; return 1; }
asked() { journalctl -q --no-pager -o json _COMM=ctxpropd "$@" 2>/dev/null; }
is_there() { asked CTXPROP_ID=ready CTXPROP_ID=policy-refused | grep -q .; }
until_true test -S /run/systemd/journal/socket || exit 1
systemd-cat -t other sh -c "$NAMED" sh "$@" & daemon=$!
until_true is_there
kill $daemon; wait $daemon
journalctl --sync
asked
"""
# Names stderr as that of the journal.
NAMED = 'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$@"'
# The same where there is no journal.
AWAY = f"mount -t tmpfs none /run || exit 1; {NAMED}"
# Who has inherited the name of another one's stderr.
OTHERS = 'JOURNAL_STREAM=1:1 exec "$@"'


def recorded(bench, *options):
    """The entries of a daemon with these options, from its start to its end."""
    done = bench.node.run(["unshare", "--mount", "sh", "-c", RECORDED, "sh", JOURNALD, bench.agent.build / "ctxpropd",
                           *QUIET, *options], check=False, timeout=90, env={**os.environ, "NAMED": NAMED})
    return [json.loads(line) for line in done.stdout.splitlines()]


def entries(rows, kind):
    return [row for row in rows if row.get("CTXPROP_ID") == kind]


def case_journal(bench):
    """With stderr in the journal each line is an entry: text, priority, who, and the id of the message."""
    if not os.access(JOURNALD, os.X_OK) or not shutil.which("systemd-cat"):
        bench.report.skip(f"{bench.way}: journal", "no systemd-journald")
        return
    refused = entries(recorded(bench, "--policy", "/dev/null/none", "--wait-for-policy"), "policy-refused")
    bench.check([(row["PRIORITY"], row["SYSLOG_IDENTIFIER"], row["_TRANSPORT"]) for row in refused] ==
                [("3", "ctxpropd", "journal")], "an error has its fields", refused)
    bench.check(refused and "/dev/null/none: " in refused[0]["MESSAGE"], "and its text", refused)
    rows = recorded(bench)
    bench.check([len(entries(rows, kind)) for kind in ("starting", "ready", "stopped")] == [1, 1, 1],
                "each line once, to the last", rows)
    bench.check(all(row["_TRANSPORT"] == "journal" and row["MESSAGE"].endswith(f" [{row['CTXPROP_ID']}]") and
                    row["PRIORITY"] in "346" for row in rows),
                "every line has an id, with which its text ends, and a priority of syslog", rows)


def said_to_file(bench, script):
    """What a daemon that has nothing to wait for writes to a file as its stderr."""
    with tempfile.TemporaryFile("w+") as file:
        bench.node.run(["unshare", "--mount", "sh", "-c", script, "sh", bench.agent.build / "ctxpropd", *QUIET,
                        "--policy", "/dev/null/none"], check=False, timeout=60, stderr=file)
        file.seek(0)
        return file.read()


def case_journal_away(bench):
    """Without a journal the lines are on stderr, with a priority where it is the journal's, else with a time."""
    text = said_to_file(bench, AWAY)
    bench.check([line[:3] for line in logged(text, "policy-refused")] == ["<3>"], "a line with its priority", text)
    text = said_to_file(bench, OTHERS)
    bench.check([" error: " in line for line in logged(text, "policy-refused")] == [True], "a line with time and level", text)
