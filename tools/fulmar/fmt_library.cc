// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The functions of fmt, compiled once for the tool: with headers only each file that formats takes three to four times as
// long, and with Debian's shared library each node would need that. cmake/fmt.cmake.
#ifndef FMT_HEADER_ONLY
#include <fmt/format-inl.h>

template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
#endif
