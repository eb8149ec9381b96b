# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# The interfaces of the papers: lib<name> from interfaces/<name>/*.cc, a library of its own over what
# libmpi_abi exports for it (src/interfaces/core.h). HEADERS are those for programs.

set(FULMAR_INTERFACES "")

# fulmar_add_interface(NAME VERSION HEADERS header... [ON interface]): with ON, upon another interface's library alone.
function(fulmar_add_interface name version)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ON" "HEADERS")
  set(folder ${CMAKE_SOURCE_DIR}/interfaces/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  add_library(${name} SHARED ${sources})
  # Not the folder itself, whose headers could hide those of the system.
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/interfaces
                             PUBLIC ${FULMAR_INCLUDE_DIR})
  if(arg_ON)
    target_link_libraries(${name} PRIVATE fulmar_options ${arg_ON} fulmar_base Threads::Threads)
  else()
    target_link_libraries(${name} PRIVATE fulmar_options mpi_abi Threads::Threads)
  endif()
  set_target_properties(${name} PROPERTIES SOVERSION ${version} BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
  if(NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND FULMAR_SANITIZE))
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  foreach(header IN LISTS arg_HEADERS)
    # Installed with the others of that folder.
    configure_file(${folder}/${header} ${FULMAR_INCLUDE_DIR}/${header} COPYONLY)
  endforeach()
  install(TARGETS ${name} LIBRARY DESTINATION lib)
  set(FULMAR_INTERFACE_NAME ${name})
  set(FULMAR_INTERFACE_ON ${arg_ON})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/interface.pc.in ${CMAKE_BINARY_DIR}/pkgconfig/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION lib/pkgconfig)
  set(FULMAR_INTERFACES ${FULMAR_INTERFACES} ${name} PARENT_SCOPE)
endfunction()

if(TARGET mpi_abi)
  fulmar_add_interface(rwapi 1 HEADERS rwapi.h)
  fulmar_add_interface(sisci 1 HEADERS dis_types.h sisci_api.h sisci_error.h sisci_types.h)
  fulmar_add_interface(vipl 1 HEADERS vipl.h ON sisci)
  # The name by which programs of its time load the library.
  add_custom_command(TARGET vipl POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink
                     $<TARGET_FILE_NAME:vipl> $<TARGET_FILE_DIR:vipl>/vipl.so)
  install(FILES $<TARGET_FILE_DIR:vipl>/vipl.so DESTINATION lib)
endif()
