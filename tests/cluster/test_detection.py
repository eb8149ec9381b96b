# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Started alone, or in an environment that speaks of a launcher which cannot be talked to."""

import support
from support import MEMBERSHIP, MPI_RANK, environment, run


class Detection(support.LauncherTest):
    def test_alone(self):
        self.assert_nodes(run(MEMBERSHIP), "0")
        self.assert_report(run(MPI_RANK, "report"), 1)

    def assert_refused(self, *words, **variables):
        result = run(MPI_RANK, "report", env=environment(**variables))
        self.assertNotEqual(result.returncode, 0, result.stdout)
        for word in words:
            self.assertIn(word, result.stdout)

    def test_srun_without_pmi(self):
        self.assert_refused("SLURM_STEP_NUM_TASKS=4", "--mpi=pmix", SLURM_STEP_NUM_TASKS=4)

    def test_open_mpi_without_pmix(self):
        self.assert_refused("OMPI_COMM_WORLD_SIZE=2", OMPI_COMM_WORLD_SIZE=2)

    def test_closed_pmi_socket(self):
        self.assert_refused("PMI_FD", PMI_FD=250, PMI_RANK=0, PMI_SIZE=2)

    def test_no_launcher_at_the_port(self):
        self.assert_refused("PMI_PORT", PMI_PORT="127.0.0.1:1", PMI_ID=0)

    def test_pmix_without_a_library(self):
        self.assert_refused("/nowhere/libpmix.so", "FULMAR_PMIX_LIBRARY", PMIX_NAMESPACE="a", PMIX_RANK=0,
                            FULMAR_PMIX_LIBRARY="/nowhere/libpmix.so")

    def test_an_allocation_is_no_job(self):
        self.assert_report(run(MPI_RANK, "report", env=environment(SLURM_JOB_ID=7, SLURM_NTASKS=4)), 1)


support.main()
