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


def verdict(status=None, output="", trouble=None, test=ROW):
    """The cell and the printed text for a guest that ended so."""
    ended = guest.Result(status, trouble, output, 1.0)
    printed = io.StringIO()
    with mock.patch.object(guest, "run", return_value=ended) as run:
        with contextlib.redirect_stdout(printed):
            cell = table.cell(KERNEL, test, Path("/b"))
    return cell, printed.getvalue(), run


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
    def test_exit_0_passes_and_the_build_folder_is_filled_in(self):
        cell, _, run = verdict(status=0)
        self.assertEqual(cell.verdict, "pass")
        self.assertEqual(run.call_args.args[1], ["program", "/b/argument"])

    def test_failure_shows_the_last_lines_and_the_status(self):
        cell, printed, _ = verdict(status=3, output="first\n" * 99 + "last\n")
        self.assertEqual(cell.verdict, "fail")
        self.assertIn("last\n-- exit code 3", printed)

    def test_guest_that_dies_fails_with_the_reason(self):
        cell, printed, _ = verdict(trouble="killed after 9 s")
        self.assertEqual(cell.verdict, "fail")
        self.assertIn("killed after 9 s", printed)

    def test_exit_0_with_a_complaint_of_the_kernel_fails(self):
        cell, printed, _ = verdict(status=0, trouble="the kernel complained:\nWARNING: bad offload")
        self.assertEqual(cell.verdict, "fail")
        self.assertIn("bad offload", printed)

    def test_skip_carries_its_reason(self):
        cell, _, _ = verdict(status=tests.SKIP_STATUS, output="noise\nno such qdisc\n")
        self.assertEqual((cell.verdict, cell.reason), ("skip", "no such qdisc"))

    def test_other_kernels_are_skipped_without_a_boot(self):
        cell, _, run = verdict(status=0, test=ROW._replace(kernels=("6.12",)))
        self.assertEqual((cell.verdict, cell.reason), ("skip", "only for 6.12"))
        run.assert_not_called()


class Table(unittest.TestCase):
    def run_table(self, *cells, only=""):
        """Exit code and text of a table with one kernel and these cells, one a row."""
        rows = [ROW._replace(name=f"row {number}") for number in range(len(cells))]
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as build, \
                mock.patch.object(kernels, "get", return_value=KERNEL), \
                mock.patch.object(tests, "TESTS", rows), \
                mock.patch.object(table, "cell", side_effect=cells), \
                contextlib.redirect_stdout(printed):
            (Path(build) / "ctxpropd").touch()
            return table.run(["6.1"], Path("."), Path(build), {}, True, only), printed.getvalue()

    def test_only_some_tests_have_the_build_of_their_kernel(self):
        rows = [ROW._replace(name="one", own_build=True), ROW._replace(name="other")]
        with tempfile.TemporaryDirectory() as build, tempfile.TemporaryDirectory() as own, \
                mock.patch.object(kernels, "get", return_value=KERNEL), \
                mock.patch.object(tests, "TESTS", rows), \
                mock.patch.object(table, "cell", return_value=table.Cell("pass", "", 1)) as cell, \
                contextlib.redirect_stdout(io.StringIO()):
            for folder in (build, own):
                (Path(folder) / "ctxpropd").touch()
            table.run(["6.1"], Path("."), Path(build), {"6.1": Path(own)}, True, "")
            self.assertEqual([call.args[2] for call in cell.call_args_list],
                             [Path(own).resolve(), Path(build).resolve()])

    def test_one_failure_fails_the_table(self):
        status, printed = self.run_table(table.Cell("pass", "", 1), table.Cell("fail", "", 2))
        self.assertEqual(status, 1)
        self.assertRegex(printed, r"row 1 +fail +2\.0 s")

    def test_skips_beside_a_pass_do_not(self):
        status, printed = self.run_table(table.Cell("pass", "", 1), table.Cell("skip", "why", 0))
        self.assertEqual(status, 0)
        self.assertIn("skip: row 1 on 6.1: why", printed)

    def test_a_table_that_ran_nothing_fails(self):
        self.assertEqual(self.run_table(only="no such row")[0], 1)


class GuestsEnd(unittest.TestCase):
    def result(self, timed_out_after=None, **files):
        with tempfile.TemporaryDirectory() as folder:
            share = Path(folder) / "share"
            share.mkdir()
            for name, said in files.items():
                place = Path(folder) if name in ("qemu", "console") else share
                (place / name).write_text(said)
            return guest.result(Path(folder), 1.0, timed_out_after)

    def test_status_is_what_the_command_said(self):
        done = self.result(started="", status="5\n", output="said\n")
        self.assertEqual((done.status, done.output, done.trouble), (5, "said\n", None))

    def test_warning_of_the_kernel_is_trouble(self):
        console = "boot\n[ 1.0] WARNING: CPU: 0 at skb.c\n"
        done = self.result(started="", status="0\n", console=console)
        self.assertIn("kernel complained:\nWARNING: CPU: 0 at skb.c", done.trouble)

    def test_panic_shows_the_console(self):
        done = self.result(started="", console="Kernel panic\n")
        self.assertIsNone(done.status)
        self.assertIn("ended, in the command\n-- console:\nKernel panic", done.trouble)

    def test_deadline_before_the_command_is_told_apart(self):
        done = self.result(timed_out_after=7, qemu="no memory\n")
        self.assertIn("killed after 7 s, before the command started\n-- qemu:\nno memory",
                      done.trouble)


class GuestsThatQemuBreaks(unittest.TestCase):
    ENDED = guest.Result(None, "the guest ended, in the command", "", 1.0)

    def run_guest(self, *boots):
        """Run where each boot ends as told; returns the Result and how often it was booted."""
        with mock.patch.object(guest, "run_once", side_effect=boots) as once, \
             contextlib.redirect_stderr(io.StringIO()):
            done = guest.run(KERNEL, ["true"], 1)
        return done, once.call_count

    def test_are_booted_again(self):
        fine = guest.Result(0, None, "said\n", 1.0)
        done = self.run_guest((self.ENDED, "[ 1.1] Oops: int3: 0000\n"), (fine, ""))
        self.assertEqual(done, (fine, 2))

    def test_are_given_up(self):
        done = self.run_guest(*[(self.ENDED, "[ 1.1] Oops: int3: 0000\n")] * guest.BOOTS)
        self.assertEqual(done, (self.ENDED, guest.BOOTS))

    def test_another_oops_is_no_reason(self):
        done = self.run_guest((self.ENDED, "[ 1.1] Oops: 0002 [#1]\n"))
        self.assertEqual(done, (self.ENDED, 1))


if __name__ == "__main__":
    unittest.main()
