# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Strange surroundings: variables, folders, descriptors, other launchers."""

import os
import pathlib
import subprocess

from fault_support import FAULT_RANK, FaultTest
from support import MPIEXEC

OPTIONS = ("FULMAR_EAGER_BYTES", "FULMAR_LONG_COPY", "FULMAR_SHARE_BYTES", "FULMAR_MEMORY",
           "FULMAR_SINGLE_COPY", "FULMAR_YIELD", "FULMAR_RDMA", "FULMAR_RDMA_BYTES",
           "FULMAR_RDMA_INLINE", "FULMAR_RDMA_FIN", "FULMAR_KEPT_MEMORY")
FOREIGN = {
    "PMI_RANK": "5", "PMI_SIZE": "9", "PMI_FD": "77", "PMI_PORT": "localhost:1",
    "PMIX_RANK": "3", "PMIX_NAMESPACE": "x", "PMIX_SERVER_URI41": "x;tcp4://127.0.0.1:1",
    "OMPI_COMM_WORLD_RANK": "4", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_MCA_pml": "nothing",
    "SLURM_PROCID": "8", "SLURM_NTASKS": "16", "MPI_LOCALNRANKS": "x", "HYDI_CONTROL_FD": "9",
    "I_MPI_FABRICS": "none", "FI_PROVIDER": "none"}


class Variables(FaultTest):
    def test_garbage_is_named_and_the_default_used(self):
        for name in OPTIONS:
            for value in ("-1", "x" * 5000, "99999999999999999999", "\x01\x7f", "12Q", "a", "w "):
                with self.subTest(name=name, value=value[:20]):
                    result = self.run_traffic(2, "traffic", 100000, env={name: value})
                    self.assertIn(name, result.stderr)

    def test_empty_variables_are_as_if_not_set(self):
        result = self.run_traffic(2, "traffic", 100000, env=dict.fromkeys((*OPTIONS, "FULMAR_FABRIC"), ""))
        self.assertEqual(result.stderr, "")

    def test_no_fabric_that_works_is_an_error(self):
        for value in ("garbage", ",,,"):
            with self.subTest(value=value):
                result = self.run_fault(2, "traffic", env={"FULMAR_FABRIC": value})
                self.assert_clear_error(result, "FULMAR_FABRIC", "shm")

    def test_provider_that_libfabric_lacks_is_an_error_or_a_warning(self):
        env = {"FULMAR_FABRIC": "ofi", "FULMAR_OFI_PROVIDER": "pigeon"}
        result = self.run_fault(2, "traffic", env=env)
        self.assert_clear_error(result, "libfabric")
        self.assertRegex(result.stderr, "FULMAR_OFI_PROVIDER=pigeon|libfabric-dev|libfabric1")
        env["FULMAR_FABRIC"] = "ofi,tcp"
        result = self.run_traffic(2, "traffic", 1000, env=env)
        self.assertIn("the network tcp is tried instead", result.stderr)

    def test_verbs_without_a_device_is_an_error_or_a_warning(self):
        if any(pathlib.Path("/sys/class/infiniband").glob("*")):
            self.skipTest("this host has a device for verbs")
        result = self.run_fault(2, "traffic", env={"FULMAR_FABRIC": "verbs"})
        self.assert_clear_error(result, "FULMAR_FABRIC")
        self.assertRegex(result.stderr, "no port of an RDMA adapter|libibverbs-dev|libibverbs1")
        result = self.run_traffic(2, "traffic", 1000, env={"FULMAR_FABRIC": "verbs,tcp"})
        self.assertEqual(result.stderr.count("the network tcp is tried instead"), 1, result.stderr)

    def test_extreme_values_work(self):
        extremes = ({"FULMAR_EAGER_BYTES": "0"}, {"FULMAR_EAGER_BYTES": "16G"},
                    {"FULMAR_SHARE_BYTES": "0"}, {"FULMAR_SHARE_BYTES": "1024G"},
                    {"FULMAR_MEMORY": "0"}, {"FULMAR_MEMORY": "1"}, {"FULMAR_MEMORY": "1024G"},
                    {"FULMAR_LONG_COPY": "share", "FULMAR_SHARE_BYTES": "0", "FULMAR_EAGER_BYTES": "0"},
                    {"FULMAR_LONG_COPY": "stream", "FULMAR_EAGER_BYTES": "0"},
                    {"FULMAR_RDMA": "put", "FULMAR_RDMA_BYTES": "0"},
                    {"FULMAR_RDMA": "off", "FULMAR_RDMA_BYTES": "1024G"},
                    {"FULMAR_RDMA_INLINE": "1024G"}, {"FULMAR_RDMA_FIN": "apart"},
                    {"FULMAR_KEPT_MEMORY": "0"}, {"FULMAR_KEPT_MEMORY": "1024G"},
                    {"FULMAR_YIELD": "always"}, {"FULMAR_YIELD": "never"})
        for env in extremes:
            for ranks in (1, 2, 3):
                with self.subTest(env=env, ranks=ranks):
                    self.assertEqual(self.run_traffic(ranks, env=env).stderr, "")

    def test_unknown_option_gets_a_suggestion(self):
        result = self.run_traffic(1, env={"FULMAR_EAGER_BITES": "1"})
        self.assertIn("FULMAR_EAGER_BYTES", result.stderr)

    def test_variables_of_other_launchers_mean_nothing_under_mpiexec(self):
        self.run_traffic(2, env=FOREIGN)

    def test_launcher_that_is_not_there_is_an_error(self):
        result = subprocess.run([FAULT_RANK, "traffic"], env={**os.environ, **FOREIGN}, timeout=60, text=True,
                                check=False, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assert_clear_error(result, "launcher", "PMI")

    def test_empty_environment(self):
        keep = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        result = subprocess.run([MPIEXEC, "-n", "2", FAULT_RANK], env=keep, timeout=60, check=False,
                                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stderr), (0, b""))


class Surroundings(FaultTest):
    CLOSED = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-")

    def run_in_shell(self, script):
        result = subprocess.run(["sh", "-c", script, MPIEXEC, FAULT_RANK], cwd=self.folder, timeout=60,
                                check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 0)

    def test_standard_descriptors_of_mpiexec_closed(self):
        for closing in self.CLOSED:
            with self.subTest(closing=closing):
                self.run_in_shell(f'exec "$0" -n 2 "$1" traffic {closing}')

    def test_standard_descriptors_of_the_ranks_closed(self):
        for closing in self.CLOSED:
            with self.subTest(closing=closing):
                self.run_traffic(2, "traffic", prefix=("sh", "-c", f'exec "$@" {closing}', "sh"))

    def test_removed_working_folder(self):
        self.run_in_shell('mkdir gone && cd gone && rmdir ../gone && exec "$0" -n 2 "$1" traffic')

    def test_unreadable_working_folder(self):
        folder = self.folder / "closed"
        folder.mkdir()
        folder.chmod(0o111)
        self.addCleanup(folder.chmod, 0o755)
        self.run_in_shell('cd closed && exec "$0" -n 2 "$1" traffic')

    def test_mpiexec_inside_a_rank(self):
        self.run_traffic(2, "traffic",
                         prefix=("sh", "-c", f'"{MPIEXEC}" -n 2 "$1" traffic && exec "$@"', "sh"))

    def test_singleton_inside_a_rank(self):
        self.run_traffic(2, "traffic", prefix=(
            "sh", "-c", 'env -u FULMAR_JOB_FD -u FULMAR_JOB_SOCKET "$1" traffic && exec "$@"', "sh"))
