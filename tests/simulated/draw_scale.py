#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Draws the figures of tests/simulated/scale_test.cc: draw_scale.py FIGURES.csv PICTURE.svg

FIGURES.csv has lines RANKS,WHAT,VALUE,UNIT (FULMAR_TEST_SCALE_CSV). Two pictures lie beside each other: messages and memory
of a rank over the number of ranks, both axes of the first logarithmic in ranks alone.
"""

import csv
import math
import sys
from html import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 560, 360, 64, 30, 48
COLORS = ["#0b5fd0", "#d9590b", "#14866d", "#a23bb0", "#b3860b", "#6b7280", "#8a93a3", "#b0a48e", "#7f9fa8", "#a99bb5", "#444", "#c2185b", "#00838f", "#5d4037", "#7cb342"]


def read(path):
    series = {}
    with open(path, newline="", encoding="utf-8") as file:
        for ranks, *what, value, unit in csv.reader(file):
            series.setdefault(unit, {}).setdefault(",".join(what), {})[int(ranks)] = float(value)
    return series


def panel(x0, title, curves, scale, unit):
    ranks = sorted({r for points in curves.values() for r in points})
    low, high = math.log10(ranks[0]), math.log10(max(ranks[-1], ranks[0] * 10))
    top = max(v for points in curves.values() for v in points.values()) / scale * 1.1
    width = WIDTH - LEFT - 190

    def place(rank, value):
        x = x0 + LEFT + (math.log10(rank) - low) / (high - low) * width
        return x, HEIGHT - BOTTOM - value / scale / top * (HEIGHT - BOTTOM - TOP)

    out = [f'<text x="{x0 + LEFT}" y="18" font-weight="600">{escape(title)}</text>']
    step = 10 ** math.floor(math.log10(top / 3)) or 1
    step *= next(m for m in (1, 2, 5, 10) if top / (step * m) <= 6)
    for i in range(int(top / step) + 1):
        y = HEIGHT - BOTTOM - i * step / top * (HEIGHT - BOTTOM - TOP)
        out.append(f'<path d="M{x0 + LEFT} {y:.1f}h{width}" stroke="#d8dce3"/>')
        out.append(f'<text x="{x0 + LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{i * step:g}</text>')
    for power in range(math.ceil(low), math.floor(high) + 1):
        x, _ = place(10**power, 0)
        out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#d8dce3"/>')
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{10**power:,}</text>')
    out.append(f'<text x="{x0 + LEFT + width / 2}" y="{HEIGHT - 8}" text-anchor="middle">ranks; {escape(unit)} a rank</text>')
    for number, (name, points) in enumerate(curves.items()):
        color = COLORS[number % len(COLORS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(r, points[r]) for r in sorted(points)))
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        y = TOP + 12 + 17 * number
        out.append(f'<path d="M{x0 + WIDTH - 180} {y - 4}h16" stroke="{color}" stroke-width="2"/>')
        out.append(f'<text x="{x0 + WIDTH - 160}" y="{y}">{escape(name)}</text>')
    return out


def main():
    series = read(sys.argv[1])
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="#1d2430">',
        f'<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *panel(0, "Messages that a rank sends", series["messages"], 1, "messages"),
        *panel(WIDTH, "Memory of a simulated rank", series["bytes"], 1000, "KB"),
        "</svg>",
    ]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
