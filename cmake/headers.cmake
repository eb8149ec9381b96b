# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# Target check_headers: every header of src, tools and interfaces is compiled alone, so that including it is enough
# to use it and no header leans on the order in which others come.

set(check_dir ${CMAKE_BINARY_DIR}/check_headers)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src/*.h
     ${CMAKE_SOURCE_DIR}/tools/*.h ${CMAKE_SOURCE_DIR}/interfaces/*.h)
if(NOT FULMAR_LIBFABRIC_HEADERS)
  list(FILTER headers EXCLUDE REGEX "fabric/ofi/libfabric/")
endif()
if(NOT FULMAR_IBVERBS_HEADERS)
  list(FILTER headers EXCLUDE REGEX "fabric/verbs/ibverbs/")
endif()
set(header_sources "")
foreach(header IN LISTS headers)
  # One folder only: a regular expression with ^ would take the next one, too (src/interfaces/core.h).
  string(FIND ${header} "/" slash)
  math(EXPR behind "${slash} + 1")
  string(SUBSTRING ${header} ${behind} -1 included)
  string(REPLACE "/" "+" name ${header})
  set(source ${check_dir}/${name}.cc)
  # Twice: also shows a forgotten #pragma once.
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${included}\"\n#include \"${included}\"\n" @ONLY)
  list(APPEND header_sources ${source})
endforeach()

# Programs of MPICH's C++ bindings see that MPI's mpi.h.
set(mpich_cxx_sources ${header_sources})
list(FILTER mpich_cxx_sources INCLUDE REGEX "src\\+compat\\+cxx\\+mpich\\+")
set_source_files_properties(
  ${mpich_cxx_sources} PROPERTIES INCLUDE_DIRECTORIES
                                  "${FULMAR_GENERATED_DIR}/compat/mpich/include;${FULMAR_GENERATED_DIR}/compat/mpich/cxx")

if(header_sources)
  add_library(check_headers OBJECT EXCLUDE_FROM_ALL ${header_sources})
  target_include_directories(
    check_headers
    PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/src/fortran/standard ${CMAKE_SOURCE_DIR}/interfaces
            ${CMAKE_SOURCE_DIR}/tools
            ${CMAKE_SOURCE_DIR}/tools/mpiexec ${CMAKE_SOURCE_DIR}/tools/fulmar ${FULMAR_INCLUDE_DIR}
            ${FULMAR_GENERATED_DIR} ${FULMAR_GENERATED_DIR}/compat ${FULMAR_GENERATED_DIR}/compat/mpich)
  target_compile_options(check_headers PRIVATE -O0 -g0)
  if(TARGET fulmar_generated)
    add_dependencies(check_headers fulmar_generated)
  endif()
endif()
