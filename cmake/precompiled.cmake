# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# A compiler spends most of its time on headers, so those that most files of a kind include are parsed once for all
# of its targets (docs/adr/0063). The kinds differ in flags, or in headers (tools/precompiled):
#   library      the layers below mpi: standard headers
#   mpi          mpi and the layers above it: the device and the library's own objects, too
#   program      the libraries of tools: standard headers
#   mpi_test     MPI programs of tests, which are executables (-fPIE): standard headers
#   test         the same with GoogleTest, not optimized
#   source_test  the same, optimized and without run-time type information, as src is
# A file that lacks an include is found where this is off: by the target check_headers, tools/check_tidy, and the presets
# debug, asan, tsan and clang.

option(FULMAR_PRECOMPILED "Parse common headers once for all targets of a kind" ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(precompiled_options -fpch-preprocess)  # for ccache
endif()

# Of these gcc 12 says, with a precompiled header only, that strings of the standard library overflow. Another one for which
# it does (-Warray-bounds in char_traits.h) is added here.
set(FULMAR_NOT_PRECOMPILED
    src/runtime/bootstrap/pmi1_spawn.cc
    src/runtime/bootstrap/pmix_spawn.cc
    src/runtime/report/window_report.cc
    src/wire/trace_file.cc
    tests/unit/wire/launch/names_channel_test.cc
    tools/fulmar/doctor/gather_launchers.cc
    tools/fulmar/layers/joining_figures.cc
    tools/mpiexec/environment.cc
    tools/mpiexec/program_abi.cc)
list(TRANSFORM FULMAR_NOT_PRECOMPILED PREPEND ${CMAKE_SOURCE_DIR}/)

# fulmar_precompiled_kind(KIND HEADER [EXECUTABLE] LIBRARIES lib... [OPTIONS option...])
function(fulmar_precompiled_kind kind header)
  cmake_parse_arguments(PARSE_ARGV 2 arg "EXECUTABLE" "" "LIBRARIES;OPTIONS")
  if(NOT FULMAR_PRECOMPILED)
    return()
  endif()
  set(source ${CMAKE_BINARY_DIR}/precompiled/${kind}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// A target needs a source.\n")
  add_library(precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${source})
  if(FULMAR_PRECOMPILED_LAUNCHER)
    set_target_properties(precompiled_${kind} PROPERTIES CXX_COMPILER_LAUNCHER "${FULMAR_PRECOMPILED_LAUNCHER}")
  endif()
  target_link_libraries(precompiled_${kind} PRIVATE ${arg_LIBRARIES})
  target_compile_options(precompiled_${kind} PRIVATE ${arg_OPTIONS} ${precompiled_options})
  if(arg_EXECUTABLE)
    set_target_properties(precompiled_${kind} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(precompiled_${kind} PRIVATE -fPIE)
  endif()
  # Named without the folder of the tree, so that ccache takes this file for the same in another tree.
  target_include_directories(precompiled_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/tools)
  target_precompile_headers(precompiled_${kind} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<precompiled/${header}.h$<ANGLE-R>>")
endfunction()

# fulmar_use_precompiled(TARGET KIND): for targets with C++ sources and the flags of that kind.
function(fulmar_use_precompiled target kind)
  if(NOT TARGET precompiled_${kind})
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
  set_source_files_properties(${FULMAR_NOT_PRECOMPILED} TARGET_DIRECTORY ${target}
                              PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${precompiled_options}>")
endfunction()

fulmar_precompiled_kind(library standard LIBRARIES fulmar_options)
fulmar_precompiled_kind(mpi library LIBRARIES fulmar_options)
fulmar_precompiled_kind(program standard)
fulmar_precompiled_kind(mpi_test standard EXECUTABLE)
if(TARGET precompiled_mpi)
  target_include_directories(precompiled_mpi PRIVATE ${FULMAR_INCLUDE_DIR} ${FULMAR_GENERATED_DIR} ${CMAKE_BINARY_DIR})
  target_compile_definitions(precompiled_mpi PRIVATE FULMAR_NO_FORTRAN_HANDLES FULMAR_NO_REMOVED_NAMES)
  if(TARGET fulmar_generated)
    add_dependencies(precompiled_mpi fulmar_generated)
  endif()
endif()
