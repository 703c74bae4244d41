# SPDX-License-Identifier: Apache-2.0
"""The parts of vm.py that need no guest: choice of packages, verdicts, the table, a guest's end."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import guest
import kernels
import table
import tests

KERNEL = kernels.Kernel("6.1", "package", "release", Path("vmlinux"), Path("modules"))
ROW = tests.Test("row", "program {build}/argument")


def verdict(status=None, output="", trouble=None):
    """The cell and the printed text for a command that ended so."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        cell = table.cell(guest.Job(["program"], 9), guest.Result(status, trouble, output, 1.0))
    return cell, printed.getvalue()


def column(*rows, short=False):
    """The cells of a kernel in which every command exits with 0, and the commands that ran."""
    ran = []

    def run(kernel, jobs):
        ran.extend(job.argv for job in jobs)
        return [guest.Result(0, None, "", 1.0)] * len(jobs)

    with mock.patch.object(guest, "run", side_effect=run), \
            contextlib.redirect_stdout(io.StringIO()):
        return dict(table.column(KERNEL, rows, Path("/b"), Path("/own"), short)), ran


class Packages(unittest.TestCase):
    def test_newest_by_number_and_without_flavours(self):
        names = ["linux-image-6.12.99+deb12-amd64", "linux-image-6.12.101+deb12-amd64",
                 "linux-image-6.12.102+deb12-cloud-amd64", "linux-image-6.12.102+deb12-rt-amd64",
                 "linux-image-6.12.102+deb12-amd64-unsigned", "linux-image-6.1.0-300-amd64"]
        self.assertEqual(kernels.newest(names, "6.12"), names[1])
        self.assertEqual(kernels.newest(names, "6.1"), names[-1])

    def test_no_kernel_is_an_error_that_names_the_package(self):
        with self.assertRaisesRegex(kernels.FetchError, "linux-image-6.1"):
            kernels.newest(["linux-image-6.12.1+deb12-amd64"], "6.1")

    def test_suites_keep_the_kind_of_the_stanza(self):
        said = "URIs: u\nSuites: s s-updates\n\nURIs: v\nSuites: s-security\n"
        self.assertEqual(kernels.other_suites(said),
                         f"URIs: u\nSuites: {kernels.SUITES}\n\n"
                         f"URIs: v\nSuites: {kernels.SECURITY_SUITES}\n")


class Verdicts(unittest.TestCase):
    def test_exit_0_passes(self):
        self.assertEqual(verdict(status=0)[0].verdict, "pass")

    def test_failure_shows_the_last_lines_and_the_status(self):
        cell, printed = verdict(status=3, output="first\n" * 99 + "last\n")
        self.assertEqual(cell.verdict, "fail")
        self.assertIn("last\n-- exit code 3", printed)

    def test_guest_that_dies_fails_with_the_reason(self):
        cell, printed = verdict(trouble="killed after 9 s")
        self.assertEqual(cell.verdict, "fail")
        self.assertIn("killed after 9 s", printed)

    def test_exit_0_with_a_complaint_of_the_kernel_fails(self):
        cell, printed = verdict(status=0, trouble="the kernel complained:\nWARNING: bad offload")
        self.assertEqual(cell.verdict, "fail")
        self.assertIn("bad offload", printed)

    def test_skip_carries_its_reason(self):
        cell, _ = verdict(status=tests.SKIP_STATUS, output="noise\nno such qdisc\n")
        self.assertEqual((cell.verdict, cell.reason), ("skip", "no such qdisc"))


class Column(unittest.TestCase):
    def test_only_some_tests_have_the_build_of_their_kernel(self):
        _, ran = column(ROW, ROW._replace(own_build=True))
        self.assertEqual(ran, [["program", "/b/argument"], ["program", "/own/argument"]])

    def test_other_kernels_are_skipped_without_a_command(self):
        other = ROW._replace(name="other", kernels=("6.12",))
        cells, ran = column(ROW, other)
        self.assertEqual(len(ran), 1)
        self.assertEqual((cells[other].verdict, cells[other].reason), ("skip", "only for 6.12"))

    def test_the_short_table_leaves_out_what_it_has_for_another_kernel(self):
        other = ROW._replace(short=("6.12",))
        cells, ran = column(other, short=True)
        self.assertEqual((cells[other].verdict, ran), ("skip", []))
        self.assertEqual(len(column(other)[1]), 1)


class Table(unittest.TestCase):
    def run_table(self, *cells, only=("",)):
        """Exit code and text of a table with one kernel and these cells, one a row."""
        rows = [ROW._replace(name=f"row {number}") for number in range(len(cells))]
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as build, \
                mock.patch.object(kernels, "get", return_value=KERNEL), \
                mock.patch.object(tests, "TESTS", rows), \
                mock.patch.object(table, "column", return_value=zip(rows, cells)), \
                contextlib.redirect_stdout(printed):
            (Path(build) / "ctxpropd").touch()
            return table.run(["6.1"], Path("."), Path(build), {}, True, only), printed.getvalue()

    def test_one_failure_fails_the_table(self):
        status, printed = self.run_table(table.Cell("pass", "", 1), table.Cell("fail", "", 2))
        self.assertEqual(status, 1)
        self.assertRegex(printed, r"row 1 +fail +2\.0 s")

    def test_skips_beside_a_pass_do_not(self):
        status, printed = self.run_table(table.Cell("pass", "", 1), table.Cell("skip", "why", 0))
        self.assertEqual(status, 0)
        self.assertIn("skip: row 1 on 6.1: why", printed)

    def test_a_table_that_ran_nothing_fails(self):
        self.assertEqual(self.run_table(only=["no such row"])[0], 1)


class GuestsEnd(unittest.TestCase):
    def result(self, number=0, timed_out_after=None, **files):
        with tempfile.TemporaryDirectory() as folder:
            share = Path(folder) / "share"
            share.mkdir()
            for name, said in files.items():
                place = Path(folder) if name in ("qemu", "console") else share
                (place / name).write_text(said)
            return guest.result(Path(folder), number, 1.0, timed_out_after)

    def test_status_is_what_the_command_said(self):
        done = self.result(started0="", status0="5\n", output0="said\n")
        self.assertEqual((done.status, done.output, done.trouble), (5, "said\n", None))

    def test_warning_of_the_kernel_is_trouble(self):
        console = f"boot\n{guest.CONSOLE_MARK}\n[ 1.0] WARNING: CPU: 0 at skb.c\n"
        done = self.result(started0="", status0="0\n", console=console)
        self.assertIn("kernel complained:\nWARNING: CPU: 0 at skb.c", done.trouble)

    def test_warning_counts_for_the_job_in_which_it_came(self):
        mark = f"{guest.CONSOLE_MARK}\r\n"
        console = f"boot\n{mark}fine\n{mark}WARNING: late\n"
        files = {"status0": "0\n", "status1": "0\n", "console": console}
        self.assertIsNone(self.result(0, **files).trouble)
        self.assertIn("WARNING: late", self.result(1, **files).trouble)

    def test_warning_at_boot_counts_for_the_first_job(self):
        files = {"status0": "0\n", "status1": "0\n",
                 "console": f"WARNING: early\n{guest.CONSOLE_MARK}\n{guest.CONSOLE_MARK}\n"}
        self.assertIn("WARNING: early", self.result(0, **files).trouble)
        self.assertIsNone(self.result(1, **files).trouble)

    def test_panic_shows_the_console(self):
        done = self.result(started0="", console="Kernel panic\n")
        self.assertIsNone(done.status)
        self.assertIn("ended, in the command\n-- console:\nKernel panic", done.trouble)

    def test_deadline_before_the_command_is_told_apart(self):
        done = self.result(timed_out_after=7, qemu="no memory\n")
        self.assertIn("killed after 7 s, before the command started\n-- qemu:\nno memory",
                      done.trouble)


FINE = guest.Result(0, None, "said\n", 1.0)
SILENT = guest.Result(None, "the guest ended, before the command started", "", 2.3)
ENDED = guest.Result(None, "the guest ended, in the command", "", 1.0)
INT3 = "[ 1.1] Oops: int3: 0000\n"


class Boots(unittest.TestCase):
    def run_guest(self, jobs, *boots):
        """Run so many jobs where the boots go as told; the Results, and the jobs of each boot."""
        with mock.patch.object(guest, "run_once", side_effect=boots) as once, \
             contextlib.redirect_stderr(io.StringIO()):
            done = list(guest.run(KERNEL, list(range(jobs))))
        return done, [call.args[1] for call in once.call_args_list]

    def test_silent_end_at_boot_is_done_again(self):
        done = self.run_guest(1, [(SILENT, "mtrr: inconsistent\n")], [(FINE, "")])
        self.assertEqual(done, ([FINE], [[0], [0]]))

    def test_panic_at_boot_and_late_end_stand(self):
        late = SILENT._replace(seconds=30.0)
        for result, console in ((SILENT, "Kernel panic - not syncing\n"), (late, "")):
            self.assertEqual(self.run_guest(1, [(result, console)])[0], [result])

    def test_jobs_share_one(self):
        done = self.run_guest(2, [(FINE, ""), (FINE, "")])
        self.assertEqual(done, ([FINE, FINE], [[0, 1]]))

    def test_the_rest_has_one_of_its_own_after_an_end(self):
        done = self.run_guest(3, [(FINE, ""), (ENDED, "Kernel panic")], [(FINE, "")])
        self.assertEqual(done, ([FINE, ENDED, FINE], [[0, 1, 2], [2]]))

    def test_what_qemu_breaks_is_booted_again(self):
        done = self.run_guest(2, [(FINE, ""), (ENDED, INT3)], [(FINE, "")])
        self.assertEqual(done, ([FINE, FINE], [[0, 1], [1]]))

    def test_what_qemu_breaks_again_and_again_is_given_up(self):
        done = self.run_guest(1, *[[(ENDED, INT3)]] * guest.BOOTS)
        self.assertEqual(done, ([ENDED], [[0]] * guest.BOOTS))

    def test_another_oops_is_no_reason(self):
        done = self.run_guest(1, [(ENDED, "[ 1.1] Oops: 0002 [#1]\n")])
        self.assertEqual(done, ([ENDED], [[0]]))


if __name__ == "__main__":
    unittest.main()
