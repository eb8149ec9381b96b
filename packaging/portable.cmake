# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# FULMAR_PORTABLE: what is installed runs on any Linux with glibc 2.34 or newer, as packages need that
# are made on one distribution for others (tools/make_wheel checks it).

option(FULMAR_PORTABLE "Need no more than glibc 2.34, and no libstdc++ but in libmpicxx.so.12" OFF)

if(FULMAR_PORTABLE)
  foreach(target IN LISTS FULMAR_PRODUCT)
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/packaging/glibc_2_34.cc)
    if(NOT target STREQUAL "mpicxx_mpich")  # throws exceptions into programs, so it shares their runtime
      target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
    endif()
  endforeach()
endif()
