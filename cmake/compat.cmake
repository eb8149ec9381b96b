# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# The libraries that programs of other MPIs load: src/compat once for each ABI, with the facts of
# spec/abi_<name>.table. They lie in folders of their own, which mpiexec puts on the library path, and
# open libmpi_abi.so.1 two folders up.

if(NOT TARGET mpi_abi)
  return()
endif()

set(compat_out ${CMAKE_BINARY_DIR}/generated/compat)
set(compat_file_mpich libmpi.so.12)
set(compat_file_openmpi libmpi.so.40)

foreach(abi IN LISTS FULMAR_COMPAT_ABIS)
  set(target mpi_${abi})
  file(GLOB compat_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/compat/*.cc ${CMAKE_SOURCE_DIR}/src/compat/${abi}/*.cc)
  add_library(${target} SHARED ${compat_sources} ${FULMAR_COMPAT_ENTRIES_${abi}})
  add_dependencies(${target} fulmar_generated)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${compat_out} ${compat_out}/${abi}
                                               ${FULMAR_INCLUDE_DIR})
  target_compile_definitions(${target} PRIVATE FULMAR_NO_FORTRAN_HANDLES FULMAR_NO_REMOVED_NAMES)
  target_link_libraries(${target} PRIVATE fulmar_options Threads::Threads ${CMAKE_DL_LIBS})
  # Programs may have copies of the predefined objects: nothing may be bound early.
  # Nobody links to these files, so there is no libmpi.so beside them.
  target_compile_options(${target} PRIVATE -fsemantic-interposition)
  set_target_properties(
    ${target} PROPERTIES PREFIX "" OUTPUT_NAME ${compat_file_${abi}} SUFFIX "" NO_SONAME ON
                         LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fulmar/${abi}-abi)
  target_link_options(${target} PRIVATE -Wl,-soname,${compat_file_${abi}} -static-libstdc++ -static-libgcc
                      -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
  if(NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND FULMAR_SANITIZE))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endforeach()
file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fulmar/mpich-abi)
file(CREATE_LINK libmpi.so.12 ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fulmar/mpich-abi/libmpich.so.12 SYMBOLIC)
