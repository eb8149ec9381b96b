# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# fulmar_fmt: fmt's headers without the functions that tools/fulmar/fmt_library.cc holds. What has to be instantiated
# there differs between versions of fmt (Debian 12 has 9.1): where a program does not link, each file compiles all of it.

find_package(fmt REQUIRED)
get_target_property(fmt_folder fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
if(NOT DEFINED FULMAR_FMT_COMPILED_ONCE)
  message(STATUS "Compiling fmt once")
  try_compile(
    FULMAR_FMT_COMPILED_ONCE ${CMAKE_BINARY_DIR}/fmt
    SOURCES ${CMAKE_SOURCE_DIR}/cmake/fmt_probe.cc ${CMAKE_SOURCE_DIR}/tools/fulmar/fmt_library.cc
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${fmt_folder}" CXX_STANDARD 20 CXX_STANDARD_REQUIRED TRUE)
  message(STATUS "Compiling fmt once - ${FULMAR_FMT_COMPILED_ONCE}")
endif()
add_library(fulmar_fmt INTERFACE)
if(FULMAR_FMT_COMPILED_ONCE)
  target_include_directories(fulmar_fmt SYSTEM INTERFACE ${fmt_folder})
else()
  target_link_libraries(fulmar_fmt INTERFACE fmt::fmt-header-only)
endif()
