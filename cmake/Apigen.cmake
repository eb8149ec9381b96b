# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# spec/ -> tools/apigen -> ${CMAKE_BINARY_DIR}/generated: mpi.h, the shims, the version script, lists.
# apigen leaves a file alone that would not change, so a changed table rebuilds only what it touches.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

set(apigen_out ${CMAKE_BINARY_DIR}/generated)
file(GLOB apigen_inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/spec/*.api ${CMAKE_SOURCE_DIR}/spec/*.table
     ${CMAKE_SOURCE_DIR}/tools/apigen/*.py)
foreach(program IN ITEMS mpiexec mpicc fulmar)
  list(APPEND apigen_inputs ${CMAKE_SOURCE_DIR}/docs/${program}.md)  # is also a manual page
endforeach()
list(APPEND apigen_inputs ${CMAKE_SOURCE_DIR}/include/mpi-ext.h)
foreach(interface IN ITEMS rwapi sisci vipl)
  list(APPEND apigen_inputs ${CMAKE_SOURCE_DIR}/docs/interfaces/${interface}.md)  # the same
endforeach()
file(GLOB apigen_chapters CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/spec/*.api)

set(FULMAR_GENERATED_SOURCES "")
foreach(chapter IN LISTS apigen_chapters)
  get_filename_component(name ${chapter} NAME_WE)
  list(APPEND FULMAR_GENERATED_SOURCES ${apigen_out}/shims_${name}.cc)
endforeach()
set(FULMAR_FORTRAN_ENTRIES "")  # of libmpifort_abi; see cmake/fortran.cmake
foreach(chapter IN LISTS apigen_chapters)
  get_filename_component(name ${chapter} NAME_WE)
  if(NOT name STREQUAL "tool")
    list(APPEND FULMAR_FORTRAN_ENTRIES ${apigen_out}/fortran/entries_${name}.cc)
  endif()
endforeach()
list(APPEND FULMAR_FORTRAN_ENTRIES ${apigen_out}/fortran/entries_extra.cc)
set(FULMAR_COMPAT_ABIS mpich openmpi)  # see cmake/compat.cmake
set(FULMAR_COMPAT_CXX_mpich ${apigen_out}/compat/mpich/cxx/methods.cc ${apigen_out}/compat/mpich/cxx/objects.cc)
set(FULMAR_COMPAT_GENERATED ${FULMAR_COMPAT_CXX_mpich})
foreach(abi IN LISTS FULMAR_COMPAT_ABIS)
  set(FULMAR_COMPAT_FORTRAN_${abi} ${apigen_out}/compat/${abi}/fortran/entries_extra.cc)
  set(FULMAR_COMPAT_ENTRIES_${abi} ${apigen_out}/compat/${abi}/entries_extra.cc ${apigen_out}/compat/${abi}/objects.cc)
  foreach(chapter IN LISTS apigen_chapters)
    get_filename_component(name ${chapter} NAME_WE)
    list(APPEND FULMAR_COMPAT_ENTRIES_${abi} ${apigen_out}/compat/${abi}/entries_${name}.cc)
    if(NOT name STREQUAL "tool")
      list(APPEND FULMAR_COMPAT_FORTRAN_${abi} ${apigen_out}/compat/${abi}/fortran/entries_${name}.cc)
    endif()
  endforeach()
  list(APPEND FULMAR_COMPAT_GENERATED ${FULMAR_COMPAT_ENTRIES_${abi}} ${FULMAR_COMPAT_FORTRAN_${abi}})
endforeach()
set(FULMAR_VERSION_SCRIPT ${apigen_out}/libmpi_abi.map)
set(apigen_outputs
    ${apigen_out}/include/mpi.h ${apigen_out}/exports.txt ${apigen_out}/api_coverage.inc
    ${apigen_out}/api_coverage.json ${apigen_out}/options.inc ${apigen_out}/include/mpif.h ${FULMAR_VERSION_SCRIPT})

# What is ours beside the standard; written by hand.
configure_file(${CMAKE_SOURCE_DIR}/include/mpi-ext.h ${apigen_out}/include/mpi-ext.h COPYONLY)

add_custom_command(
  OUTPUT ${apigen_out}/apigen.stamp
  BYPRODUCTS ${apigen_outputs} ${FULMAR_GENERATED_SOURCES} ${FULMAR_FORTRAN_ENTRIES} ${FULMAR_COMPAT_GENERATED}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/apigen --spec ${CMAKE_SOURCE_DIR}/spec --out
          ${apigen_out} --version ${PROJECT_VERSION}
  COMMAND ${CMAKE_COMMAND} -E touch ${apigen_out}/apigen.stamp
  DEPENDS ${apigen_inputs}
  COMMENT "Generating mpi.h and the shims"
  VERBATIM)
add_custom_target(fulmar_generated DEPENDS ${apigen_out}/apigen.stamp)
set_source_files_properties(${FULMAR_GENERATED_SOURCES} ${FULMAR_FORTRAN_ENTRIES} ${FULMAR_COMPAT_GENERATED} PROPERTIES GENERATED
                                                                                                  TRUE)

# The installed headers that are written by hand lie beside mpi.h.
file(GLOB_RECURSE installed_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/include
     ${CMAKE_SOURCE_DIR}/include/*.h)
foreach(header IN LISTS installed_headers)
  configure_file(${CMAKE_SOURCE_DIR}/include/${header} ${apigen_out}/include/${header} COPYONLY)
endforeach()
