# SPDX-License-Identifier: Apache-2.0
"""What the maintainer scripts ask of systemd, answered by a stand-in: a bare root runs none."""
import contextlib

PROGRAMS = {
    "systemctl": """#!/bin/sh
echo "systemctl $*" >>/tmp/asked
case "$*" in
*is-active*ctxpropd-drain*) kill -0 "$(cat /tmp/drain)" 2>/dev/null ;;
esac
""",
    "systemd-run": """#!/bin/sh
echo "systemd-run $*" >>/tmp/asked
while [ "${1#--}" != "$1" ]; do shift; done
setsid "$@" </dev/null >/dev/null 2>&1 &
echo $! >/tmp/drain
"""}


@contextlib.contextmanager
def stand_in(root):
    """A root that looks as if systemd ran there. Gives a function that tells what it was asked for."""
    running, asked = root.folder / "run/systemd/system", root.folder / "tmp/asked"
    running.mkdir(parents=True)
    asked.write_text("")
    for name, text in PROGRAMS.items():
        program = root.folder / "usr/bin" / name
        program.write_text(text)
        program.chmod(0o755)
    try:
        yield lambda: asked.read_text(encoding="utf-8").splitlines()
    finally:
        for name in PROGRAMS:
            (root.folder / "usr/bin" / name).unlink()
        running.rmdir()
        running.parent.rmdir()
