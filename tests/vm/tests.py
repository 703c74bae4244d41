# SPDX-License-Identifier: Apache-2.0
"""What `vm.py table` runs, in which kernels.

A command runs in the repository's folder; {build} stands for the build folder. A command skips by
exit code 77; its last line of output is the reason then. `seconds` is wall clock, boot included.
`kernels` names the series that a test is for; None stands for all.
"""
from collections import namedtuple

SKIP_STATUS = 77

Test = namedtuple("Test", "name command kernels short seconds", defaults=(None, True, 60))

TESTS = (
    Test("platform", "python3 tests/vm/platform_check.py"),
    Test("verifier tc", "bpftool prog loadall {build}/bpf/tc.bpf.o /sys/fs/bpf/tc"),
    Test("attach clsact", "python3 tests/vm/attach_check.py --build {build} clsact"),
    Test("attach tcx", "python3 tests/vm/attach_check.py --build {build} tcx"),
    Test("netem sweep", "python3 tests/vm/netem_sweep.py --build {build} --requests 100",
         seconds=300),
)
