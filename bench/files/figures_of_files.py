# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The figures of `bench/files/compare` on one file system: nanoseconds of each library at each point, by rounds."""

import json
import statistics

AGREED = 0.75  # of the rounds must agree, or it is undecided who is ahead
PEERS = ("mpich", "openmpi", "intel")


class Figures:
    """What was measured: rounds[library][(test, ranks, bytes)] is a list of nanoseconds per operation."""

    def __init__(self):
        self.rounds = {}
        self.labels = {}
        self.about = {}
        self.lines = []  # nanoseconds of a cache line after each round

    def add(self, library, result):
        self.labels[library.name] = library.label
        self.about[library.name] = {key: result.get(key, "") for key in ("library", "processor", "kernel", "cores", "time")}
        mine = self.rounds.setdefault(library.name, {})
        for series in result["series"]:
            for point in series["points"]:
                mine.setdefault((series["test"], series["ranks"], point["bytes"]), []).append(point["median_ns"])

    def save(self, file):
        rounds = {name: [[*key, values] for key, values in sorted(points.items())] for name, points in self.rounds.items()}
        content = {"rounds": rounds, "labels": self.labels, "about": self.about, "lines": self.lines}
        file.write_text(json.dumps(content, indent=1) + "\n")

    @staticmethod
    def load(file):
        figures = Figures()
        if file.exists():
            content = json.loads(file.read_text())
            figures.labels, figures.about, figures.lines = content["labels"], content["about"], content["lines"]
            figures.rounds = {name: {tuple(row[:3]): row[3] for row in rows} for name, rows in content["rounds"].items()}
        return figures

    def value(self, name, key):
        values = self.rounds.get(name, {}).get(key)
        return statistics.median(values) if values else None

    def names(self):
        return [name for name in ("fulmar", *PEERS, "raw") if name in self.rounds]

    def keys(self, test, ranks):
        return sorted({key for points in self.rounds.values() for key in points if key[:2] == (test, ranks)})

    def tests(self):
        """(test, ranks) in the order in which they were measured."""
        return list(dict.fromkeys(key[:2] for name in self.names() for key in self.rounds[name]))

    def ratios(self, name, key):
        """How many times as long as Fulmar a library took, in each round: the machine changes from round to round."""
        ours, theirs = (self.rounds.get(library, {}).get(key, []) for library in ("fulmar", name))
        return [b / a for a, b in zip(ours, theirs)]

    def ratio(self, name, key):
        """The median of these; None where one of the two was not measured."""
        values = self.ratios(name, key)
        return statistics.median(values) if values else None

    def best_peer(self, key):
        """The one that is least behind Fulmar, or most ahead; None where none was measured."""
        known = [name for name in PEERS if self.ratios(name, key)]
        return min(known, key=lambda name: self.ratio(name, key), default=None)

    def lead(self, key):
        """How many times as fast as the best peer; None where one of them is missing."""
        best = self.best_peer(key)
        return None if best is None else self.ratio(best, key)

    def verdict(self, key):
        """'ahead', 'behind' or 'undecided'."""
        best = self.best_peer(key)
        if best is None:
            return ""
        ratios = self.ratios(best, key)
        wins = sum(ratio > 1 for ratio in ratios)
        if max(wins, len(ratios) - wins) < AGREED * len(ratios):
            return "undecided"
        return "ahead" if self.lead(key) > 1 else "behind"

    def points(self):
        return [key for test, ranks in self.tests() for key in self.keys(test, ranks) if self.verdict(key)]
