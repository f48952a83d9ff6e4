# Compiler settings shared by every target, and the three functions that declare targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Without these words ccache keeps nothing that was compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# Designated initialisers leave members at their defaults on purpose.
set(PODIUM_WARNINGS -Wall -Wextra -Wshadow -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside its own library headers (GCC bugs 105329, 105651, 105593).
  list(APPEND PODIUM_WARNINGS -Wno-restrict -Wno-maybe-uninitialized -Wno-dangling-pointer -Wno-stringop-overflow)
  if(PODIUM_UNITY)  # GCC takes a source that another includes for a header
    list(APPEND PODIUM_WARNINGS $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${PODIUM_WARNINGS}>")  # nvcc has its own
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
if(PODIUM_SANITIZE)
  add_compile_options(-fsanitize=${PODIUM_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PODIUM_SANITIZE})
endif()

# podium_library(NAME SOURCES a.cc b.cc DEPS target...)
function(podium_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_DEPS})
endfunction()

# podium_program(NAME SOURCES main.cc DEPS target...): the executable lands in <build>/bin.
function(podium_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  if(name MATCHES "^podium")
    install(TARGETS ${name} RUNTIME)
  endif()
endfunction()

# podium_test(NAME SOURCES x_test.cc DEPS target... [LABELS quick|slow] [TIMEOUT s] [ENVIRONMENT A=b] [EACH_CASE]): one
# GoogleTest program, one ctest entry; with EACH_CASE an entry for each case, NAME.Suite.Case, for a program whose cases
# together would take over half a minute. TIMEOUT is for a machine that is busy with other things, many times what an
# entry takes on a quiet one. Label `slow` keeps it out of ./tests/run --quick.
include(GoogleTest)
# A test's own code is compiled more often than it runs. With -O1, GCC 12 takes appended strings for overruns.
set(PODIUM_TEST_FLAGS -O1 -fopenmp -Wno-array-bounds)
function(podium_test name)
  cmake_parse_arguments(arg "EACH_CASE" "LABELS;TIMEOUT;ENVIRONMENT" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} podium_test_base)
  target_compile_options(${name} PRIVATE ${PODIUM_TEST_FLAGS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${name} REUSE_FROM podium_test_base)
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  set(properties LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT})
  if(arg_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT ${arg_ENVIRONMENT})
  endif()
  if(arg_EACH_CASE)
    gtest_discover_tests(${name} TEST_PREFIX ${name}. WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} DISCOVERY_MODE PRE_TEST
                         DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES PROPERTIES ${properties})
  else()
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES ${properties})
  endif()
endfunction()
