# SPDX-License-Identifier: Apache-2.0
"""Two profiles beside each other."""
import re
import shutil
import xml.etree.ElementTree as ElementTree

import made
from browser import PROGRAMS, Browser
from lab import Lab
from outputs_tools import Skip, equal

# Of the picture's script: a frame by the name of its function, and how wide it is drawn.
FRAME = "frames.find((f) => f.name.startsWith('{} '))"
WIDTH = "Math.round(+" + FRAME + ".rect.getAttribute('width'))"
SVG = "{http://www.w3.org/2000/svg}"


def functions(said):
    return {row["function"]: tuple(round(share, 6) for share in row["self"] + row["total"])
            for row in said["functions"]}


def frames(path):
    """{name: (width, what is said behind it, colour)} of a picture."""
    found = {}
    for group in ElementTree.parse(path).iter(f"{SVG}g"):
        if "data-w" in group.attrib:
            name, said = re.fullmatch(r"(.*) \((.*)\)", group.find(f"{SVG}title").text).groups()
            found[name] = float(group.get("data-w")), said, group.find(f"{SVG}rect").get("fill")
    return found


def case_same(world):
    """a profile and itself with twice the samples do not differ: shares are compared"""
    twice = made.write(world.folder / "twice.pb.gz", scale=2)
    said = functions(world.said("diff", world.made, twice, "-o", world.folder / "x.svg"))
    assert said and all(row[0] == row[1] and row[2] == row[3] for row in said.values()), said
    drawn = frames(world.folder / "x.svg")
    assert drawn and all(fill == "hsl(0 0% 92%)" and said.endswith("+0.00")
                         for _, said, fill in drawn.values()), drawn
    equal(drawn["all"][0], 1200, "width of all")


def case_by_bucket(world):
    """p50 against p99 of one file: what makes requests slow"""
    said = world.said("diff", world.made, "--by", "bucket=p50,p99", "-o", world.folder / "x.svg")
    equal(said["functions"][0]["function"], "lock", "that differs most")
    rows = functions(said)
    equal(rows["lock"], (0, 0.8, 0, 0.8), "lock")
    equal(rows["query"], tuple(round(x, 6) for x in (30 / 65, 0, 30 / 65, 0.8)), "query")
    drawn = frames(world.folder / "x.svg")
    equal(drawn["lock"], (480, "200.000 ms, 0.00% before, 80.00% after, +80.00", "hsl(5 85% 60%)"), "lock")
    equal(drawn["render"][2], "hsl(220 85% 60%)", "the colour of what is gone")
    equal(drawn["shop GET /a"][0], round(1200 * (40 / 65 + 20 / 25) / 2, 3), "the width of an endpoint")


def case_by_endpoint(world):
    """two endpoints of one file, without themselves as frames"""
    world.profile("diff", world.made, "--by", "endpoint=GET /a,/b", "-o", world.folder / "x.svg")
    drawn = frames(world.folder / "x.svg")
    assert not [name for name in drawn if "GET" in name], drawn
    equal(drawn["serve"][1], "900.000 ms, 100.00% before, 100.00% after, +0.00", "serve")
    rows = functions(world.said("diff", world.made, "--by", "endpoint=GET /a,/b"))
    equal(rows[made.ODD], (0, round(5 / 30, 6), 0, round(5 / 30, 6)), "a function of one of them")
    table = world.profile("diff", world.made, "--by", "pid=4711,4711").stdout
    assert re.search(r"30\.00% +30\.00% +\+0\.00 +50\.00% +50\.00% +\+0\.00  query\n", table), table


def case_tagged(world):
    """rules come before the comparison"""
    rules = world.rules("fold ^(query|lock)$ as database\n")
    rows = functions(world.said("diff", world.made, "--by", "bucket=p50,p99", "--tags", rules))
    equal(rows["database"], tuple(round(x, 6) for x in (30 / 65, 0.8, 30 / 65, 0.8)), "database")


def case_diff_refused(world):
    """what cannot be compared is refused, and says why"""
    other = made.write(world.folder / "other.pb.gz", types=(("cpu", "nanoseconds"), ("wall", "nanoseconds")))
    bytes_ = made.write(world.folder / "bytes.pb.gz", types=(("objects", "count"), ("space", "bytes")))
    for words, said in (((world.made,), "expected two files"),
                        ((world.made, other), "only one of them has times"),
                        ((world.made, bytes_), "expected a profile of time, or of samples"),
                        ((world.made, "--by", "bucket=p50"), "expected a label and two of its values"),
                        ((world.made, "--by", "bucket=p50,p99,max"), "expected a label and two"),
                        ((world.made, "--by", "bucket=p50,max"), "no samples with bucket=max"),
                        ((world.made, world.made, "-o", "x.pb.gz"), "a difference is written as svg"),
                        ((world.made, world.made, "-F", "99"), "--frequency is for sampling")):
        error = world.refused("diff", *words)
        assert said in error, (words, error)


def case_diff_page(world):
    """the picture in a browser: names on frames, search, and zoom by a click"""
    world.profile("diff", world.made, "--by", "bucket=p50,p99", "-o", world.folder / "x.svg")
    program = next(filter(shutil.which, PROGRAMS), None)
    if not program:
        raise Skip("Chromium is not installed")
    with Lab("outputs") as lab:
        browser = Browser(lab.host("a"), program, world.folder / "chromium")
        browser.open(f"file://{world.folder}/x.svg")
        browser.wait("document.getElementById('told') && typeof search === 'function'")
        equal(browser.value(WIDTH.format("lock")), 480, "width of lock")
        browser.value("search('^lock$')")
        equal(browser.value("document.getElementById('told').textContent"), "^lock$: 40.0 %", "what is found")
        browser.value(f"{FRAME.format('lock')}.group.dispatchEvent(new MouseEvent('click'))")
        equal(browser.value(WIDTH.format("lock")), 1200, "width of lock after a click on it")
        equal(browser.value(f"{FRAME.format('lock')}.text.textContent"), "lock", "name on the frame")
        equal(browser.value(f"{FRAME.format('render')}.group.style.display"), "none", "what is not below it")
        equal((browser.errors, browser.dialogs), ([], []), "errors and dialogs")
