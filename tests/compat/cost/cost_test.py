# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: cost_test.py [--seconds] MPIEXEC STANDARD OTHER: what conversion costs, as more instructions than the standard ABI needs.

The aim is 20 ns for a call with up to four handles and 5 ns for an element of an array. On a core of 3 GHz, MPI_Accumulate with four
handles had 122 instructions more and took 3.8 ns longer, an element of an array of requests 35 and 3.0 ns. With --seconds it prints
nanoseconds and checks nothing.
"""

import subprocess
import sys

CALL = 200
ELEMENT = 50
ELEMENTS = 16


def costs(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, stdin=subprocess.DEVNULL)
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    lines = [line.split() for line in done.stdout.splitlines()]
    if done.returncode != 0 or any(line[1] == "allocates" for line in lines):
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return {name: float(value) for name, value in lines}


def main():
    arguments = sys.argv[1:]
    seconds = arguments[:1] == ["--seconds"]
    mpiexec, standard, other = arguments[1:] if seconds else arguments
    more = ["seconds"] if seconds else []
    ours, theirs = (costs([mpiexec, "-n", "1", program, *more]) for program in (standard, other))
    failed = False
    for name, value in ours.items():
        per_call = theirs[name] - value
        print(f"{name}: {value:.1f}, converted {theirs[name]:.1f}, {per_call:.1f} more")
        failed |= name != f"{ELEMENTS}-requests" and per_call > CALL
    own, converted = (cost[f"{ELEMENTS}-requests"] - cost["one-request"] for cost in (ours, theirs))
    per_element = (converted - own) / (ELEMENTS - 1)
    print(f"an element of an array: {per_element:.1f} more")
    return 0 if seconds else int(failed or per_element > ELEMENT)


sys.exit(main())
