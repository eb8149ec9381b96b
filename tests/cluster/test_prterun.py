# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""PRRTE, Open MPI's launcher: PMIx."""

import contextlib
import pathlib
import tempfile

import support
from support import FAMILY, MEMBERSHIP, MPI_RANK, ORPHANS, environment, run, wait_until

PRTERUN, SETTINGS = support.prterun()
# It counts cores and refuses more ranks than that.
CROWD = ("--map-by", ":OVERSUBSCRIBE")


def processes_with(word):
    """Processes that have this word in their command line."""
    found = []
    for command in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in command.read_bytes():
                found.append(command.parent.name)
    return found


class OneHost(support.LauncherTest):
    def prterun(self, *words):
        return run(PRTERUN, *words, env=environment(**SETTINGS))

    def test_ranks_talk(self):
        for size in (1, 2, 4):
            self.assert_report(self.prterun(*CROWD, "-n", size, MPI_RANK, "report"), size)

    def test_they_share_a_node(self):
        self.assert_nodes(self.prterun(*CROWD, "-n", 3, MEMBERSHIP), "0-2")

    def test_the_exit_code_of_an_abort(self):
        for code, expected in ((7, 7), (0, 1)):
            result = self.prterun(*CROWD, "-n", 3, MEMBERSHIP, "abort", 1, code)
            self.assertEqual(result.returncode, expected, result.stdout)

    def test_ranks_spawn(self):
        self.assert_tree(self.prterun(*CROWD, "-n", 2, FAMILY, "tree", 2, 2), 2, 2)

    def test_names(self):
        self.assert_names(self.prterun(*CROWD, "-n", 2, FAMILY, "names"))

    def test_spawn_without_free_slots_says_so(self):
        result = self.prterun("--host", "localhost:1", "-n", 1, FAMILY, "tree", 1, 2)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("PMIx_Spawn fails with status", result.stdout)
        self.assertIn(":OVERSUBSCRIBE", result.stdout)

    def test_a_death_that_the_launcher_does_not_mind_ends_the_job(self):
        # What prterun returns then is now and then 0, so the ranks write down what they ended with. It kills some before
        # that once the first has aborted.
        with tempfile.TemporaryDirectory(dir=support.BUILD) as folder:
            statuses = pathlib.Path(folder) / "statuses"
            statuses.touch()
            rank = ("sh", "-c", f'trap : TERM; "{ORPHANS}" "{folder}"; status=$?; echo $status >>"{statuses}"; exit $status')
            result = self.prterun(*CROWD, "--runtime-options", "continuous", "-n", 3, *rank)
            # It may leave a rank running, which ends itself then.
            wait_until(lambda: not processes_with(folder), "the end of all ranks", 30)
            ended_with = sorted(statuses.read_text().split())
        self.assertNotEqual(result.returncode, 124, result.stdout)
        self.assertIn("137", ended_with, result.stdout)  # the one that dies
        self.assertNotIn("0", ended_with, result.stdout)
        self.assertRegex(result.stdout, r"lost rank 1 on this node .*: the process has ended, or was killed")


class TwoHosts(support.HostsTest):
    def prterun(self, *words):
        return self.on("node0", PRTERUN, *words, env=SETTINGS)

    def test_ranks_in_blocks(self):
        self.assert_nodes(self.prterun("--host", "node0:2,node1:2", "-n", 4, MEMBERSHIP), "0-1", "2-3")

    def test_ranks_spawn(self):
        self.assert_tree(self.prterun("--host", "node0:2,node1:2", "-n", 2, FAMILY, "tree", 1, 2), 1, 2)

    def test_ranks_in_turn(self):
        words = ("--host", "node0:2,node1:2", "--map-by", "node", "-n", 4, MEMBERSHIP)
        self.assert_nodes(self.prterun(*words), "0,2", "1,3")


support.main()
