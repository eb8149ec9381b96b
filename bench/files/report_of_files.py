# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The tables and the page that `bench/files/compare` makes of its figures."""

import html
import math

WHAT = {
    "own-write": "each rank writes its own file, contiguous",
    "own-read": "each rank reads its own file, contiguous",
    "shared-write": "each rank writes its part of one file, contiguous",
    "shared-read": "each rank reads its part of one file, contiguous",
    "shared-write-all": "the same, written collectively",
    "shared-read-all": "the same, read collectively",
    "fresh-write": "a new file for each operation: made, written by each rank in its part, closed, deleted",
    "fresh-strided": "the same, blocks of the ranks in turns, 1 MiB a rank; size: of a block",
    "strided-write": "blocks of the ranks in turns, 1 MiB a call, written independently; size: of a block",
    "strided-read": "the same, read independently",
    "strided-write-all": "the same, written collectively",
    "strided-read-all": "the same, read collectively",
    "cyclic-write-all": "3D array, block-cyclic, runs of 64 bytes, written collectively; size: of the array",
    "cyclic-read-all": "the same, read collectively",
    "cubes-write-all": "3D array, a part for each rank, written collectively; size: of the array",
    "cubes-read-all": "the same, read collectively",
    "bt-write-all": "BT-IO's cells, written collectively; size: points of an edge",
    "bt-read-all": "the same, read collectively",
    "small-write": "records of the ranks in turns, one a call, written independently",
    "small-read": "the same, read independently",
    "append-shared": "appends with the shared pointer",
    "append-ordered": "ordered appends",
    "window-iwrite": "eight non-blocking writes at a time",
    "window-iread": "eight non-blocking reads at a time",
    "open-close": "open and close",
    "set-view": "a view of blocks in turns is set; size: of a block",
    "cold-window-iread": "32 non-blocking reads of blocks here and there that are not in memory",
    "iwrite-then-compute": "a non-blocking write is awaited, then computing of the same length",
    "iwrite-beside-compute": "a non-blocking write beside computing that takes as long as the write alone",
}
COLOURS = {"fulmar": "#c2410c", "mpich": "#2563eb", "openmpi": "#059669", "intel": "#7c3aed", "raw": "#6b7280"}
WIDTH, HEIGHT, LEFT, BOTTOM = 420, 220, 48, 24


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def label_of(key):
    return f"{key[2]}" if key[0].startswith("bt-") else size_text(key[2])


def microseconds(value):
    if value is None:
        return "-"
    value /= 1000
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def summary(every):
    """Lines that say at how many points the library is ahead, behind and undecided, and which those are."""
    lines = []
    for name, figures in every.items():
        verdicts = {key: figures.verdict(key) for key in figures.points()}
        counts = {v: sum(x == v for x in verdicts.values()) for v in ("ahead", "behind", "undecided")}
        lines.append(f"{name}: {len(verdicts)} points, {counts['ahead']} ahead, {counts['behind']} behind, "
                     f"{counts['undecided']} undecided")
        for verdict in ("behind", "undecided"):
            named = [f"{k[0]} {label_of(k)}, {k[1]} ranks ({figures.lead(k):.2f}x)" for k, v in verdicts.items() if v == verdict]
            if named:
                lines.append(f"{name}, {verdict}: " + "; ".join(named))
        bare = [(figures.ratio("raw", k), k) for k in figures.rounds.get("raw", {}) if figures.ratio("raw", k)]
        low = [f"{k[0]} {label_of(k)}, {k[1]} ranks ({share:.2f})" for share, k in bare if share < 0.95]
        if bare:
            lines.append(f"{name}: at {len(bare) - len(low)} of {len(bare)} points at least 0.95 of the bare system calls"
                         + (": not at " + "; ".join(low) if low else ""))
    return lines


def markdown(every):
    out = ["* " + line for line in summary(every)]
    for name, figures in every.items():
        names = figures.names()
        near = " ".join(f"{line:.0f}" for line in figures.lines)
        out += ["", f"## {name}", "", f"A cache line took after each round, ns: {near}.", ""]
        out += [f"* {figures.labels[n]}: {figures.about[n]['library']}" for n in names if n != "raw"]
        order = list(WHAT)
        for test, ranks in sorted(figures.tests(), key=lambda row: (row[1], order.index(row[0]))):
            head = ["size", *[figures.labels[n] for n in names], "ahead of best", "of bare"]
            out += ["", f"**{test}, {ranks} ranks, us** ({WHAT[test]})", "", "| " + " | ".join(head) + " |",
                    "| --- |" + " --: |" * (len(head) - 1)]
            for key in figures.keys(test, ranks):
                lead, bare = figures.lead(key), figures.ratio("raw", key)
                cells = [label_of(key), *[microseconds(figures.value(n, key)) for n in names],
                         f"{lead:.2f}x" if lead else "-", f"{bare:.2f}" if bare else "-"]
                out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def curve(points, colour):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.5' fill='{colour}'/>" for x, y in points)
    return f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='1.5'/>{dots}"


def chart(figures, test, ranks):
    """Microseconds by size, both logarithmic, as SVG."""
    keys = figures.keys(test, ranks)
    values = [v for k in keys for n in figures.names() if (v := figures.value(n, k))]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    step = (WIDTH - LEFT - 20) / max(len(keys) - 1, 1)
    place = {key: LEFT + 10 + i * step for i, key in enumerate(keys)}

    def y_of(value):
        return 10 + (high - math.log10(value)) / (high - low) * (HEIGHT - BOTTOM - 10)

    out = [f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}'>"]
    for power in range(low, high + 1):
        y = y_of(10.0 ** power)
        out.append(f"<line x1='{LEFT}' x2='{WIDTH}' y1='{y:.1f}' y2='{y:.1f}' stroke='#ddd'/>"
                   f"<text x='{LEFT - 4}' y='{y + 4:.1f}' text-anchor='end'>{10.0 ** (power - 3):g}</text>")
    out += [f"<text x='{place[k]:.1f}' y='{HEIGHT - 6}' text-anchor='middle'>{html.escape(label_of(k))}</text>" for k in keys]
    for name in figures.names():
        points = [(place[k], y_of(v)) for k in keys if (v := figures.value(name, k))]
        if points:
            out.append(curve(points, COLOURS[name]))
    return "".join(out) + "</svg>"


def page(every):
    style = ("body{font:14px sans-serif;margin:2em;color:#222}section{display:inline-block;vertical-align:top;margin:0 1em 1em 0}"
             "svg text{font-size:10px;fill:#555}h3{font-size:14px;margin:0.3em 0}p{margin:0.2em 0;max-width:420px;color:#555}")
    out = ["<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Fulmar: files measured</title>",
           f"<style>{style}</style></head><body><h1>Files: microseconds per operation of a rank</h1>"]
    out += [f"<p style='max-width:none'>{html.escape(line)}</p>" for line in summary(every)]
    for name, figures in every.items():
        key = " ".join(f"<b style='color:{COLOURS[n]}'>{html.escape(figures.labels[n])}</b>" for n in figures.names())
        out.append(f"<h2>{html.escape(name)}</h2><p>{key}</p>")
        out += [f"<section><h3>{test}, {ranks} ranks</h3><p>{html.escape(WHAT[test])}</p>{chart(figures, test, ranks)}</section>"
                for test, ranks in figures.tests()]
    return "\n".join(out) + "</body></html>\n"
