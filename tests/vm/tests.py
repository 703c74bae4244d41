# SPDX-License-Identifier: Apache-2.0
"""What `vm.py table` runs, in which kernels.

A command runs in the repository's folder; {build} stands for the build folder. A command skips by
exit code 77; its last line of output is the reason then. `seconds` is wall clock, boot included.
`kernels` names the series that a test is for, `short` those where the short table has it; ALL: all.
`own_build`: it runs with the build of --build-of, if there is one for its kernel.
"""
import shlex
from collections import namedtuple

SKIP_STATUS = 77

# The probes proper are not among them: the daemon tries their hooks one by one (test "doctor").
# What says who writes log lines is for kernels that have its hook, since 6.3. What the profiler
# takes is read-only data: it is loaded with all of it, with some, and with nothing.
LOAD_ALL = """
case $(uname -r) in 5.* | 6.[0-2].*) lines= ;; *) lines=lines_bpf ;; esac
for o in tc connections_bpf go_probes python_probes python_show ruby_probes haproxy_probes node_probes profile_bpf who_bpf trace_readers_bpf moment_bpf $lines; do
	echo "$o:"
	bpftool prog loadall {build}/bpf/$o.bpf.o /sys/fs/bpf/$o
	rm -r /sys/fs/bpf/$o
done
for part in "" --off-cpu "--no-labels all"; do
	echo "profile $part:"
	{build}/ctxprop profile $part -d 1s
done
"""
PACKETS = r"{build}/bpf_tests 2>&1 | grep -vE '^\[ +(RUN|OK) '"

ALL, NONE = None, ()
Test = namedtuple("Test", "name command kernels short seconds own_build",
                  defaults=(ALL, ALL, 60, False))

TESTS = (
    Test("platform", "python3 tests/vm/platform_check.py"),
    Test("verifier", f"sh -ec {shlex.quote(LOAD_ALL)}", seconds=400, own_build=True),
    Test("doctor", "python3 tests/vm/doctor_check.py --build {build}", seconds=300,
         own_build=True),
    # One process, so that the verifier sees the programs once.
    Test("packets", f"bash -o pipefail -c {shlex.quote(PACKETS)}", seconds=600,
         own_build=True),
    Test("attach clsact", "python3 tests/vm/attach_check.py --build {build} clsact",
         short=("6.1",), seconds=300),
    Test("attach tcx", "python3 tests/vm/attach_check.py --build {build} tcx", seconds=300),
    Test("follow", "python3 tests/net/run.py --build {build} --jobs 1 serving", seconds=300),
    Test("contexts", "python3 tests/net/run.py --build {build} --jobs 1 contexts.server_killed"
         " contexts.thread_ends contexts.program_becomes_another record.server_of_two_threads"
         " record.stacks", short=("6.12",), seconds=300),
    Test("preempt", "python3 tests/vm/preempt_check.py --build {build} --requests 40 python-threads"
         " node-kept puma", short=NONE, seconds=900),
    Test("preempt, Go", "python3 tests/vm/preempt_check.py --build {build} --requests 40 go",
         short=NONE, seconds=900),
    Test("pods", "python3 tests/net/run.py --build {build} --jobs 1 pods.found pods.gone",
         short=("6.12",), seconds=300),
    Test("profile", "python3 tests/profile/sampling.py --build {build} C", short=("6.1",),
         seconds=300),
    Test("w3c", "python3 tests/w3c/conformance.py --build {build}", short=NONE, seconds=600),
    Test("netem sweep", "python3 tests/vm/netem_sweep.py --build {build} --requests 200",
         short=NONE, seconds=300),
    Test("netem sweep, long",
         "python3 tests/vm/netem_sweep.py --build {build} --requests 3000 --seed 100",
         short=NONE, seconds=1200),
    Test("cards", "python3 tests/vm/card_sweep.py --build {build} --requests 200",
         short=NONE, seconds=900),
    Test("agent", "python3 tests/agent/run.py --build {build}", short=NONE, seconds=1200),
    Test("net", "python3 tests/net/run.py --build {build} --jobs 1", short=NONE, seconds=1200),
)
