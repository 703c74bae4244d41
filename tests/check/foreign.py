# SPDX-License-Identifier: Apache-2.0
"""Who reads strangers' memory and files: a file that somebody else's server has to bring may never come, so only
processes that can be given up may do that (docs/agent.md). Each yields one line per wrong place."""
import re

# What may wait for a stranger: how it is called, and what it stands in for.
READERS = {
    "memory": re.compile(r"\bprocess_memory_(?:read|text|is|u16|u32|u64)\(|\bprocess_vm_readv\b"),
    "mappings": re.compile(r"\bmapping_each\("),
    "files": re.compile(r"\bmapped_file_open(?:_program)?\(|\bsubject_open\(|\belf_image_open\("),
    "what /proc has": re.compile(r"(?:\"/proc/%\w+/(?:task/%\w+/)?|\b\w*(?:open|stat|access|read_proc|read_piece)\w*\([^\"(]*\")"
                                 r"(?:mem|maps|smaps|smaps_rollup|numa_maps|map_files|environ|cmdline|root|cwd|exe)\b"),
    "descriptors": re.compile(r"\bSYS_pidfd_getfd\b|\bpidfd_getfd\("),
    "what a debugger does": re.compile(r"\bptrace\(|\b(?:elf_begin|elf_memory|dwarf_begin\w*|dwfl_\w+)\("),
}
# A BPF program that may sleep waits for pages of whom it reads, in whatever that one does.
SLEEPS = re.compile(r"\bbpf_copy_from_user\w*|\bSEC\(\"[\w+]+\.s[/\"]|\bBPF_F_SLEEPABLE\b")
COMMENT = re.compile(r"\s*(?:/\*| \*)")

# Where that is done, and why nobody waits for it: the file is what such a process runs, or it asks one.
READ = {
    "agent/inspect/process_memory.c": "the reading itself",
    "agent/inspect/process_memory.h": "its declaration",
    "agent/inspect/process_memory_values.c": "the same as values",
    "agent/inspect/mapping.c": "the reading itself",
    "agent/inspect/mapping.h": "its declaration",
    "agent/inspect/mapped_file.c": "the opening itself; /proc/self/maps is our own",
    "agent/inspect/mapped_file.h": "its declaration",
    "agent/inspect/subject.c": "the opening itself",
    "agent/inspect/subject.h": "its declaration",
    "agent/inspect/elf_image.c": "the opening itself",
    "agent/inspect/elf_image.h": "its declaration",
    "agent/inspect/proc_server.c": "runs in the process of proc_reader.c",
    "agent/inspect/proc_reader.c": "asks proc_server.c for \"maps\"",
    "agent/inspect/library.c": "called by classify() and compiled.c, in their sandboxes",
    "agent/inspect/code_location.c": "in the sandbox of code_location_find()",
    "agent/runtime/classify.c": "in the sandbox of inspector.c",
    "agent/inspect/confined.c": "in the sandbox of confined_run()",
    "agent/profile/names/name_reader.c": "in the sandbox that it starts",
    "agent/profile/take/files.c": "of our own process: the vDSO",
    "agent/trace/service.c": "asks proc_reader.c for arguments and environment; where exe leads to is the kernel's",
    "agent/inspect/holders.c": "of a socket, in the command, whose user waits for it; see SECURITY.md",
    "agent/cmd/bundle_facts.c": "of the daemon, in the command, whose user waits for it",
    "agent/inspect/process.c": "asks where exe leads to, and the kernel for what it knows of that",
}
# Each runtime's reading is called by classify() or by name_reader.c, in their sandboxes; compiled.c has its own.
FOLDERS = ("runtimes/",)


def readers(files):
    """Only those that are known to be in a process that can be given up read strangers' memory and files."""
    for name in files.of(".c", ".h"):
        if not name.startswith(("agent/", "runtimes/")) or name.startswith(FOLDERS) or name in READ:
            continue
        for number, line in enumerate(files.text(name).splitlines(), 1):
            for what, pattern in READERS.items():
                if pattern.search(line) and not COMMENT.match(line):
                    yield f"{name}:{number}: reads {what} of strangers; by proc_reader.h, or in a sandbox (foreign.py)"


def compiled(files):
    """What reads for a runtime outside classify() and the names begins with a sandbox."""
    for name in files.of("/compiled.c"):
        text = files.text(name)
        if READERS["files"].search(text) and "confined_call(" not in text:
            yield f"{name}: opens files of strangers, and has no confined_call()"


def readers_known(files):
    """What is in the list is there, and still reads."""
    for name in READ:
        if name in files.names and not any(pattern.search(files.text(name)) for pattern in READERS.values()):
            yield f"{name}: reads nothing of strangers any more: it is to go from foreign.py"


def sleeping(files):
    """No BPF program may wait for a page of a stranger."""
    for name in files.of(".bpf.c", ".bpf.h"):
        for number, line in enumerate(files.text(name).splitlines(), 1):
            if SLEEPS.search(line) and not COMMENT.match(line):
                yield f"{name}:{number}: may sleep, and so wait for a page that never comes (foreign.py)"
