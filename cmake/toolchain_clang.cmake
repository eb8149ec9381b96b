# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# The newest clang that is installed (tools/setup installs the newest that Debian has).

file(GLOB clangs /usr/bin/clang++-[0-9]*)
list(SORT clangs COMPARE NATURAL ORDER DESCENDING)
if(NOT clangs)
  message(FATAL_ERROR "no /usr/bin/clang++-N found: run tools/setup soak")
endif()
list(GET clangs 0 newest)
string(REPLACE "clang++" "clang" newest_c ${newest})
set(CMAKE_C_COMPILER ${newest_c})
set(CMAKE_CXX_COMPILER ${newest})
