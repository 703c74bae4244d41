# SPDX-License-Identifier: Apache-2.0
"""The demo's last part, if it is wanted: a profile of its servers under load, by endpoint."""
from pathlib import Path

PATHS = ("hello", "search")
SECONDS, HZ = 6, "499"
# What has to be in the picture: functions of nginx, Python and the kernel, below their endpoints.
WANTED = ("nginx GET /hello", "service GET /search", "ngx_process_events_and_timers",
          "Service.serve (service.py)", "tcp_sendmsg")


class Load:
    """A client that asks for one path, again and again; at the end no request is cut off."""

    def __init__(self, scene, front, path):
        self.goes_on = scene.folder / f"load-{path}"
        self.goes_on.touch()
        self.process = scene.client.spawn(
            ["sh", "-c", f"while [ -e {self.goes_on} ]; do curl -sS -o /dev/null --max-time 20"
             f" 'http://{front}:8080/{path}?[1-20]'; done"])

    def end(self):
        self.goes_on.unlink()
        self.process.wait()


def profile(scene, front, file):
    """Profile the servers under load; print the summary, write a flame graph. Returns what is wrong."""
    clients = [Load(scene, front, path) for path in PATHS]
    try:
        said = scene.agent.command("profile", "--store", scene.store, "--requests", "-F", HZ, "-d",
                                   f"{SECONDS}s", "-o", file)
    finally:
        for client in clients:
            client.end()
    print(f"\n$ ctxprop profile --requests -F {HZ} -d {SECONDS}s -o {file}\n{said}", end="")
    if not str(file).endswith(".svg"):
        return []  # what the demo looks for are names in a picture
    drawn = Path(file).read_text()
    return [f"the profile: there is no {name}" for name in WANTED if f">{name}" not in drawn]
