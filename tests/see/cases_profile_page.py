# SPDX-License-Identifier: Apache-2.0
"""The view "Profile" of the page, in a real browser, with the picture in its frame."""
import json

import made
from cases_page import ROWS, is_well, opened
from kept import LONG, STRANGE_SERVICE, STRANGE_SHOWN, Kept
from world import SCRIPT, equal

PICTURE = "document.querySelector('iframe.flame')?.contentDocument"
DRAWN = f"{PICTURE}?.querySelector('#frames g text')?.textContent"
BUSY = (made.Stack(1300, ("main", "compile"), {"endpoint": "(no request)", "process": "cc1", "pid": 4712}),)
SERVERS = ("#servers\t1000", "#no_request\t9\tno-evidence", "#no_request\t29\tother-idle-loop", "#no_request\t3\tended")
PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}


def frame(name):
    """A frame of the picture whose function begins so, as an expression."""
    return (f"[...{PICTURE}.querySelectorAll('#frames g')]"
            f".find((g) => g.querySelector('title').textContent.startsWith({json.dumps(name + ' (')}))")


def width(page, name):
    return round(page.value(f"+{frame(name)}.querySelector('rect').getAttribute('width')"))


def titles(page):
    """Title of the picture, and what its frames are called."""
    return page.value(f"{PICTURE}.querySelector('text').textContent"), \
        page.value(f"[...{PICTURE}.querySelectorAll('#frames title')].map((t) => t.textContent)")


def clicked(page, selector, text, wanted):
    """Click, and wait until the picture's title has these words."""
    page.click(selector, text)
    page.wait(f"{PICTURE}?.querySelector('text')?.textContent.includes({json.dumps(wanted)})")
    page.wait(DRAWN)


def opened_kept(world, view="profile"):
    page = opened(world, view)
    page.wait(ROWS.format("profile"))
    page.wait(DRAWN)
    return page


def case_profile_said(world):
    """the page says when no profile is kept, and how to have one"""
    Kept(world)
    page = opened(world, "profile")
    page.wait("document.querySelector('main')?.innerText.includes('Start ctxpropd with --profile 19')")
    equal(page.value("document.querySelectorAll('iframe').length"), 0, "frames")
    is_well(page)


def case_profile_clicks(world):
    """from an endpoint to its flame graph; zoom by a click, search, all; buckets, waits, difference"""
    kept = Kept(world)
    kept.usual()
    page = opened_kept(world)
    row = page.value("document.querySelector('#profile tbody tr').innerText").split("\t")
    equal(row, ["shop", "GET /a", "4", "300 ms", "1.20 s", "67 %", "75.0 ms", "25.0 ms"], "the first row")
    clicked(page, "#profile a", "GET /a", "shop GET /a: CPU time")
    equal(page.value("document.querySelector('#profile [aria-current]').innerText").split("\t")[1], "GET /a", "chosen")
    equal(width(page, "lock"), 400, "width of lock")
    page.value(f"{frame('lock')}.dispatchEvent(new MouseEvent('click'))")
    equal(width(page, "lock"), 1200, "width of lock after a click on it")
    page.answer = "^lock$"
    page.value(f"setTimeout(() => {PICTURE}.getElementById('ask').dispatchEvent(new MouseEvent('click')))")
    page.wait(f"{PICTURE}.getElementById('told').textContent === '^lock$: 33.3 %'")
    equal(page.dialogs, ["Functions (a regular expression):"], "dialogs")
    page.dialogs.clear()
    page.value(f"{PICTURE}.getElementById('back').dispatchEvent(new MouseEvent('click'))")
    equal(width(page, "lock"), 400, "width of lock when all is shown")
    clicked(page, "button", "p99 (33 % of CPU)", "CPU time, p99")
    clicked(page, "button", "off the CPU", "time off the CPU, p99")
    clicked(page, "button", "all", "time off the CPU, ")
    assert any(title.startswith("[blocked] (300.000 ms, 75.00%") for title in titles(page)[1]), titles(page)
    clicked(page, "button", "on the CPU", "GET /a: CPU time, ")
    clicked(page, "button", "difference", "from p50 to p99")
    assert "lock (400.000 ms, 0.00% before, 100.00% after, +100.00)" in titles(page)[1], titles(page)
    clicked(page, "section a", "All endpoints", "all endpoints: CPU time")
    page.value("history.back()")
    page.wait(f"{PICTURE}?.querySelector('text')?.textContent.includes('from p50 to p99')")
    is_well(page)
    kept.remove()


def case_profile_first(world):
    """requests first: what belongs to none is the last row, and in the picture only if the whole host is wanted"""
    kept = Kept(world)
    kept.write((*BUSY, *made.STACKS), comments=("#requests\t3\tshop\tGET /a", *SERVERS))
    page = opened_kept(world)
    rows = page.value("[...document.querySelectorAll('#profile tbody tr')].map((row) => row.innerText.split('\\t'))")
    equal([row[1] for row in rows], ["GET /a", "GET /b", "(no request)"], "rows")
    equal(rows[-1], ["–", "(no request)", "–", "–", "13.1 s", "–"], "the last row")
    said = page.value("document.querySelector('main').innerText")
    for text in ("1,400 samples, 900 ms of CPU time for requests, 14.0 s in total.",
                 "4.1 % of the samples of servers have no request: other-idle-loop 2.9 %, no-evidence 0.90 %, ended 0.30 %."):
        assert text in said, said
    shown = titles(page)[1]
    assert "all (900.000 ms, 100.00%)" in shown and not any("compile" in title for title in shown), shown
    clicked(page, "button", "whole host", "all endpoints, and what belongs to no request: CPU time")
    assert "compile (13000.000 ms, 92.86%)" in titles(page)[1], titles(page)
    equal(page.value("location.hash.includes('all=1')"), True, "it can be linked to")
    equal(page.value("document.activeElement.textContent"), "whole host", "what has the focus")
    clicked(page, "button", "p99", "CPU time, p99")
    clicked(page, "button", "for requests", "all endpoints: CPU time, p99")
    clicked(page, "#profile a", "(no request)", "(no request): CPU time")
    assert any(title.startswith("compile (13000.000 ms") for title in titles(page)[1]), titles(page)
    is_well(page)
    kept.remove()


def case_profile_keys(world):
    """the same without a mouse; the focus stays where it was, arrows go from frame to frame"""
    kept = Kept(world)
    kept.usual()
    page = opened_kept(world)
    page.value("[...document.querySelectorAll('button')].find((b) => b.textContent.startsWith('p99')).focus()")
    page.press("Enter", 13)
    page.wait(f"{PICTURE}?.querySelector('text')?.textContent.includes('CPU time, p99')")
    page.wait(DRAWN)
    equal(page.value("document.activeElement.textContent"), "p99 (28 % of CPU)", "what has the focus")
    for _ in range(3):  # over the buttons that follow, into the picture
        page.press("Tab", 9)
    page.wait(f"{PICTURE}.activeElement?.id === 'back'")
    for key, code in (("ArrowUp", 38), ("ArrowUp", 38), ("ArrowRight", 39), ("ArrowLeft", 37), ("ArrowUp", 38)):
        page.press(key, code)
    told = f"{PICTURE}.getElementById('told').textContent"
    equal(page.value(told), "app (400.000 ms, 80.00%)", "where the arrows have led to")
    page.press("Tab", 9)
    equal(page.value(f"{PICTURE}.activeElement.id"), "ask", "what comes behind")
    is_well(page)
    kept.remove()


def case_profile_strange(world):
    """names that are scripts, run backwards or are long are texts, in the table and in the picture"""
    kept = Kept(world)
    kept.strange()
    page = opened_kept(world)
    shown = page.value("[...document.querySelectorAll('#profile tbody tr')].map((row) => "
                       "[row.cells[0].textContent, row.cells[1].textContent])")
    assert all(service == STRANGE_SERVICE for service, _ in shown), shown
    equal(sorted(name for _, name in shown), sorted(STRANGE_SHOWN), "endpoints")
    for name, function in STRANGE_SHOWN.items():
        link = f"[...document.querySelectorAll('#profile a')].find((a) => a.textContent === {json.dumps(name)})"
        page.value(link + ".click()")  # a long one has its middle out of sight
        page.wait(f"{PICTURE}?.querySelector('text')?.textContent.includes({json.dumps(name[:40])})")
        page.wait(DRAWN)
        drawn = titles(page)[1]
        assert any(title.startswith(f"{function} (100.000 ms, 100.00%") for title in drawn), (name, drawn)
    equal(page.value(f"{PICTURE}.querySelectorAll('script').length"), 1, "scripts of the picture")
    assert page.value("document.documentElement.scrollWidth <= innerWidth"), f"{LONG[:9]}... makes the page too wide"
    is_well(page)
    kept.remove()


def case_profile_narrow(world):
    """on a phone, and where the reader wants it dark, it can be read"""
    kept = Kept(world)
    kept.usual()
    page = opened_kept(world)
    page.call("Emulation.setDeviceMetricsOverride", **PHONE)
    try:
        equal(page.value("document.documentElement.scrollWidth"), PHONE["width"], "width of the page")
        papers = []
        for scheme in ("light", "dark"):
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            papers.append(page.value(f"getComputedStyle({PICTURE}.getElementById('paper')).fill"))
        equal(papers, ["rgb(255, 255, 255)", "rgb(20, 23, 27)"], "papers")
    finally:
        page.call("Emulation.clearDeviceMetricsOverride")
        page.call("Emulation.setEmulatedMedia", features=[])
    is_well(page)
    kept.remove()


def case_profile_linked(world):
    """from an endpoint of the first view to its profile; what has no samples says so"""
    kept = Kept(world)
    kept.write([made.Stack(10, ("main",), {"endpoint": "GET /many", "service": "nginx", "process": "nginx"})])
    page = opened(world, "endpoints")
    page.wait(ROWS.format("endpoints"))
    row = "[...document.querySelectorAll('#endpoints tbody tr')].find((row) => " \
          "row.cells[0].innerText === 'nginx' && row.cells[1].innerText === {})"
    page.value(row.format("'GET /many'") + ".lastChild.querySelector('a').click()")
    page.wait(DRAWN)
    assert titles(page)[0].startswith("nginx GET /many: CPU time"), titles(page)
    page.value("history.back()")
    page.wait(ROWS.format("endpoints"))
    page.value(row.format(json.dumps(f"GET {SCRIPT}")) + ".lastChild.querySelector('a').click()")
    page.wait("document.querySelector('main')?.innerText.includes('no samples of this endpoint')")
    is_well(page)
    kept.remove()
