# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# Programs of tests/fortran as other MPIs' mpif77 would compile them: with an mpif.h that follows from
# spec/abi_<name>.table, linked to libmpifort.so.12 or libmpi_mpifh.so.40 without a path in them. Those of
# tests/compat/fortran know the procedures of one MPI's mpi_f08.

if(NOT FULMAR_FORTRAN_COMPILER MATCHES "gfortran")
  return()
endif()

set(compat_fortran_programs arguments callbacks coll communicators duplicates files mixed p2p partitioned processes rma text topology types)

# fulmar_add_compat_fortran_test(ABI SOURCE): compat.ABI.fortran.<name>.npN for the first number of its ranks above 1
function(fulmar_add_compat_fortran_test abi source)
  get_filename_component(stem ${source} NAME_WE)
  set(checks ${CMAKE_SOURCE_DIR}/tests/fortran)
  set(include ${CMAKE_BINARY_DIR}/generated/compat/${abi}/include)
  set(name compat.${abi}.fortran.${stem})
  set(program ${CMAKE_BINARY_DIR}/tests/${name})
  set(folder ${CMAKE_BINARY_DIR}/tests/fortran_objects/${name})
  set(ranks 1)
  set(options "")
  file(STRINGS ${source} head LIMIT_COUNT 10)
  foreach(line IN LISTS head)
    if(line MATCHES "^! ranks: *([0-9]+) *([0-9]*)")
      set(ranks ${CMAKE_MATCH_1})
      if(ranks EQUAL 1 AND CMAKE_MATCH_2)
        set(ranks ${CMAKE_MATCH_2})
      endif()
    elseif(line MATCHES "^! (options|gfortran): *(.*)$")
      separate_arguments(found UNIX_COMMAND "${CMAKE_MATCH_2}")
      list(APPEND options ${found})
    endif()
  endforeach()
  file(MAKE_DIRECTORY ${folder})
  set(partner "")
  if(EXISTS ${checks}/${stem}_in_c.c)
    set(partner ${folder}/in_c.o)
    add_custom_command(
      OUTPUT ${partner}
      COMMAND ${CMAKE_C_COMPILER} -w -c -I${include} ${checks}/${stem}_in_c.c -o ${partner}
      DEPENDS ${checks}/${stem}_in_c.c fulmar_generated
      VERBATIM)
  endif()
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${FULMAR_FORTRAN_COMPILER} -w -fallow-argument-mismatch ${options} -O1 -I${checks} -I${include}
            ${checks}/checks.f90 ${source} ${partner} -o ${program} $<TARGET_FILE:mpifort_${abi}> $<TARGET_FILE:mpi_${abi}>
    WORKING_DIRECTORY ${folder}
    DEPENDS ${source} ${partner} ${checks}/checks.f90 ${checks}/binding.inc mpifort_${abi} mpi_${abi} fulmar_generated
    COMMENT "Building ${name}"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY FULMAR_COMPAT_FORTRAN_PROGRAMS ${program})
  add_test(NAME ${name}.np${ranks} COMMAND $<TARGET_FILE:mpiexec> -n ${ranks} ${program})
  fulmar_timeout(seconds 60)
  set_tests_properties(${name}.np${ranks} PROPERTIES TIMEOUT ${seconds} PROCESSORS 2 LABELS "fortran;compat" ENVIRONMENT
                                                     "${FULMAR_TEST_ENVIRONMENT}")
endfunction()

foreach(abi IN LISTS FULMAR_COMPAT_ABIS)
  foreach(program IN LISTS compat_fortran_programs)
    fulmar_add_compat_fortran_test(${abi} ${CMAKE_SOURCE_DIR}/tests/fortran/${program}.F90)
  endforeach()
  fulmar_add_compat_fortran_test(${abi} ${CMAKE_CURRENT_LIST_DIR}/fortran/${abi}_f08.f90)
endforeach()
get_property(programs GLOBAL PROPERTY FULMAR_COMPAT_FORTRAN_PROGRAMS)
add_custom_target(compat_fortran_tests ALL DEPENDS ${programs})
