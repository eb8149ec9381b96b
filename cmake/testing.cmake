# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# One function per kind of test.

if(CMAKE_CROSSCOMPILING AND EXISTS /usr/src/googletest/CMakeLists.txt)
  # Debian's GoogleTest is compiled for the build machine only.
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  add_subdirectory(/usr/src/googletest googletest EXCLUDE_FROM_ALL SYSTEM)
  target_compile_options(gtest PRIVATE -w)
else()
  find_package(GTest QUIET)
endif()
if(NOT TARGET gtest AND NOT GTest_FOUND)
  message(STATUS "GoogleTest is not installed: the tests are not built (`make test` installs it)")
endif()

# The libraries that such a test links are what a user gets; its own code needs a third less of the compiler's time.
option(FULMAR_OPTIMIZED_TESTS "Optimize tests with GoogleTest, too, in a release build" OFF)
set(FULMAR_GTEST_OPTIONS "")
if(NOT FULMAR_OPTIMIZED_TESTS)
  set(FULMAR_GTEST_OPTIONS $<$<CONFIG:Release>:-O0>)
endif()

if(TARGET gtest)
  set(gtest_library gtest)
elseif(GTest_FOUND)
  set(gtest_library GTest::gtest)
endif()
if(gtest_library)
  fulmar_precompiled_kind(test gtest EXECUTABLE LIBRARIES ${gtest_library} OPTIONS ${FULMAR_GTEST_OPTIONS})
  fulmar_precompiled_kind(source_test gtest EXECUTABLE LIBRARIES ${gtest_library} OPTIONS -fno-rtti)
endif()

# The environment of every test: sanitizer settings, nothing inherited that changes the library.
set(FULMAR_TEST_ENVIRONMENT "")
if(FULMAR_SANITIZE MATCHES "address")
  list(APPEND FULMAR_TEST_ENVIRONMENT "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1"
    "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/support/leaks.txt")
endif()
if(FULMAR_SANITIZE MATCHES "undefined")
  list(APPEND FULMAR_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
endif()
if(FULMAR_SANITIZE STREQUAL "thread")
  list(APPEND FULMAR_TEST_ENVIRONMENT "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1")
endif()

if(CMAKE_CROSSCOMPILING)
  # An emulator of one process cannot read the memory of others; its execve and its descriptors in messages behave
  # otherwise when they fail.
  set(not_emulated
      Copies/0.* Shm.Bad_address_* Shm.Copy_of_more_* Shm.Peer_that_has_not_started_*
      ProgramOutput.A_missing_program_is_not_started UnixSocket.No_descriptor_beyond_the_first_stays_open)
  list(JOIN not_emulated ":" not_emulated)
  set(FULMAR_TEST_ENVIRONMENT "GTEST_FILTER=-${not_emulated}")
endif()

# How long a test may take that gets `seconds` without a sanitizer.
function(fulmar_timeout out seconds)
  if(FULMAR_SANITIZE)
    math(EXPR seconds "${seconds} * 5")
  endif()
  set(${out} ${seconds} PARENT_SCOPE)
endfunction()

# fulmar_add_gtest(NAME SOURCES file... LIBRARIES lib... [LABELS label...] [TIMEOUT s] [AS_SOURCE])
# One executable with GoogleTest's main, one ctest entry for all its cases. AS_SOURCE: optimized and without run-time type
# information, as src is, for a test that derives from classes of src, counts instructions, or computes for long.
function(fulmar_add_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "AS_SOURCE" "TIMEOUT" "SOURCES;LIBRARIES;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  fulmar_timeout(arg_TIMEOUT ${arg_TIMEOUT})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  if(arg_AS_SOURCE)
    set(kind source_test)
    target_compile_options(${name} PRIVATE -fno-rtti)
  else()
    set(kind test)
    target_compile_options(${name} PRIVATE ${FULMAR_GTEST_OPTIONS})
  endif()
  fulmar_use_precompiled(${name} ${kind})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" ENVIRONMENT
                                          "${FULMAR_TEST_ENVIRONMENT}")
endfunction()

# fulmar_add_mpi_test(NAME SOURCES file... RANKS n... [ENV NAME=VALUE...] [TIMEOUT s] [LABELS label...]
#                     [ARGS arg...] [LAUNCH option...] [LIBRARIES lib...] [NETWORKS network...])
# An MPI program that sees the public API only, run once per number of ranks by the build's mpiexec,
# and with the last number over each network alone. It passes by exiting with 0. Names in ctest:
# mpi.NAME.np4, mpi.NAME.tcp.np4. Over verbs it runs in a guest, with all others in one boot (tests/rdma).
function(fulmar_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;RANKS;ENV;LABELS;ARGS;LAUNCH;LIBRARIES;NETWORKS")
  if(NOT TARGET mpi_abi OR NOT TARGET mpiexec)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  fulmar_timeout(arg_TIMEOUT ${arg_TIMEOUT})
  set(target mpi.${name})
  add_executable(${target} ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/mpi)
  target_link_libraries(${target} PRIVATE mpi_abi Threads::Threads ${arg_LIBRARIES})
  if(arg_SOURCES MATCHES "[.]cc(;|$)")
    fulmar_use_precompiled(${target} mpi_test)
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    set(test mpi.${name}.np${ranks})
    add_test(NAME ${test} COMMAND $<TARGET_FILE:mpiexec> ${arg_LAUNCH} -n ${ranks}
                                  $<TARGET_FILE:${target}> ${arg_ARGS})
    set_tests_properties(
      ${test} PROPERTIES TIMEOUT ${arg_TIMEOUT} PROCESSORS 2 LABELS "mpi;${arg_LABELS}"
                         ENVIRONMENT "${FULMAR_TEST_ENVIRONMENT};${arg_ENV}")
  endforeach()
  list(GET arg_RANKS -1 ranks)
  if(verbs IN_LIST arg_NETWORKS)
    list(REMOVE_ITEM arg_NETWORKS verbs)
    list(JOIN arg_ARGS " " words)
    set_property(GLOBAL APPEND PROPERTY FULMAR_VERBS_PROGRAMS "${name} ${ranks} ${arg_TIMEOUT} ${words}")
  endif()
  foreach(network IN LISTS arg_NETWORKS)
    set(test mpi.${name}.${network}.np${ranks})
    add_test(NAME ${test} COMMAND $<TARGET_FILE:mpiexec> ${arg_LAUNCH} -n ${ranks}
                                  $<TARGET_FILE:${target}> ${arg_ARGS})
    set_tests_properties(
      ${test}
      PROPERTIES TIMEOUT ${arg_TIMEOUT} PROCESSORS 2 LABELS "mpi;${network};${arg_LABELS}"
                 ENVIRONMENT "${FULMAR_TEST_ENVIRONMENT};${arg_ENV};FULMAR_FABRIC=${network}")
  endforeach()
endfunction()

# fulmar_add_mpi_chapter(FOLDER): every .c and .cc in it is one MPI test. How it is run stands in its
# first ten lines, each entry optional:
#   // ranks: 1 2 4        (default 2)
#   // timeout: 120        (seconds, default 60)
#   // env: NAME=VALUE ...
#   // args: ...
#   // launch: ...           (options of mpiexec)
#   // labels: ...           (besides that of the folder)
#   // networks: tcp ...     (also over these, each alone; as below where it is not there)
# Chapters about messages are run over tcp, too, but for programs with options of their own; a few of
# them over ofi, by libfabric's own tcp, and over verbs.
set(FULMAR_NETWORK_CHAPTERS p2p coll comm datatype partitioned rma topo)
set(FULMAR_OFI_CHAPTERS "")
if(FULMAR_LIBFABRIC_HEADERS)
  set(FULMAR_OFI_CHAPTERS p2p partitioned)
endif()
set(FULMAR_VERBS_CHAPTERS p2p partitioned)
set(FULMAR_VERBS_PROGRAMS_BESIDES coll.movement coll.reductions coll.nonblocking coll.persistent rma.adapters rma.operations)
set(FULMAR_OFI_PROGRAMS_BESIDES "")
if(FULMAR_LIBFABRIC_HEADERS)
  set(FULMAR_OFI_PROGRAMS_BESIDES rma.adapters rma.operations rma.passive)
endif()
function(fulmar_add_mpi_chapter folder)
  get_filename_component(chapter ${folder} NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cc)
  fulmar_add_mpi_programs(${chapter} ${sources})
endfunction()

# fulmar_add_mpi_programs(CHAPTER source...): the same for these.
function(fulmar_add_mpi_programs chapter)
  foreach(source IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} head LIMIT_COUNT 10)
    set(ranks 2)
    set(timeout 60)
    set(env "")
    set(args "")
    set(launch "")
    set(labels "")
    set(networks "")
    foreach(line IN LISTS head)
      if(line MATCHES "^// (ranks|timeout|env|args|launch|labels|networks): *(.*)$")
        separate_arguments(${CMAKE_MATCH_1} UNIX_COMMAND "${CMAKE_MATCH_2}")
      elseif(line MATCHES "^// ([A-Z_]+=[^ ]+)$")  # of env, too long for its line
        list(APPEND env ${CMAKE_MATCH_1})
      elseif(line MATCHES "^//.* (ranks|timeout|env|args|launch|labels|networks): [A-Z0-9-]")
        message(FATAL_ERROR "${source}: '${CMAKE_MATCH_1}:' has to begin its line: ${line}")
      endif()
    endforeach()
    get_filename_component(stem ${source} NAME_WE)
    if(NOT networks AND chapter IN_LIST FULMAR_NETWORK_CHAPTERS AND NOT env AND NOT launch AND NOT "big" IN_LIST labels)
      list(GET ranks -1 most)
      if(most GREATER 1)
        set(networks tcp)
        if(chapter IN_LIST FULMAR_OFI_CHAPTERS OR ${chapter}.${stem} IN_LIST FULMAR_OFI_PROGRAMS_BESIDES)
          list(APPEND networks ofi)
        endif()
        if(chapter IN_LIST FULMAR_VERBS_CHAPTERS OR ${chapter}.${stem} IN_LIST FULMAR_VERBS_PROGRAMS_BESIDES)
          list(APPEND networks verbs)
        endif()
      endif()
    endif()
    fulmar_add_mpi_test(${chapter}.${stem} SOURCES ${source} RANKS ${ranks} TIMEOUT ${timeout}
                        ENV ${env} ARGS ${args} LAUNCH ${launch} LABELS ${chapter} ${labels}
                        NETWORKS ${networks})
  endforeach()
endfunction()

# fulmar_add_script_test(NAME COMMAND program arg... [TIMEOUT s] [LABELS label...] [PROCESSORS n])
# A shell or Python script; finds the build in FULMAR_BUILD_DIR and the tree in FULMAR_SOURCE_DIR.
# Exit status 77 means skipped (the script prints why).
function(fulmar_add_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;PROCESSORS" "COMMAND;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  fulmar_timeout(arg_TIMEOUT ${arg_TIMEOUT})
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(
    ${name}
    PROPERTIES
      TIMEOUT ${arg_TIMEOUT}
      PROCESSORS ${arg_PROCESSORS}
      LABELS "${arg_LABELS}"
      SKIP_RETURN_CODE 77
      ENVIRONMENT
      "${FULMAR_TEST_ENVIRONMENT};FULMAR_BUILD_DIR=${CMAKE_BINARY_DIR};FULMAR_SOURCE_DIR=${CMAKE_SOURCE_DIR}"
  )
endfunction()
