# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Puts what changed last first, for checks that have some minutes.

usage: last_changed.py BUILD_DIR
Prints the object files of the build (compile_commands.json), those of the sources that changed last first.
"""

import json
import pathlib
import re
import subprocess
import sys
import time

OUTPUT = re.compile(r" -o (\S+)")


def last_changed(root):
    """File -> when it was changed last: now where that is not committed, as far as git knows."""
    def git(*arguments):
        run = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
        return run.stdout.splitlines() if run.returncode == 0 else []

    found, when = {}, 0
    for name in git("diff", "--name-only", "HEAD"):
        found[root / name] = time.time()
    for line in git("log", "--format=@%ct", "--name-only"):
        if line.startswith("@"):
            when = int(line[1:])
        elif line:
            found.setdefault(root / line, when)
    return found


def main():
    build = pathlib.Path(sys.argv[1])
    changed = last_changed(pathlib.Path(__file__).resolve().parent.parent)
    entries = json.loads((build / "compile_commands.json").read_text())
    entries.sort(key=lambda entry: -changed.get(pathlib.Path(entry["file"]).resolve(), 0))
    for entry in entries:
        print(OUTPUT.search(entry["command"])[1])


if __name__ == "__main__":
    main()
