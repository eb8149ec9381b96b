# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: deaths_test.py MPIEXEC SURVIVORS: programs of another ABI recover from the death of a rank, on each network."""

import os
import subprocess
import sys

mpiexec, survivors = sys.argv[1:]
kept = {name: value for name, value in os.environ.items() if not name.startswith("FULMAR_")}
failures = 0
for network in ("shm", "tcp"):
    done = subprocess.run([mpiexec, "-n", "3", "--on-failure=continue", survivors], capture_output=True, text=True, timeout=50,
                          check=False, env=kept | {"FULMAR_FABRIC": network}, stdin=subprocess.DEVNULL)
    recovered = sorted(done.stdout.splitlines())
    dead = [line for line in done.stderr.splitlines() if line.startswith("mpiexec: ") and "SIGKILL" in line]
    if recovered != ["rank 0 recovered", "rank 2 recovered"] or done.stderr.splitlines() != dead or done.returncode != 137:
        print(f"{network}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        failures += 1
sys.exit(failures)
