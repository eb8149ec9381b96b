// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

namespace fulmar::report {

/// The page's style sheet: one palette for light, one for dark surroundings; colours differ in
/// lightness too, so that the curves stay apart for readers who do not see hues.
inline constexpr std::string_view style_sheet = R"css(
:root { color-scheme: light dark;
  --page: #fbfbf9; --card: #ffffff; --ink: #1d2430; --soft: #5d6675; --grid: #d8dce3; --minor: #eef0f3;
  --s0: #0b5fd0; --s1: #d9590b; --s2: #14866d; --s3: #a23bb0; --s4: #b3860b; --s5: #6b7280;
  --raw0: #8a93a3; --raw1: #b0a48e; --raw2: #7f9fa8; --raw3: #a99bb5; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14171c; --card: #1c2027; --ink: #e6e9ef; --soft: #9aa3b2; --grid: #343b47; --minor: #262c35;
  --s0: #6aa9ff; --s1: #ff9a57; --s2: #4fd1b0; --s3: #dd8ae8; --s4: #e8c25a; --s5: #9ca3af;
  --raw0: #788294; --raw1: #8f856f; --raw2: #688790; --raw3: #86789a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1360px; margin: 0 auto; padding: 28px 24px 60px; }
h1 { font-size: 26px; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 17px; margin: 0 0 2px; }
.about { color: var(--soft); margin: 0 0 20px; }
.about b { color: var(--ink); font-weight: 600; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 0 0 20px; }
.tile { background: var(--card); border: 1px solid var(--grid); border-radius: 10px; padding: 10px 16px; min-width: 160px; }
.tile .value { font-size: 24px; font-weight: 650; font-variant-numeric: tabular-nums; }
.tile .value small { font-size: 14px; font-weight: 400; color: var(--soft); margin-left: 4px; }
.tile .name, .tile .than { color: var(--soft); font-size: 13px; }
.grid2 { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 540px), 1fr)); gap: 16px; align-items: start; }
.card { background: var(--card); border: 1px solid var(--grid); border-radius: 10px; padding: 16px 18px 10px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px; color: var(--soft); margin: 2px 0 6px; }
.legend span { white-space: nowrap; }
.legend i { display: inline-block; width: 22px; height: 0; border-top: 3px solid; vertical-align: middle; margin-right: 6px; }
.legend i.limit { border-top: 2px dashed; }
.legend i.dot { width: 11px; height: 11px; border: 0; border-radius: 50%; background: currentColor; }
svg { width: 100%; height: auto; display: block; font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.grid { stroke: var(--grid); stroke-width: 1; } .minor { stroke: var(--minor); stroke-width: 1; }
.tick { fill: var(--soft); font-variant-numeric: tabular-nums; } .end { text-anchor: end; } .middle { text-anchor: middle; }
.unit { fill: var(--soft); text-anchor: middle; }
.curve path { fill: none; stroke: currentColor; stroke-width: 2.2; stroke-linejoin: round; }
.curve circle { fill: currentColor; stroke: var(--card); stroke-width: 0.8; } .curve circle:hover { r: 5; }
.curve path.band, .limit path.band { fill: currentColor; fill-opacity: 0.16; stroke: none; }
.thin path { stroke-width: 1.2; }
rect.phase { fill: var(--soft); fill-opacity: 0.14; }
path.mark { fill: none; stroke: var(--ink); stroke-width: 1.6; }
.legend i.mark { width: 9px; height: 9px; border: 1.6px solid var(--ink); transform: rotate(45deg); margin-right: 9px; }
a { color: inherit; }
table.words td { text-align: left; white-space: normal; vertical-align: top; overflow-wrap: anywhere; }
table.words td:nth-child(2) { white-space: nowrap; }
@media (max-width: 700px) { main { padding: 16px 10px 40px; }
  table.words td, table.words td:nth-child(2) { display: block; white-space: normal; border: 0; padding: 1px 4px; }
  table.words tr { display: block; border-bottom: 1px solid var(--grid); padding: 5px 0; } }
.limit path { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-dasharray: 6 4; }
.limit circle { fill: currentColor; }
.s0 { color: var(--s0); } .s1 { color: var(--s1); } .s2 { color: var(--s2); } .s3 { color: var(--s3); }
.s4 { color: var(--s4); } .s5 { color: var(--s5); }
.raw0 { color: var(--raw0); } .raw1 { color: var(--raw1); } .raw2 { color: var(--raw2); } .raw3 { color: var(--raw3); }
.tables { margin-top: 16px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; margin: 8px 0 6px; }
th, td { text-align: right; padding: 3px 10px; border-bottom: 1px solid var(--minor); white-space: nowrap; }
th { color: var(--soft); font-weight: 500; border-bottom-color: var(--grid); }
th:first-child, td:first-child { text-align: left; }
td.ahead { color: var(--s2); } td.behind { color: var(--s1); font-weight: 600; }
.scroll { overflow-x: auto; }
.note { color: var(--soft); font-size: 13px; margin: 14px 2px 0; max-width: 90ch; }
)css";

}  // namespace fulmar::report
