# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# One static library per layer, fulmar_<layer>, from all of src/<layer>/**/*.cc. The edges below are the
# table of tools/layers.txt as far as linking goes, so a unit test of one layer links (and waits for)
# only what lies under it. libmpi_abi is linked from the objects of all layers and the generated shims.
#
# cmake/Apigen.cmake, included before this file, may define:
#   target fulmar_generated        writes everything below; all layers from `mpi` upwards depend on it
#   FULMAR_GENERATED_SOURCES       shims, compiled into libmpi_abi with the flags of a layer
#   FULMAR_VERSION_SCRIPT          linker version script of libmpi_abi
# and writes mpi.h to ${FULMAR_INCLUDE_DIR} (fixed here: generated/include) and any other generated
# header somewhere below generated/, which is on the include path of `mpi`, `api` and `runtime`.

set(FULMAR_GENERATED_DIR ${CMAKE_BINARY_DIR}/generated)
set(FULMAR_INCLUDE_DIR ${FULMAR_GENERATED_DIR}/include)
file(MAKE_DIRECTORY ${FULMAR_INCLUDE_DIR})
# The build tree can be used like an installed prefix: bin/mpicc finds include/ and lib/ beside it.
file(CREATE_LINK ${FULMAR_INCLUDE_DIR} ${CMAKE_BINARY_DIR}/include SYMBOLIC)

set(FULMAR_LAYERS base wire io fabric match channel device study mpi runtime interfaces api)
set(layer_uses_base "")
set(layer_uses_wire base)
set(layer_uses_io base)
set(layer_uses_fabric wire base)
set(layer_uses_match base)
set(layer_uses_channel fabric wire base)
set(layer_uses_device channel match fabric wire base)
set(layer_uses_study device channel match fabric wire base)
set(layer_uses_mpi device match io base)
set(layer_uses_runtime mpi study device channel match fabric wire base)
set(layer_uses_interfaces runtime device wire base)
set(layer_uses_api mpi runtime)

find_package(Threads REQUIRED)

# The networks ofi and verbs see the headers of libfabric and libibverbs in one folder each only, and
# the libraries themselves at run time.
include(CheckIncludeFileCXX)
check_include_file_cxx(rdma/fi_domain.h FULMAR_LIBFABRIC_HEADERS)
if(FULMAR_LIBFABRIC_HEADERS)
  set(FULMAR_LEFT_OUT "/src/fabric/ofi/no_libfabric[.]cc$")
else()
  message(STATUS "libfabric-dev is not installed: built without the network ofi")
  set(FULMAR_LEFT_OUT "/src/fabric/ofi/libfabric/")
endif()
check_include_file_cxx(infiniband/verbs.h FULMAR_IBVERBS_HEADERS)
if(FULMAR_IBVERBS_HEADERS)
  string(APPEND FULMAR_LEFT_OUT "|/src/fabric/verbs/no_ibverbs[.]cc$")
else()
  message(STATUS "libibverbs-dev is not installed: built without the network verbs")
  string(APPEND FULMAR_LEFT_OUT "|/src/fabric/verbs/ibverbs/")
endif()

include(cmake/precompiled.cmake)
include(cmake/unity.cmake)

function(fulmar_add_layer layer)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/*.cc)
  list(FILTER sources EXCLUDE REGEX ${FULMAR_LEFT_OUT})
  set(target fulmar_${layer})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(${target} ${scope} ${CMAKE_SOURCE_DIR}/src)
  if(sources)
    target_link_libraries(${target} PRIVATE fulmar_options)
  endif()
  foreach(lower IN LISTS layer_uses_${layer})
    target_link_libraries(${target} ${scope} fulmar_${lower})
  endforeach()
  if(layer MATCHES "^(mpi|api|runtime|interfaces)$")
    target_include_directories(${target} ${scope} ${FULMAR_INCLUDE_DIR} ${FULMAR_GENERATED_DIR}
                               ${CMAKE_BINARY_DIR})  # "generated/options.inc"
    if(sources)
      # What mpi.h adds for programs is not for the library.
      target_compile_definitions(${target} PRIVATE FULMAR_NO_FORTRAN_HANDLES FULMAR_NO_REMOVED_NAMES)
    endif()
    if(TARGET fulmar_generated AND sources)
      add_dependencies(${target} fulmar_generated)
    endif()
    set(kind mpi)
  else()
    set(kind library)
  endif()
  if(sources)
    fulmar_use_precompiled(${target} ${kind})
    fulmar_compile_together(${target})
  endif()
endfunction()

# The loops of the reduction operations are worth the vectoriser's full effort.
set(kernel_options -O3 -ffp-contract=off)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND kernel_options -mprefer-vector-width=512)
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/mpi/op/kernels.cc PROPERTIES COMPILE_OPTIONS "${kernel_options}"
                            SKIP_PRECOMPILE_HEADERS ON)

foreach(layer IN LISTS FULMAR_LAYERS)
  fulmar_add_layer(${layer})
endforeach()

# Every layer at once, for tests that need the whole stack below the C API.
add_library(fulmar_core INTERFACE)
target_link_libraries(fulmar_core INTERFACE fulmar_runtime)

if(FULMAR_LIBRARY AND TARGET fulmar_generated)
  set(objects "")
  foreach(layer IN LISTS FULMAR_LAYERS)
    get_target_property(type fulmar_${layer} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND objects $<TARGET_OBJECTS:fulmar_${layer}>)
    endif()
  endforeach()
  add_library(mpi_abi SHARED ${objects} ${FULMAR_GENERATED_SOURCES})
  add_dependencies(mpi_abi fulmar_generated)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A short message is one piece of code from the call to the cell (tests/perf counts). These files are little
    # but such calls, and grow by half; gcc stops at 40 % and takes the pieces that come last from anywhere.
    # And a C function is one piece of code: reports find its name by the addresses of calls.
    set_source_files_properties(${FULMAR_GENERATED_SOURCES} PROPERTIES COMPILE_OPTIONS
                                "--param=inline-unit-growth=100;-fno-reorder-blocks-and-partition")
  endif()
  # Not through the layers' targets: their archives must not be linked a second time.
  target_include_directories(mpi_abi PRIVATE ${CMAKE_SOURCE_DIR}/src ${FULMAR_GENERATED_DIR}
                             PUBLIC ${FULMAR_INCLUDE_DIR})
  target_compile_definitions(mpi_abi PRIVATE FULMAR_NO_FORTRAN_HANDLES FULMAR_NO_REMOVED_NAMES)
  target_link_libraries(mpi_abi PRIVATE fulmar_options Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(mpi_abi PROPERTIES SOVERSION 1)
  # No libstdc++ or libgcc of ours can meet the program's: both are linked in and hidden.
  target_link_options(mpi_abi PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
  # It stays when a plugin that brought it in is closed: threads, functions of atexit and the state of
  # the job outlive the plugin, and one that is opened again finds MPI as it left it.
  target_link_options(mpi_abi PRIVATE -Wl,-z,nodelete)
  if(NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND FULMAR_SANITIZE))
    target_link_options(mpi_abi PRIVATE -Wl,-z,defs)  # clang leaves sanitizer symbols to the program
  endif()
  if(FULMAR_VERSION_SCRIPT)
    target_link_options(mpi_abi PRIVATE -Wl,--version-script=${FULMAR_VERSION_SCRIPT})
    set_property(TARGET mpi_abi APPEND PROPERTY LINK_DEPENDS ${FULMAR_VERSION_SCRIPT})
  endif()
  add_custom_command(
    TARGET mpi_abi POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink libmpi_abi.so.1
            ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libmpi_abi.so.0)
endif()
