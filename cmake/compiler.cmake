# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# Language level, flags and warnings. Everything is compiled with the flags of the first part; what
# ends up in the library additionally links `fulmar_options`.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
  set(CMAKE_${language}_FLAGS_DEBUG "-Og -g -D_GLIBCXX_ASSERTIONS")
endforeach()

set(FULMAR_SANITIZE "" CACHE STRING "address, undefined, both (address,undefined) or thread: compile and link with that")
if(FULMAR_SANITIZE)
  add_compile_options(-fsanitize=${FULMAR_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${FULMAR_SANITIZE})
  if(FULMAR_SANITIZE MATCHES "undefined")
    # Objects of src have no run-time types that the check of vtables could look at.
    add_compile_options(-fno-sanitize-recover=all -fno-sanitize=vptr)
  endif()
  if(FULMAR_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # it does not model fences
  endif()
endif()

add_compile_options(-Wall -Wextra -Werror)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # gcc reports our uses of what is deprecated; clang also those inside gcc's own std::stable_sort.
  add_compile_options(-Wthread-safety -Wno-deprecated-declarations)
endif()
# Objects do not depend on where the tree lies; this also lets ccache share between work trees.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)

add_library(fulmar_options INTERFACE)
target_compile_options(
  fulmar_options
  INTERFACE -fvisibility=hidden -fno-semantic-interposition -fno-plt
            $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fvisibility-inlines-hidden>)
target_include_directories(fulmar_options INTERFACE ${CMAKE_SOURCE_DIR}/src)

find_program(FULMAR_CCACHE ccache)
if(FULMAR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(ccache_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
                      CCACHE_SLOPPINESS=pch_defines,time_macros ${FULMAR_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_launcher})
  # Two headers that differ in comments only are one to ccache, which compares what the preprocessor makes of them, but not to
  # gcc, which tells by a header's bytes whether a precompiled one has it. Dependencies are compared byte by byte.
  set(FULMAR_PRECOMPILED_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 ${ccache_launcher})
endif()
