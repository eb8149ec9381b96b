# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""MPI jobs on hosts with random networks (tests/network/layouts.py): they run, or say why they cannot."""

import os
import random

import network_job
from support import main, wait_until

COUNT = int(os.environ.get("FULMAR_TEST_JOB_LAYOUTS", "5"))
SEED = int(os.environ.get("FULMAR_TEST_SEED", "1"))


class Layouts(network_job.JobsTest):
    NETWORK = None

    def test_job(self):
        for number in range(COUNT):
            self.tearDown()
            self.setUp()
            layout = network_job.layouts.Layout(self.one, self.other, random.Random(SEED * 1000 + number), self.host)
            with self.subTest(layout=number, seed=SEED, networks=layout.description):
                job = self.start("talk", obeys_aborts=True)
                wait_until(lambda: job.ended() or job.beats(0) > 2, "messages, or an end", 20)
                if layout.leads or not (job.ended() or layout.leads_nowhere):
                    self.assert_goes_well(job)
                else:
                    self.assertNotEqual(job.wait(5), 0, job.all_text())
                    self.assertRegex(job.all_text(), "rank [01] cannot be reached from rank [01]: ")


if __name__ == "__main__":
    main()
