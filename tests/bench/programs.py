# SPDX-License-Identifier: Apache-2.0
"""Different programs that are busy until they are killed, of what a machine has installed."""
import os
import shutil

# Each with what makes it busy for ever: bytes or lines that do not end, or a loop. None of them keeps what it reads.
OF_BYTES = ("cat", "head -c 1E", "od -v", "wc -m", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum",
            "sha512sum", "b2sum", "cksum", "sum", "base32", "base64", "basenc --base16", "tr a b", "dd", "tee",
            "gzip -c", "bzip2 -c", "xz -1 -c", "zstd -1 -c", "lz4 -c", "strings", "xxd",
            "hexdump -v", "openssl sha256")
OF_LINES = ("nl", "fold", "expand", "unexpand", "cut -b 1", "paste -", "uniq", "fmt", "comm - /dev/null", "pr",
            "factor", "numfmt", "sed s/1/2/", "grep -v x", "rev", "jq -c .", "bc", "dc")
LOOPS = ("yes", "seq inf", "shuf -r -i 1-9", "bash -c 'while :; do :; done'", "dash -c 'while :; do :; done'",
         "python3 -c 'while 1: pass'", "perl -e '1 while 1'", "ruby -e 'loop {}'", "node -e 'for (;;);'",
         "mawk 'BEGIN { while (1); }'", "gawk 'BEGIN { while (1); }'",
         "sqlite3 :memory: 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'")
COMMANDS = (*(f"exec {words}" for words in LOOPS), *(f"exec {words} < /dev/zero" for words in OF_BYTES),
            *(f"yes 1 | exec {words}" for words in OF_LINES))


def is_elf(file):
    """Is it a program itself, and no script that starts one?"""
    with open(file, "rb") as program:
        return program.read(4) == b"\x7fELF"


def busy_programs(count):
    """{file: arguments that start it} of so many different ones; fewer if the machine has no more."""
    found = {}
    for command in COMMANDS:
        program = shutil.which(command.split("exec ")[1].split()[0])
        if program and is_elf(program) and len(found) < count:
            found.setdefault(os.path.realpath(program), ["dash", "-c", command])
    return found
