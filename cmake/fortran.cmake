# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# libmpifort_abi: src/fortran and the generated entry points, C++ without a Fortran compiler. It sees the C
# interface only and links libmpi_abi as any program does, so it runs over each library of the standard ABI.
# The modules mpi and mpi_f08 are compiled by mpifort for the compiler at hand (tools/wrappers).

# In the order in which they are compiled (tools/wrappers/wrapper.in).
set(FULMAR_FORTRAN_MODULES mpi_abi_constants mpi_f08_types mpi_f08_callbacks mpi_f08 mpi)

find_program(FULMAR_FORTRAN_COMPILER NAMES gfortran flang flang-new flang-new-19 ifx)
set(FULMAR_FORTRAN AUTO CACHE STRING "Build the Fortran interface: ON, OFF, or AUTO: where there is a Fortran compiler")
if(NOT TARGET mpi_abi OR NOT FULMAR_FORTRAN OR (FULMAR_FORTRAN STREQUAL "AUTO" AND NOT FULMAR_FORTRAN_COMPILER))
  return()
endif()

set(fortran_out ${CMAKE_BINARY_DIR}/generated/fortran)
set(FULMAR_FORTRAN_DIR ${CMAKE_BINARY_DIR}/share/fulmar/fortran)  # as in an installed tree
file(GLOB fortran_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/fortran/*.cc ${CMAKE_SOURCE_DIR}/src/fortran/mpi4/*.cc
     ${CMAKE_SOURCE_DIR}/src/fortran/standard/*.cc)
add_library(mpifort_abi SHARED ${fortran_sources} ${FULMAR_FORTRAN_ENTRIES})
add_dependencies(mpifort_abi fulmar_generated)
target_include_directories(mpifort_abi PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/src/fortran/standard)
target_link_libraries(mpifort_abi PRIVATE fulmar_options PUBLIC mpi_abi)
# The addresses of MPI_BOTTOM and its like are those that the program has: nothing may be bound early.
set_source_files_properties(${fortran_sources} PROPERTIES COMPILE_OPTIONS -fsemantic-interposition)
set_source_files_properties(${FULMAR_FORTRAN_ENTRIES} PROPERTIES COMPILE_OPTIONS "-O1;-fsemantic-interposition")
set_target_properties(mpifort_abi PROPERTIES SOVERSION 1 BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
target_link_options(mpifort_abi PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
if(NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND FULMAR_SANITIZE))
  target_link_options(mpifort_abi PRIVATE -Wl,-z,defs)
endif()

set(FULMAR_FORTRAN_MODULE_FILES "")
file(MAKE_DIRECTORY ${FULMAR_FORTRAN_DIR})
foreach(module IN LISTS FULMAR_FORTRAN_MODULES)
  if(EXISTS ${CMAKE_SOURCE_DIR}/src/fortran/modules/${module}.f90)
    set(source ${CMAKE_SOURCE_DIR}/src/fortran/modules/${module}.f90)
  else()
    set(source ${fortran_out}/modules/${module}.f90)
  endif()
  file(CREATE_LINK ${source} ${FULMAR_FORTRAN_DIR}/${module}.f90 SYMBOLIC)
  list(APPEND FULMAR_FORTRAN_MODULE_FILES ${source})
endforeach()
