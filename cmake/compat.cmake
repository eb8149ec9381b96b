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

# Their Fortran: src/fortran over the C library of the same ABI. src/fortran/mpi4 needs what libmpi.so.40 does not have.
set(compat_fortran_mpich libmpifort.so.12)
set(compat_fortran_openmpi libmpi_mpifh.so.40)
file(GLOB compat_fortran_common CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/fortran/*.cc)
file(GLOB compat_fortran_mpi4 CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/fortran/mpi4/*.cc)
foreach(abi IN LISTS FULMAR_COMPAT_ABIS)
  set(target mpifort_${abi})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/fortran/${abi}/*.cc)
  list(APPEND sources ${compat_fortran_common})
  if(abi STREQUAL "mpich")
    list(APPEND sources ${compat_fortran_mpi4})
  endif()
  add_library(${target} SHARED ${sources} ${FULMAR_COMPAT_FORTRAN_${abi}})
  add_dependencies(${target} fulmar_generated mpi_${abi})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/src/fortran/${abi}
                                               ${compat_out}/${abi}/include)
  target_link_libraries(${target} PRIVATE fulmar_options Threads::Threads)
  # The addresses of MPI_BOTTOM and its like are those that the program has: nothing may be bound early.
  target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -fsemantic-interposition)
  set_source_files_properties(${FULMAR_COMPAT_FORTRAN_${abi}} PROPERTIES COMPILE_OPTIONS "-O1;-fsemantic-interposition")
  set_target_properties(
    ${target} PROPERTIES PREFIX "" OUTPUT_NAME ${compat_fortran_${abi}} SUFFIX "" NO_SONAME ON BUILD_RPATH "$ORIGIN"
                         INSTALL_RPATH "$ORIGIN"
                         LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fulmar/${abi}-abi)
  target_link_options(
    ${target} PRIVATE -Wl,-soname,${compat_fortran_${abi}} -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL
    LINKER:--no-as-needed,$<TARGET_FILE:mpi_${abi}>)
  if(NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND FULMAR_SANITIZE))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endforeach()

# The C++ bindings that MPI 3.0 removed. Most functions are inline in the headers of these MPIs, so programs contain them. Open
# MPI 4: the library has predefined objects and functions, tables of virtual functions are the program's. MPICH: the library
# has the classes that its header leaves to it, from spec/cxx_mpich.table, and needs libstdc++ as every program with it does.
set(compat_cxx_mpich libmpicxx.so.12)
set(compat_cxx_openmpi libmpi_cxx.so.40)
set(compat_cxx_options_mpich -fsemantic-interposition -fexceptions -frtti)
set(compat_cxx_options_openmpi -fsemantic-interposition)
set(compat_cxx_runtime_mpich "")
set(compat_cxx_runtime_openmpi -static-libstdc++ -static-libgcc)
foreach(abi IN LISTS FULMAR_COMPAT_ABIS)
  set(target mpicxx_${abi})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/compat/cxx/${abi}/*.cc)
  list(APPEND sources ${FULMAR_COMPAT_CXX_${abi}})
  add_library(${target} SHARED ${sources})
  add_dependencies(${target} fulmar_generated mpi_${abi})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${compat_out}/${abi}/include ${compat_out}/${abi}/cxx)
  target_link_libraries(${target} PRIVATE fulmar_options Threads::Threads)
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${compat_cxx_options_${abi}}")
  set_target_properties(
    ${target} PROPERTIES PREFIX "" OUTPUT_NAME ${compat_cxx_${abi}} SUFFIX "" NO_SONAME ON BUILD_RPATH "$ORIGIN"
                         INSTALL_RPATH "$ORIGIN"
                         LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fulmar/${abi}-abi)
  target_link_options(
    ${target} PRIVATE -Wl,-soname,${compat_cxx_${abi}} ${compat_cxx_runtime_${abi}} -Wl,--exclude-libs,ALL
    LINKER:--no-as-needed,$<TARGET_FILE:mpi_${abi}> -Wl,--as-needed)
endforeach()

set(FULMAR_COMPAT_LIBRARIES "")
foreach(abi IN LISTS FULMAR_COMPAT_ABIS)
  list(APPEND FULMAR_COMPAT_LIBRARIES mpi_${abi} mpifort_${abi} mpicxx_${abi})
endforeach()

# Other names that programs know the libraries by. Open MPI's Fortran is in three, here in one; Debian adds the compiler.
# libmpi.so is for programs that open MPI when they run and have code for both ABIs: NEURON takes Open MPI's where it finds an internal
# function of Open MPI, so it is given MPICH's. Nobody links to files in these folders.
set(FULMAR_COMPAT_LINKS
    mpich/libmpi.so=libmpi.so.12
    mpich/libmpich.so.12=libmpi.so.12
    mpich/libmpichfort.so.12=libmpifort.so.12
    mpich/libmpichcxx.so.12=libmpicxx.so.12
    openmpi/libmpi_usempi_ignore_tkr.so.40=libmpi_mpifh.so.40
    openmpi/libmpi_usempif08.so.40=libmpi_mpifh.so.40
    openmpi/libmpi_mpifh-gfortran.so.40=libmpi_mpifh.so.40
    openmpi/libmpi_usempi_ignore_tkr-gfortran.so.40=libmpi_mpifh.so.40
    openmpi/libmpi_usempif08-gfortran.so.40=libmpi_mpifh.so.40)
foreach(link IN LISTS FULMAR_COMPAT_LINKS)
  string(REGEX MATCH "^([^/]*)/(.*)=(.*)$" matched ${link})
  set(folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fulmar/${CMAKE_MATCH_1}-abi)
  set(target ${CMAKE_MATCH_3})
  set(name ${CMAKE_MATCH_2})
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${target} ${folder}/${name} SYMBOLIC)
endforeach()
