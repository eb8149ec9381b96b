// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

#include "fulmar/trace/tree.h"

/// Traces in words and pictures.
namespace fulmar::trace {

/// The tree as lines of text: counts, times of all spans and of one, and of what is not in a node
/// below.
std::string tree_text(const Node& tree);

/// The tree as an HTML table, without a page around it. The style sheet is the report's.
std::string tree_html(const Node& tree);

/// Which calls took the time, the longest first, and what the tracing itself added at most.
std::string summary_text(const std::vector<wire::TraceFile>& traces, const Node& tree);

/// The traces as one self-contained HTML page: a tree, and the matrix of bytes between ranks.
std::string page(const std::vector<wire::TraceFile>& traces);

/// The traces as a timeline, in the trace event format that browsers' tools read.
std::string chrome_json(const std::vector<wire::TraceFile>& traces);

}  // namespace fulmar::trace
