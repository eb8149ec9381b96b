# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# The installed tree: bin lib include lib/pkgconfig share/doc/fulmar. Nothing in it carries the prefix,
# so it can be moved.

if(TARGET mpi_abi)
  install(TARGETS mpi_abi LIBRARY DESTINATION lib)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libmpi_abi.so.0 DESTINATION lib)
endif()
if(TARGET mpifort_abi)
  install(TARGETS mpifort_abi LIBRARY DESTINATION lib)
  install(FILES ${FULMAR_INCLUDE_DIR}/mpif.h DESTINATION include)
  install(FILES ${FULMAR_FORTRAN_MODULE_FILES} DESTINATION share/fulmar/fortran)
endif()
install(DIRECTORY ${FULMAR_INCLUDE_DIR}/ DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "mpif.h" EXCLUDE)
foreach(tool IN ITEMS mpiexec fulmar)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION bin)
  endif()
endforeach()
if(TARGET mpiexec)
  install(FILES ${CMAKE_BINARY_DIR}/bin/mpirun DESTINATION bin)
endif()
foreach(wrapper IN ITEMS mpicc mpicxx mpifort)
  install(PROGRAMS ${CMAKE_BINARY_DIR}/bin/${wrapper} DESTINATION bin)
endforeach()
foreach(link IN ITEMS mpic++ mpiCC mpif77 mpif90)
  install(FILES ${CMAKE_BINARY_DIR}/bin/${link} DESTINATION bin)
endforeach()

configure_file(${CMAKE_SOURCE_DIR}/cmake/fulmar.pc.in ${CMAKE_BINARY_DIR}/pkgconfig/fulmar.pc @ONLY)
set(pc_links "")
foreach(name IN ITEMS mpi mpi-c mpi-cxx)  # the names that other builds ask for
  file(CREATE_LINK fulmar.pc ${CMAKE_BINARY_DIR}/pkgconfig/${name}.pc SYMBOLIC)
  list(APPEND pc_links ${CMAKE_BINARY_DIR}/pkgconfig/${name}.pc)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/pkgconfig/fulmar.pc ${pc_links} DESTINATION lib/pkgconfig)
install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/man DESTINATION share OPTIONAL)
install(FILES LICENSE README.md DESTINATION share/doc/fulmar)
install(DIRECTORY examples DESTINATION share/doc/fulmar)
install(DIRECTORY docs/ DESTINATION share/doc/fulmar FILES_MATCHING PATTERN "*.md")
