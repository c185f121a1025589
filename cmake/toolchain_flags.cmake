# Compiler and linker settings of every target of ours. Third parties come in as
# SYSTEM includes, so these warnings speak of our code alone.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(FRAZIL_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=<value>")
option(FRAZIL_FUZZ "Build the libFuzzer targets of tests/fuzz" OFF)
option(FRAZIL_WERROR "Treat warnings as errors" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Dev CACHE STRING "Dev or Release" FORCE)
endif()
set(CMAKE_CXX_FLAGS_DEV "-O0 -g1" CACHE STRING "Flags of the Dev build type" FORCE)
set(CMAKE_EXE_LINKER_FLAGS_DEV "" CACHE STRING "Linker flags of the Dev build type" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -march=x86-64-v2" CACHE STRING "Flags of the Release build type" FORCE)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
# RUNPATH, not RPATH: the private libraries must not win over what LD_LIBRARY_PATH names.
add_link_options(-Wl,--enable-new-dtags)

add_compile_options(-Wall -Wextra -fno-omit-frame-pointer)
if(FRAZIL_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside libstdc++ where nothing is wrong (GCC bugs 105329, 105651, 107852).
  add_compile_options(-Wno-restrict -Wno-error=maybe-uninitialized -Wno-error=stringop-overflow
                      -Wno-error=stringop-overread -Wno-error=array-bounds
                      -Wno-error=dangling-pointer -Wno-error=free-nonheap-object)
endif()

if(FRAZIL_SANITIZE)
  add_compile_options(-O1 -fsanitize=${FRAZIL_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FRAZIL_SANITIZE})
  if(FRAZIL_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
endif()

if(FRAZIL_FUZZ)  # every library needs the counters that guide the fuzzer
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
