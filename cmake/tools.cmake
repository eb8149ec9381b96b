# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# fulmar_add_tool(NAME LIBRARIES lib...): bin/NAME from tools/NAME/*.cc. All files but main.cc form the
# static library fulmar_tool_NAME, which tests/unit/NAME links.

function(fulmar_add_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  set(folder ${CMAKE_SOURCE_DIR}/tools/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  list(REMOVE_ITEM sources ${folder}/main.cc)
  set(roots ${CMAKE_SOURCE_DIR}/tools ${folder} ${CMAKE_SOURCE_DIR}/src)
  if(sources)
    add_library(fulmar_tool_${name} STATIC ${sources})
    target_include_directories(fulmar_tool_${name} PUBLIC ${roots})
    target_link_libraries(fulmar_tool_${name} PUBLIC ${arg_LIBRARIES})
    fulmar_use_precompiled(fulmar_tool_${name} program)
    fulmar_compile_together(fulmar_tool_${name})
  endif()
  if(EXISTS ${folder}/main.cc)
    add_executable(${name} ${folder}/main.cc)
    target_include_directories(${name} PRIVATE ${roots})
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
    if(sources)
      target_link_libraries(${name} PRIVATE fulmar_tool_${name})
    endif()
  endif()
endfunction()

# What a tool links by the layer law when it has no CMakeLists.txt of its own.
set(tool_libraries_mpiexec fulmar_wire fulmar_base)
set(tool_libraries_fulmar mpi_abi)

function(fulmar_add_tool_folder name)
  set(folder ${CMAKE_SOURCE_DIR}/tools/${name})
  if(EXISTS ${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  elseif(EXISTS ${folder}/main.cc)
    fulmar_add_tool(${name} LIBRARIES ${tool_libraries_${name}})
  endif()
endfunction()

if(FULMAR_TOOLS)
  fulmar_add_tool_folder(mpiexec)
  if(TARGET mpi_abi)
    fulmar_add_tool_folder(fulmar)
  endif()
endif()

# Compiler wrappers: the same script, told its language.
list(JOIN FULMAR_FORTRAN_MODULES " " FULMAR_FORTRAN_MODULE_WORDS)
set(wrapper_dir ${CMAKE_BINARY_DIR}/bin)
function(fulmar_add_wrapper name language compiler variables libraries)
  set(WRAPPER_NAME ${name})
  set(WRAPPER_LANGUAGE ${language})
  set(WRAPPER_COMPILER ${compiler})
  set(WRAPPER_VARIABLES ${variables})
  set(WRAPPER_LIBRARIES ${libraries})
  set(WRAPPER_MORE_USAGE "")
  if(language STREQUAL "Fortran")
    set(WRAPPER_MORE_USAGE "
  The modules mpi and mpi_f08 are compiled at their first use, into FULMAR_MODULE_CACHE or the user's cache.")
  endif()
  configure_file(${CMAKE_SOURCE_DIR}/tools/wrappers/wrapper.in ${wrapper_dir}/${name} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                  WORLD_READ WORLD_EXECUTE)
endfunction()
fulmar_add_wrapper(mpicc C gcc "FULMAR_CC MPICH_CC OMPI_CC" "-lmpi_abi")
fulmar_add_wrapper(mpicxx C++ g++ "FULMAR_CXX MPICH_CXX OMPI_CXX" "-lmpi_abi")
set(fortran_libraries "-lmpi_abi")
if(TARGET mpifort_abi)
  set(fortran_libraries "-lmpifort_abi -lmpi_abi")
endif()
fulmar_add_wrapper(mpifort Fortran gfortran "FULMAR_FC MPICH_FC OMPI_FC MPICH_F90 MPICH_F77 OMPI_F77"
                   "${fortran_libraries}")
foreach(other IN ITEMS mpic++:mpicxx mpiCC:mpicxx mpif77:mpifort mpif90:mpifort)
  string(REPLACE ":" ";" other ${other})
  list(GET other 0 link)
  list(GET other 1 wrapper)
  file(CREATE_LINK ${wrapper} ${wrapper_dir}/${link} SYMBOLIC)
endforeach()
