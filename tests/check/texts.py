# SPDX-License-Identifier: Apache-2.0
"""Checks of all texts. Each yields one line per wrong place."""
import posixpath
import re

# Data formats without comments, and the licences themselves.
NO_COMMENT = re.compile(r"(^LICENSES?(/|$)|\.json$|^\.gitignore$)")
SPDX = "SPDX-License-Identifier: "
GPL, DUAL, APACHE = "GPL-2.0-only", "GPL-2.0-only OR Apache-2.0", "Apache-2.0"


def licence_of(files, name):
    """What the SPDX line says: the first line, or the second one behind a "#!"; None: nothing."""
    for line in files.text(name).split("\n")[:2]:
        if SPDX in line:
            return re.sub(r"\s*(\*/|-->)\s*$", "", line.split(SPDX)[1]).strip()
    return None


def spdx(files):
    """Every file names its licence in its first line."""
    for name in files.names:
        if not NO_COMMENT.search(name) and licence_of(files, name) is None:
            yield f"{name}: no {SPDX.strip()} in the first line (second behind #!)"


def wanted_licences(name):
    if re.search(r"\.bpf\.[ch]$", name):
        return (GPL,)
    if name.startswith("bpf/") and name.endswith(".h"):
        return (DUAL,)
    if name.startswith("tests/unit/images/") and name.endswith("_test.c"):
        return (GPL,)  # BPF code, compiled for user space, is part of them
    # A test's header may serve BPF programs, too.
    return (APACHE, DUAL) if name.endswith(".h") else (APACHE,)


def licences(files):
    """BPF code is GPL, headers for both sides are dual, all else is Apache."""
    for name in files.names:
        found = licence_of(files, name)
        wanted = wanted_licences(name)
        if found and not NO_COMMENT.search(name) and found not in wanted:
            yield f"{name}: {found}, should be {wanted[0]}"


RUNTIME_KIND = re.compile(r"^\tRUNTIME_([A-Z]+) = \d+,", re.M)
NO_RUNTIME = ("WANTED", "THREADS", "OPAQUE")


# What says which runtimes there are, and what each has and answers.
RUNTIME_LISTS = ("runtimes/list.h", "runtimes/names.c", "runtimes/runtime.h", "runtimes/traits.h")


def is_shared(name):
    """Is it a file that no runtime's folder has, and no list of them?"""
    return name.startswith(("bpf/", "agent/", "http/")) or (name.count("/") == 1 and name not in RUNTIME_LISTS and
                                                            name.startswith("runtimes/"))


def runtimes(files):
    """Runtimes are named in their folders only: the probes ask hooks and traits, the agent drivers."""
    kinds = set(RUNTIME_KIND.findall(files.text("runtimes/runtime.h"))) - set(NO_RUNTIME)
    named = re.compile(rf"\bRUNTIME_({'|'.join(sorted(kinds))})\b")
    for name in files.of(".c", ".h"):
        if not is_shared(name):
            continue
        for number, line in enumerate(files.text(name).splitlines(), 1):
            if found := named.search(line):
                yield f"{name}:{number}: {found[0]}; see runtimes/README.md"


# (/root/... by itself is a fine name: that of the new root in a guest's first steps.)
MACHINE = re.compile(r"(?<![\w.$}])/((work|home|Users)/\w|root/\.\w)")


def machine_paths(files):
    """No path of the machine that it was written on."""
    for name in files.names:
        for number, line in enumerate(files.text(name).split("\n"), 1):
            if MACHINE.search(line):
                yield f"{name}:{number}: {line.strip()[:80]}"


def whitespace(files):
    """No blanks at line ends; every file ends with one newline."""
    for name in files.names:
        text = files.text(name)
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip() and not name.endswith(".md"):
                yield f"{name}:{number}: blanks at the end of the line"
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield f"{name}: does not end with exactly one newline"


REASON = re.compile(r'X\((\w+),\s*"([a-z0-9-]+)"')


STATS_PAGE = "man/ctxprop-stats.7"


def reasons(files):
    """Every reason that stats can show is explained in ctxprop-stats(7), and none that is not."""
    known = {name for _, name in REASON.findall(files.text("bpf/reasons.h"))}
    rules, vetoes = files.text("bpf/engine/model.h").split("#define CTXPROP_VETO(X)")
    known |= {f"by-{name}" for _, name in REASON.findall(rules)}
    known |= {f"veto-{name}" for _, name in REASON.findall(vetoes)}
    headings = re.findall(r"^\.TP\n\.B ([a-z0-9\\-]+)$", files.text(STATS_PAGE), re.M)
    told = {name.replace("\\", "") for name in headings}
    for name in sorted(known - told):
        yield f"{STATS_PAGE}: {name} is missing"
    for name in sorted(told - known):
        yield f"{STATS_PAGE}: {name} is no reason of bpf/reasons.h"


LOGGED = re.compile(r"\blog_(?:error|warning|info|debug)\(\s*([^,]*),")
ID_TABLE = re.compile(r"\bids\[\w+\] = \{(.*?)\};", re.S)
ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+|[a-z0-9]+")
TESTED = re.compile(r'logged\([^"\n]*"([a-z0-9-]+)"|\.logs\("([a-z0-9-]+)"|"\[([a-z0-9]+-[a-z0-9-]+)\]"')


def log_ids(files):
    """Each line that the daemon logs has an id of words with hyphens, and tests ask for no id that there is not."""
    known = {"log-lines-lost"}
    for name in files.all_names:
        if not name.startswith(("agent/", "runtimes/")) or not name.endswith(".c"):
            continue
        text = files.text(name)
        tables = " ".join(ID_TABLE.findall(text))
        for call in LOGGED.finditer(text):
            ids = re.findall(r'"([^"]*)"', tables if call[1].startswith("ids[") else call[1])
            if not ids or not all(ID.fullmatch(one) for one in ids):
                line = text.count("\n", 0, call.start()) + 1
                yield f"{name}:{line}: {call[1]} is no id"
            known.update(ids)
    for name in files.all_names:
        if name.startswith("tests/") and name.endswith(".py") and not name.startswith("tests/check/"):
            for found in TESTED.finditer(files.text(name)):
                wanted = found[1] or found[2] or found[3]
                if wanted not in known:
                    yield f"{name}: no message has the id {wanted}"


MAP = re.compile(r'^\} (\w+)(?: __weak)? SEC\("\.maps"\)', re.M)
NODE_MAPS = "agent/load/node_map_names.c"


def node_maps(files):
    """The daemon shares the maps of bpf/engine and runtimes/, but no scratch space (blank_)."""
    declared = {name for header in files.all_names
                if re.match(r"bpf/engine/.*\.bpf\.h$|runtimes/(.*/)?maps\.bpf\.h$", header)
                for name in MAP.findall(files.text(header)) if not name.startswith("blank_")}
    text = files.text(NODE_MAPS).replace("NODE_TRACES_NAME", '"traces_ctx_v1"')
    shared = set(re.findall(r'^    "(\w+)",$', text, re.M))
    for name in sorted(declared - shared):
        yield f"{NODE_MAPS}: {name} is missing"
    for name in sorted(shared - declared):
        yield f"{NODE_MAPS}: {name} is declared neither in bpf/engine nor in runtimes"


# Where texts of others are taken from: stores, names of threads and mappings, messages, heads.
FOREIGN = re.compile(r"sqlite3_column_text\(|sample->comm\b|/comm\"|mapping->path\b|__unpack\(|"
                     r"\bhead_field\(|head->(target|method)\b|\"environ\"")
BROUGHT_IN = ('"base/foreign.h"', '"trace/json.h"')  # json_set_text() brings in what a store says
# Those that compare such texts or hand them on inside, and bring nothing out.
FOREIGN_INSIDE = {
    "agent/inspect/mapped_file.c", "agent/inspect/proc_reader.c", "agent/inspect/subject.c",
    "agent/profile/take/thread_data.c",
    "agent/profile/take/process_context.c",  # its keys are labels': labels.c brings them in
    "agent/trace/busiest.c",  # its rows are printed by cmd/top.c
}
REPAIRED = re.compile(r"\butf8_(length|shown|is_line)\(")
# The gate, those that refuse what is no text, and lines of programs that pass as they are.
MAY_READ_UTF8 = {"agent/base/utf8.c", "agent/base/foreign.c", "agent/profile/take/labels.c", "agent/profile/message/message.c",
                 "agent/profile/names/runtime_text.c", "agent/logs/line.c"}


def foreign_texts(files):
    """Texts of others come in by agent/base/foreign.h, and nothing that goes out repairs them."""
    for name in files.of(".c"):
        text = files.text(name)
        if not name.startswith("agent/"):
            continue
        if REPAIRED.search(text) and name not in MAY_READ_UTF8:
            yield f"{name}: reads UTF-8 by itself; see agent/base/foreign.h"
        found = FOREIGN.search(text)
        if not found and name in FOREIGN_INSIDE:
            yield f"{name}: takes no text of others any more: FOREIGN_INSIDE of tests/check/texts.py"
        if found and name not in FOREIGN_INSIDE and not any(header in text for header in BROUGHT_IN):
            yield f"{name}: {found[0]}: a text of others that has not come in by agent/base/foreign.h"


LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def anchor(heading):
    """As GitHub makes it of a heading: its text in small letters, without marks, blanks as hyphens."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def links(files):
    """Every link from page to page leads to a file, and to a heading of it if it names one."""
    pages = [name for name in files.all_names if name.endswith(".md")]
    folders = {posixpath.dirname(name) for name in files.all_names}
    anchors = {name: {anchor(heading) for heading in HEADING.findall(files.text(name))} for name in pages}
    for name in pages:
        for link in LINK.findall(files.text(name)):
            if "://" in link or link.endswith(".png"):  # pictures are not among the files
                continue
            path, _, heading = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if target not in files.all_names and target not in folders:
                yield f"{name}: {link} leads nowhere"
            elif heading and heading not in anchors.get(target, ()):
                yield f"{name}: {link}: there is no such heading"
