# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# Sources of one folder are compiled some at a time, as if they were one (CMake's unity builds): parsing their headers
# is what most of the time goes into. The preset `clang` and those of the sanitizers compile each source alone, and
# tools/check_clang looks at each alone, so none comes to need what only its neighbours include. Two files of a folder
# must not have functions or constants of one name in their unnamed namespaces.

option(FULMAR_UNITY "Compile the sources of a folder some at a time" OFF)
set(FULMAR_UNITY_SOURCES 8)  # at a time: few enough that both cores have work until the end

# One needs <linux/tcp.h>, which does not go together with <netinet/tcp.h>. Of the others tests have stand-ins, which
# take the place of whole objects.
file(GLOB fulmar_alone CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/runtime/*.cc)
list(APPEND fulmar_alone ${CMAKE_SOURCE_DIR}/src/runtime/options/tool_calls.cc ${CMAKE_SOURCE_DIR}/src/interfaces/open.cc
     ${CMAKE_SOURCE_DIR}/src/fabric/tcp/stream/acked.cc)
set_source_files_properties(${fulmar_alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# fulmar_compile_together(TARGET): its sources, but for those that have flags of their own.
function(fulmar_compile_together target)
  if(NOT FULMAR_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT source MATCHES "[.]cc$" OR options OR alone)
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" key)
    math(EXPR count_${key} "0${count_${key}} + 1")
    math(EXPR part "(${count_${key}} - 1) / ${FULMAR_UNITY_SOURCES}")
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${name}_${part}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The first is said of every type with a member of an unnamed namespace that is not in the main file. The others see
    # faults inside std::string's operator+ (gcc's bug 105651) when much is inlined. Sources alone are built with them.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-array-bounds -Wno-restrict
                           -Wno-stringop-overflow)
  endif()
endfunction()
