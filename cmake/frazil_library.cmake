# One folder under src/ is one library, and its *_test.cc files are one test program.

# frazil_library(<folder> [DEPS <folder>...] [LINK <target>...] [PUBLIC_LINK <target>...])
#
# Makes frazil_<folder with underscores> from all .cc below src/<folder> but tests,
# benchmarks and main.cc; and frazil_<...>_test from the *_test.cc. A folder without
# sources yet becomes an interface library, so that the tree configures at every stage.
# DEPS are folders of ours, seen by users of this one too. LINK are libraries that only
# our .cc files include, PUBLIC_LINK those that our headers include.
function(frazil_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;LINK;PUBLIC_LINK")
  string(REPLACE "/" "_" name "${folder}")
  set(target "frazil_${name}")
  set(root "${PROJECT_SOURCE_DIR}/src/${folder}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${root}/*.cc")
  set(tests "${sources}")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_benchmark|/main)\\.cc$")
  set(dependencies "")
  foreach(dependency IN LISTS arg_DEPS)
    string(REPLACE "/" "_" dependency "${dependency}")
    list(APPEND dependencies "frazil_${dependency}")
  endforeach()

  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target} PUBLIC ${dependencies} ${arg_PUBLIC_LINK} PRIVATE ${arg_LINK})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target} INTERFACE ${dependencies} ${arg_PUBLIC_LINK} ${arg_LINK})
  endif()
  set_property(GLOBAL APPEND PROPERTY FRAZIL_LIBRARIES ${target})
  set_property(GLOBAL APPEND PROPERTY FRAZIL_FOLDERS ${folder})

  if(tests)
    frazil_test(${target}_test SOURCES ${tests} LINK ${target} ${arg_LINK})
  endif()
endfunction()

# frazil_test(<name> SOURCES <file>... LINK <target>...): a GoogleTest program and its ctest entry.
function(frazil_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
  # Tests need not be fast, only soon built; what they test is compiled as users run it.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main rapidcheck)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

# Names every source that no library covers: code that nobody builds is code that nobody tests.
function(frazil_warn_of_orphans)
  get_property(folders GLOBAL PROPERTY FRAZIL_FOLDERS)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/src/*.cc")
  foreach(source IN LISTS sources)
    set(covered FALSE)
    foreach(folder IN LISTS folders)
      if(source MATCHES "^${folder}/")
        set(covered TRUE)
      endif()
    endforeach()
    if(NOT covered)
      message(WARNING "src/${source} belongs to no library: add its folder to CMakeLists.txt")
    endif()
  endforeach()
endfunction()
