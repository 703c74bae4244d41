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
    Test("verifier tc", "bpftool prog loadall {build}/bpf/tc.bpf.o /sys/fs/bpf/tc", seconds=120),
    Test("verifier go", "bpftool prog loadall {build}/bpf/go_probes.bpf.o /sys/fs/bpf/go"),
    Test("verifier python",
         "bpftool prog loadall {build}/bpf/python_probes.bpf.o /sys/fs/bpf/python"),
    Test("verifier ruby",
         "bpftool prog loadall {build}/bpf/ruby_probes.bpf.o /sys/fs/bpf/ruby"),
    Test("verifier haproxy",
         "bpftool prog loadall {build}/bpf/haproxy_probes.bpf.o /sys/fs/bpf/haproxy"),
    Test("verifier node",
         "bpftool prog loadall {build}/bpf/node_probes.bpf.o /sys/fs/bpf/node"),
    Test("packets", "ctest --test-dir {build} -L bpf --no-tests=error --output-on-failure",
         seconds=600),
    Test("attach clsact", "python3 tests/vm/attach_check.py --build {build} clsact", seconds=120),
    Test("attach tcx", "python3 tests/vm/attach_check.py --build {build} tcx", seconds=120),
    Test("follow", "python3 tests/net/run.py --build {build} --jobs 1 serving contexts.server_killed"
         " contexts.thread_ends contexts.program_becomes_another record.server_of_two_threads"
         " record.stacks", seconds=300),
    Test("pods", "python3 tests/net/run.py --build {build} --jobs 1 pods.found pods.gone",
         seconds=300),
    Test("profile", "python3 tests/profile/sampling.py --build {build} C", seconds=300),
    Test("w3c", "python3 tests/w3c/conformance.py --build {build}", short=False, seconds=600),
    Test("netem sweep", "python3 tests/vm/netem_sweep.py --build {build} --requests 200",
         seconds=300),
    Test("netem sweep, long",
         "python3 tests/vm/netem_sweep.py --build {build} --requests 3000 --seed 100",
         short=False, seconds=1200),
    Test("agent", "python3 tests/net/test_agent.py --build {build}", short=False, seconds=1200),
    Test("net", "python3 tests/net/run.py --build {build} --jobs 1", short=False, seconds=1200),
)
