# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds rsmpi, the binding for Rust, and runs its own tests and examples.

usage: run.py [--ranks N...]     (default: 2 3 4)

RSMPI_SOURCE names a folder with the sources, in which `cargo fetch` was run: nothing is loaded here. Cargo and libclang (of any
LLVM; LIBCLANG_PATH names its folder) have to be installed. rsmpi finds the library by `mpicc -show` and its declarations in mpi.h.
Cargo drops the path to the library that the wrapper gives to programs, so LD_LIBRARY_PATH names it (docs/troubleshooting.md).
"""

import argparse
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

FEATURES = ["--offline", "--features", "derive,complex"]


def build():
    """The folder in which it was built."""
    source = sources.folder("RSMPI_SOURCE", "rsmpi", "mpi-sys/src/rsmpi.c")
    sources.needs("cargo")
    commands = [["cargo", "build", "--examples", *FEATURES], ["cargo", "test", "--no-run", "--workspace", *FEATURES]]
    return sources.build("rsmpi", source, commands)


def run_tests(built, environment, table):
    """The tests that are written for Rust's own test runner: one process."""
    test = ["cargo", "test", "--workspace", *FEATURES]
    status, output, seconds = support.run(test, 600, environment, built)
    passed = sum(int(number) for number in re.findall(r"^test result: ok\. (\d+) passed", output, re.M))
    problem = f"exit status {status}" if status else "" if passed else "no test ran"
    table.add(f"cargo test: {passed} passed", problem, seconds, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4])
    arguments = parser.parse_args()
    built = build()
    environment = support.clean_environment(PATH=f"{support.BIN}:{os.environ['PATH']}", RUST_TEST_THREADS="1",
                                            LD_LIBRARY_PATH=support.LIBRARY.parent)
    table = sources.Table()
    run_tests(built, environment, table)
    for example in sorted((built / "examples").glob("*.rs")):
        program = built / "target" / "debug" / "examples" / example.stem
        for ranks in arguments.ranks:
            status, output, seconds = support.mpiexec(ranks, [program], 120, environment, built)
            table.add(f"{example.stem} {ranks} ranks", f"exit status {status}" if status else "", seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
