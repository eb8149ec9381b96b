# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""mpiexec explains jobs that stand still. The jobs mostly sleep, so all of them run at the same time."""
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from support import MPIEXEC

DEADLOCKS = os.environ["DEADLOCKS"]
# A rank says what it waits for when it first sleeps. Before that it yields a thousand times, each of which takes
# milliseconds on a machine with other work.
os.environ.setdefault("FULMAR_WAIT", "sleep")
JOBS = {
    "head_to_head": 2,
    "ssend_ring": 3,
    "wrong_tag": 2,
    "wrong_source": 3,
    "missing_in_barrier": 3,
    "one_in_finalize": 2,
    "different_collectives": 2,
    "wrong_arguments": 2,
    "wrong_communicator": 2,
    "wait_for_irecv": 2,
    "probe": 2,
    "from_itself": 1,
    "part_of_the_ranks": 4,
    "two_duplicates": 2,
    "many_unreceived": 2,
    "test_loop": 2,
    "probe_loop": 2,
    "computes_and_tests": 2,
    "crossed_locks": 2,
    "lock_kept": 3,
    "start_without_post": 2,
    "wait_without_complete": 3,
    "missing_in_fence": 2,
    "sleeps": 3,
    "computes": 2,
    "crawls": 2,
    "one_in_write_all": 2,
    "one_in_iread_all": 2,
    "with_its_child": 1,
    "merged_barrier": 1,
    "children_alone": 1,
    "waits_for_slow_child": 1,
}


# On the memory of a node a Barrier and a Gatherv of other ranks complete each other, and a call whose arguments are
# wrong takes part: there Gatherv and Iallreduce go by messages.
BY_MESSAGES = {"FULMAR_COLL": "gather:direct,allreduce:doubling"}


class Deadlock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = {}
        cls.code = {}
        running = {
            name: subprocess.Popen(
                [MPIEXEC, "--deadlock-timeout", "1.5", "--deadlock-abort", "-n", str(ranks), DEADLOCKS, name],
                env=os.environ | (BY_MESSAGES if name in ("different_collectives", "wrong_arguments") else {}),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for name, ranks in JOBS.items()}
        reporting = subprocess.Popen(
            [MPIEXEC, "--deadlock-timeout", "1", "--timeout", "100", "-n", "2", DEADLOCKS, "head_to_head"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ("crossed_locks", "lock_kept"):
            running[name + " over tcp"] = subprocess.Popen(
                [MPIEXEC, "--deadlock-timeout", "1.5", "--deadlock-abort", "-n", str(JOBS[name]), DEADLOCKS, name],
                env=os.environ | {"FULMAR_FABRIC": "tcp"},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running["off"] = subprocess.Popen(
            [MPIEXEC, "--deadlock-timeout", "0", "--timeout", "6", "-n", "2", DEADLOCKS, "head_to_head"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running["default"] = subprocess.Popen(
            [MPIEXEC, "--deadlock-abort", "--timeout", "80", "-n", "2", DEADLOCKS, "head_to_head"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running["of the environment"] = subprocess.Popen(
            [MPIEXEC, "--deadlock-abort", "--timeout", "80", "-n", "2", DEADLOCKS, "head_to_head"],
            env={**os.environ, "FULMAR_DEADLOCK_TIMEOUT": "2"},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running["accepts"] = subprocess.Popen(
            [MPIEXEC, "--deadlock-timeout", "1", "--deadlock-abort", "--timeout", "6", "-n", "2", DEADLOCKS, "accepts"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        port = pathlib.Path(folder.name, "port")
        for name, ranks in (("waits_for_client", 2), ("slow_client", 1)):
            running[name] = subprocess.Popen(
                [MPIEXEC, "--deadlock-timeout", "1", "--deadlock-abort", "-n", str(ranks), DEADLOCKS, name, port],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 60
            while not (port.exists() and port.read_text().endswith("\n")) and time.monotonic() < deadline:
                time.sleep(0.05)
        singleton = subprocess.Popen([DEADLOCKS, "children_alone"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
        for name, process in running.items():
            try:
                cls.text[name] = process.communicate(timeout=90)[1].decode()
            except subprocess.TimeoutExpired:
                process.terminate()
                cls.text[name] = "no report within 90 s\n" + process.communicate()[1].decode()
            cls.code[name] = process.returncode
        lines = []
        while not lines or (lines[-1] and b"rank 1: MPI_Recv" not in lines[-1]):
            lines.append(singleton.stderr.readline())
        singleton.kill()
        cls.text["singleton"] = (b"".join(lines) + singleton.communicate()[1]).decode()
        lines = []
        while not lines or (lines[-1] and b"goes on waiting" not in lines[-1]):
            lines.append(reporting.stderr.readline())
        cls.code["reports only"] = reporting.poll()
        reporting.terminate()
        cls.text["reports only"] = (b"".join(lines) + reporting.communicate()[1]).decode()

    def says(self, name, *parts):
        """The report has these lines, in this order."""
        text = self.text[name]
        self.assertEqual(self.code[name], 125, text)
        at = text.find("mpiexec: deadlock: ")
        self.assertGreaterEqual(at, 0, text)
        for part in parts:
            next_at = text.find(part, at)
            self.assertGreaterEqual(next_at, 0, f"not there, or not in this order: {part}\n{text}")
            at = next_at

    def test_head_to_head(self):
        self.says("head_to_head", "a cycle: rank 0 waits for rank 1, and that for rank 0",
                  "rank 0: MPI_Recv from rank 1 tag 7 on MPI_COMM_WORLD (4 bytes)",
                  "rank 1: MPI_Recv from rank 0 tag 7 on MPI_COMM_WORLD (4 bytes)")

    def test_ring_of_synchronous_sends(self):
        self.says("ssend_ring",
                  "a cycle: rank 0 waits for rank 1, that for rank 2, and that for rank 0",
                  "rank 0: MPI_Ssend to rank 1 tag 4", "rank 1: MPI_Ssend to rank 2 tag 4",
                  "rank 2: MPI_Ssend to rank 0 tag 4")

    def test_wrong_tag(self):
        self.says("wrong_tag", "a cycle", "rank 1: MPI_Recv from rank 0 tag 7 on MPI_COMM_WORLD",
                  "it has not received a message of 4 bytes from rank 0 tag 8 on MPI_COMM_WORLD")

    def test_wrong_source(self):
        self.says("wrong_source", "a cycle: rank 0 waits for rank 1, and that for rank 0",
                  "rank 1: MPI_Recv from rank 0 tag 5",
                  "it has not received a message of 4 bytes from rank 2 tag 5",
                  "besides them", "rank 2: MPI_Recv from rank 1 tag 5")

    def test_a_rank_is_missing_in_a_barrier(self):
        self.says("missing_in_barrier", "a cycle: rank 0 waits for rank 2, and that for rank 0",
                  "rank 0: MPI_Barrier on MPI_COMM_WORLD", "rank 2: MPI_Recv from rank 0 tag 1",
                  "MPI_Barrier on MPI_COMM_WORLD: ranks 0 1 are in it, rank 2 is in MPI_Recv")

    def test_one_rank_has_finalized(self):
        self.says("one_in_finalize", "rank 0: MPI_Barrier on MPI_COMM_WORLD",
                  "MPI_Barrier on MPI_COMM_WORLD: rank 0 is in it, rank 1 has left MPI",
                  "rank 1 has left MPI (MPI_Finalize)")
        self.assertNotIn("cycle", self.text["one_in_finalize"])

    def test_collective_calls_on_files(self):
        self.says("one_in_write_all", "a cycle", "rank 0: MPI_Recv from rank 1 tag 2",
                  'rank 1: MPI_File_write_all on file "/tmp/fulmar-deadlocks-',
                  'MPI_File_write_all on file "/tmp/fulmar-deadlocks-', "rank 1 is in it, rank 0 is in MPI_Recv")
        self.says("one_in_iread_all", "rank 0: MPI_Recv from rank 1 tag 2",
                  'rank 1: MPI_Wait for a collective read on file "/tmp/fulmar-deadlocks-')

    def test_different_collectives(self):
        self.says("different_collectives", "a cycle", "rank 0: MPI_Barrier on MPI_COMM_WORLD",
                  "rank 1: MPI_Gatherv on MPI_COMM_WORLD",
                  "MPI_Barrier on MPI_COMM_WORLD: rank 0 is in it, rank 1 is in MPI_Gatherv",
                  "MPI_Gatherv on MPI_COMM_WORLD: rank 1 is in it, rank 0 is in MPI_Barrier")

    def test_wrong_arguments(self):
        self.says("wrong_arguments", "rank 0: MPI_Recv from rank 1 tag 1 on MPI_COMM_WORLD",
                  "it has taken no part in MPI_Iallreduce on MPI_COMM_WORLD, because its arguments were wrong",
                  "rank 1: MPI_Wait for MPI_Iallreduce on MPI_COMM_WORLD")

    def test_wrong_communicator(self):
        self.says("wrong_communicator", "rank 1: MPI_Recv from rank 0 tag 3 on MPI_COMM_WORLD",
                  "it has not received a message of 4 bytes from rank 0 tag 3 on the other one")

    def test_wait_for_a_receive(self):
        self.says("wait_for_irecv", "a cycle",
                  "rank 0: MPI_Wait for a receive from rank 1 tag 10 on MPI_COMM_WORLD",
                  "rank 1: MPI_Wait for a receive from rank 0 tag 11 on MPI_COMM_WORLD")

    def test_probe(self):
        self.says("probe", "rank 0: MPI_Probe from rank 1 tag 3 on MPI_COMM_WORLD",
                  "rank 1: MPI_Recv from rank 0 tag 6")

    def test_loops_of_tests(self):
        self.says("test_loop", "a cycle: rank 0 waits for rank 1, and that for rank 0",
                  "rank 0: MPI_Test for a receive from rank 1 tag 20 on MPI_COMM_WORLD",
                  "rank 1: MPI_Test for a receive from rank 0 tag 21 on MPI_COMM_WORLD")

    def test_loop_of_probes(self):
        self.says("probe_loop", "rank 0: MPI_Iprobe from rank 1 tag 8 on MPI_COMM_WORLD",
                  "MPI_Barrier on MPI_COMM_WORLD: rank 1 is in it, rank 0 is in MPI_Iprobe")

    def test_a_rank_waits_for_itself(self):
        self.says("from_itself", "a cycle: rank 0 waits for itself", "rank 0: MPI_Recv from rank 0 tag 2")

    def test_ranks_of_a_part(self):
        self.says("part_of_the_ranks", "rank 0: MPI_Recv from rank 1 tag 9 on MPI_COMM_WORLD",
                  "rank 2: MPI_Recv from rank 1 (3 of the job) tag 9 on a communicator of 2 ranks (ranks 2 3 of the job, number ")

    def test_communicators_of_the_same_ranks_are_told_apart(self):
        self.says("two_duplicates", "MPI_Barrier on a communicator of 2 ranks (ranks 0 1 of the job, number ")
        text = self.text["two_duplicates"]
        numbers = re.findall(r"rank [01]: MPI_Barrier on .*, number (\d+)\)", text)
        self.assertEqual((len(numbers), len(set(numbers))), (2, 2), text)

    def test_messages_beyond_the_room_for_hints_are_counted(self):
        self.says("many_unreceived", "it has not received a message of 4 bytes from rank 0 tag 100 on MPI_COMM_WORLD\n")
        text = self.text["many_unreceived"]
        whole = re.findall(r"it has not received a message of 4 bytes from rank 0 tag \d+ on MPI_COMM_WORLD\n", text)
        more = re.search(r"and (\d+) more\n", text)
        self.assertEqual(text.count("it has not received"), len(whole), text)
        self.assertEqual(len(whole) + int(more[1]), 9, text)

    def test_locks_in_a_circle(self):
        self.says("crossed_locks", "a cycle: rank 0 waits for rank 1, and that for rank 0",
                  "rank 0: MPI_Win_lock for the shared lock of rank 1 of window halo\n",
                  "  rank 1 holds it (exclusive) since MPI_Win_lock\n",
                  "rank 1: MPI_Win_lock for the shared lock of rank 0 of window halo\n",
                  "  rank 0 holds it (exclusive) since MPI_Win_lock\n")

    def test_locks_in_a_circle_over_a_network(self):
        self.says("crossed_locks over tcp", "a cycle: rank 0 waits for rank 1, and that for rank 0",
                  "rank 0: MPI_Win_unlock for operations behind the shared lock of rank 1 of window halo\n",
                  "  rank 1 holds it (exclusive) since MPI_Win_lock\n",
                  "rank 1: MPI_Win_unlock for operations behind the shared lock of rank 0 of window halo\n")

    def test_lock_that_is_not_given_back(self):
        self.says("lock_kept", "a cycle: ", "rank 1: MPI_Barrier on MPI_COMM_WORLD\n",
                  "rank 2: MPI_Win_lock for the exclusive lock of rank 0 of window halo\n",
                  "  rank 1 holds it (shared) since MPI_Win_lock_all\n",
                  "MPI_Barrier on MPI_COMM_WORLD: ranks 0 1 are in it, rank 2 is in MPI_Win_lock")

    def test_lock_that_the_target_has_granted(self):
        self.says("lock_kept over tcp", "rank 1: MPI_Barrier on MPI_COMM_WORLD\n",
                  "rank 2: MPI_Win_unlock for operations behind the exclusive lock of rank 0 of window halo\n",
                  "  rank 1 holds it (shared) since MPI_Win_lock or MPI_Win_lock_all\n")

    def test_start_without_post(self):
        self.says("start_without_post", "a cycle: rank 0 waits for rank 1, and that for rank 0",
                  "rank 0: MPI_Win_start for MPI_Win_post of rank 1 on window halo\n",
                  "rank 1: MPI_Recv from rank 0 tag 31")

    def test_wait_without_complete(self):
        self.says("wait_without_complete", "a cycle: rank 0 waits for rank 2, and that for rank 0",
                  "rank 0: MPI_Win_wait for MPI_Win_complete of rank", " 2 on window halo\n",
                  "  rank 2 has not called it since MPI_Win_start\n")
        self.assertNotIn("rank 1 has not called it", self.text["wait_without_complete"])

    def test_a_rank_is_missing_in_a_fence(self):
        self.says("missing_in_fence", "a cycle", "rank 0: MPI_Win_fence on window halo\n",
                  "MPI_Win_fence on window halo: rank 0 is in it, rank 1 is in MPI_Recv")

    def test_slow_programs_are_no_deadlocks(self):
        for name in ("sleeps", "computes", "crawls", "computes_and_tests", "waits_for_slow_child"):
            self.assertEqual((self.text[name], self.code[name]), ("", 0), name)

    def test_jobs_that_wait_for_each_other(self):
        self.says("with_its_child", "nothing has moved in this job and spawned job 1 for",
                  "in this job, job ", "rank 0: MPI_Recv from rank 1 (rank 1 of job ", "tag 7 on an intercommunicator",
                  "in spawned job 1, job ", "rank 0: MPI_Barrier on MPI_COMM_WORLD",
                  "rank 1: MPI_Recv from rank 0 (rank 0 of job ", "tag 8 on MPI_COMM_PARENT",
                  "MPI_Barrier on MPI_COMM_WORLD: rank 0 is in it, rank 1 is in MPI_Recv", "ending the job")
        jobs = dict(re.findall(r"in (this job|spawned job 1), job ([0-9a-f]{8}):", self.text["with_its_child"]))
        self.assertIn(f"from rank 1 (rank 1 of job {jobs['spawned job 1']})", self.text["with_its_child"])
        self.assertIn(f"from rank 0 (rank 0 of job {jobs['this job']})", self.text["with_its_child"])
        self.says("merged_barrier", "nothing has moved in this job and spawned job 1 for",
                  "rank 0: MPI_Barrier on a communicator of 2 ranks (rank 0 of the job, rank 0 of job ",
                  "rank 0: MPI_Recv from any source tag 3 on a communicator of 2 ranks")

    def test_spawned_job_beside_one_that_moves(self):
        self.says("children_alone", "nothing has moved in spawned job 1 for",
                  "a cycle: rank 0 waits for rank 1, and that for rank 0", "ending the job")
        self.assertNotIn("this job", self.text["children_alone"])

    def test_spawned_job_of_a_process_that_nobody_started(self):
        self.assertIn("nothing has moved in spawned job 1 for", self.text["singleton"])

    def test_jobs_of_another_mpiexec_may_move(self):
        for name in ("waits_for_client", "slow_client"):
            self.assertEqual((self.text[name], self.code[name]), ("", 0), name)
        self.assertEqual(self.code["accepts"], 124)
        self.assertNotIn("deadlock", self.text["accepts"])

    def test_a_report_alone_does_not_end_the_job(self):
        text = self.text["reports only"]
        self.assertIsNone(self.code["reports only"], text)
        self.assertEqual(text.count("mpiexec: deadlock: "), 1, text)
        self.assertIn("the job goes on waiting", text)

    def seconds(self, name):
        return int(re.search(r"nothing has moved in this job for (\d+) s", self.text[name])[1])

    def test_report_comes_after_ten_seconds_if_nothing_is_said(self):
        self.says("default", "a cycle: rank 0 waits for rank 1, and that for rank 0")
        self.assertIn(self.seconds("default"), range(10, 60))

    def test_time_of_the_environment(self):
        self.says("of the environment", "a cycle")
        self.assertGreaterEqual(self.seconds("of the environment"), 2)
        self.assertNotIn("FULMAR_DEADLOCK_TIMEOUT", self.text["of the environment"])

    def test_no_report_when_switched_off(self):
        self.assertEqual(self.code["off"], 124)
        self.assertNotIn("deadlock", self.text["off"])


if __name__ == "__main__":
    unittest.main()
