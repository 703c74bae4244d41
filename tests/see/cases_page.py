# SPDX-License-Identifier: Apache-2.0
"""The page, in a real browser."""
import functools
import shutil

import demo
from browser import PROGRAMS, Browser
from tried import Skip
from world import MANY, SCRIPT, equal

ROWS = "document.querySelectorAll('#{} tbody tr').length"
SPANS = "document.querySelectorAll('.waterfall li').length"


@functools.cache
def browser(world):
    """One for all cases."""
    program = next(filter(shutil.which, PROGRAMS), None)
    if not program:
        raise Skip("Chromium is not installed")
    return Browser(world.client, program, world.folder / "chromium")


def opened(world, view):
    page = browser(world)
    page.call("Page.navigate", url="about:blank")  # so that nothing of before is waited for
    page.open(f"{world.url}/#/{view}")
    return page


def is_well(page):
    """Nothing was refused by the browser, nothing was run that should be a text."""
    equal((page.errors, page.dialogs), ([], []), "errors and dialogs")


def case_clicks(world):
    """from an endpoint to its slow traces, to the waterfall, to the details of a span"""
    page = opened(world, "endpoints")
    page.wait(ROWS.format("endpoints"))
    page.click("#endpoints tbody a", "GET /many")
    page.wait(f"{ROWS.format('traces')} === {MANY}")
    page.click("#traces tbody a", "GET /many")
    page.wait(f"{SPANS} === 5")
    page.click(".waterfall button", "/kept/many")
    page.wait("document.querySelector('.waterfall dl')")
    details = page.value("document.querySelector('.waterfall dl').innerText")
    for text in ("by-", "injected", f"{demo.OUTSIDE}:{world.recorder.port}", "reused", "bytes", "answered"):
        assert text in details, f"{text} is not in the details: {details}"
    is_well(page)


def case_keys(world):
    """the same without a mouse: tabulator, Enter, arrows"""
    page = opened(world, "traces?endpoint=/hello&service=nginx")
    page.wait(f"{ROWS.format('traces')} === 3")
    page.value("document.querySelector('#traces tbody a').focus()")
    page.press("Enter", 13)
    page.wait(f"{SPANS} === 5")
    page.press("Tab", 9)
    page.press("ArrowDown", 40)
    page.press("ArrowDown", 40)
    page.press("ArrowUp", 38)
    page.press("Enter", 13)
    page.wait("document.querySelector('.waterfall dl')")
    opened_ones = page.value("[...document.querySelectorAll('.waterfall button')]"
                             ".map((b) => b.getAttribute('aria-expanded'))")
    equal(opened_ones, ["false", "true", "false", "false", "false"], "spans that are open")
    is_well(page)


def case_filter(world):
    """the form finds traces, and says what it does not understand"""
    page = opened(world, "traces")
    page.wait(ROWS.format("traces"))
    page.value("document.querySelector('[name=endpoint]').value = '/users/*';"
               "document.querySelector('form').requestSubmit()")
    page.wait(f"{ROWS.format('traces')} === 3")
    page.value("document.querySelector('[name=slow]').value = 'much';"
               "document.querySelector('form').requestSubmit()")
    page.wait("document.getElementById('status').textContent.includes('slow: expected')")
    page.errors.clear()  # the browser tells of the 400, too


# Pairs of labels, and of a label and a box, of which one is over the other.
LABELS_COVER = """(() => {
    const notes = [...document.querySelectorAll('svg.map .note rect')], boxes = [...document.querySelectorAll('svg.map .node rect')];
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const place = (element) => element.getBoundingClientRect(), text = (element) => element.parentNode.textContent;
    return notes.flatMap((note, i) => [...notes.slice(i + 1), ...boxes].filter((other) => over(place(note), place(other)))
                                          .map((other) => text(note) + ' over ' + text(other)));
})()"""
LABELS_HIDDEN = """(() => {
    const notes = [...document.querySelectorAll('svg.map .note')], edges = [...document.querySelectorAll('svg.map .edge')];
    const behind = (note, edge) => note.compareDocumentPosition(edge) & Node.DOCUMENT_POSITION_PRECEDING;
    const fits = (note) => note.querySelector('text').getBBox().width <= note.querySelector('rect').getBBox().width;
    const opaque = (note) => { const style = getComputedStyle(note.querySelector('rect'));
                               return style.fill === getComputedStyle(document.body).backgroundColor && style.opacity === '1'; };
    return notes.filter((note) => !fits(note) || !opaque(note) || !edges.every((edge) => behind(note, edge)))
                .map((note) => note.textContent);
})()"""


def case_map_page(world):
    """the map shows who calls whom, and leads to traces"""
    page = opened(world, "map")
    page.wait("document.querySelector('svg.map')")
    names = page.value("[...document.querySelectorAll('svg.map .node text')].map((t) => t.textContent)")
    assert {"nginx", "service", demo.CLIENT} <= set(names), names
    equal(page.value(LABELS_COVER), [], "what labels of edges cover, but edges")
    equal(page.value(LABELS_HIDDEN), [], "labels that something is drawn over, or that are seen through")
    page.click("svg.map a rect")
    page.wait(ROWS.format("traces"))
    is_well(page)


def case_policy_page(world):
    """the rules stand there with what they have decided"""
    page = opened(world, "policy")
    page.wait(ROWS.format("policy"))
    hits = page.value("[...document.querySelectorAll('#policy tbody tr')]"
                      ".map((row) => row.children[2].innerText).some((text) => text !== '0')")
    assert hits and "action inject" in page.value("document.querySelector('#policy').innerText")
    is_well(page)


def case_script(world):
    """a path that is a script is shown, not run"""
    page = opened(world, "endpoints")
    page.wait(ROWS.format("endpoints"))
    page.click("#endpoints tbody a", f"GET {SCRIPT}")
    page.wait(f"{ROWS.format('traces')} === 1")
    page.click("#traces tbody a", f"GET {SCRIPT}")
    page.wait(f"{SPANS} === 5")
    assert SCRIPT in page.value("document.querySelector('.waterfall').innerText")
    equal(page.value("document.querySelectorAll('script').length"), world.ask("/")[2].count(b"<script "),
          "scripts of the page")
    is_well(page)


def case_dark(world):
    """it is dark where the reader wants it dark"""
    page = opened(world, "endpoints")
    page.wait(ROWS.format("endpoints"))
    backs = []
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        backs.append(page.value("getComputedStyle(document.body).backgroundColor"))
    equal(backs, ["rgb(255, 255, 255)", "rgb(20, 23, 27)"], "backgrounds")
