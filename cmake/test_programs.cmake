# Test programs that span folders: conformance suites, the simulation, benchmarks, fuzz targets.

get_property(all_libraries GLOBAL PROPERTY FRAZIL_LIBRARIES)

file(GLOB_RECURSE conformance_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/conformance/*.cc")
# x_tool.cc is a program of its own, frazil_x_tool, that tests in other languages drive.
set(conformance_tools ${conformance_sources})
list(FILTER conformance_tools INCLUDE REGEX "_tool\\.cc$")
list(FILTER conformance_sources EXCLUDE REGEX "_tool\\.cc$")
foreach(source IN LISTS conformance_tools)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(frazil_${name} ${source})
  set_target_properties(frazil_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_include_directories(frazil_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
  target_link_libraries(frazil_${name} PRIVATE frazil_iceberg nlohmann_json::nlohmann_json)
endforeach()
if(conformance_sources)
  frazil_test(frazil_conformance_test SOURCES ${conformance_sources} LINK frazil_iceberg)
endif()

# tests/simulation: everything but main.cc and *_test.cc is shared by the program that
# runs seeds and by the tests of the simulation's own parts.
file(GLOB_RECURSE simulation_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/simulation/*.cc")
set(simulation_tests ${simulation_sources})
list(FILTER simulation_tests INCLUDE REGEX "_test\\.cc$")
set(simulation_main ${simulation_sources})
list(FILTER simulation_main INCLUDE REGEX "/main\\.cc$")
list(FILTER simulation_sources EXCLUDE REGEX "(_test|/main)\\.cc$")
if(simulation_sources)
  add_library(frazil_simulation_parts STATIC ${simulation_sources})
  target_compile_options(frazil_simulation_parts PRIVATE $<$<CONFIG:Release>:-O1>)
  target_include_directories(frazil_simulation_parts PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
  # Not the app: a simulation needs no more than these, and its mutations are linked anew each time.
  target_link_libraries(frazil_simulation_parts PUBLIC
    frazil_sources_kafka frazil_decoders frazil_sinks_iceberg nlohmann_json::nlohmann_json)
  set(simulation_parts frazil_simulation_parts)
endif()
if(simulation_main)
  add_executable(frazil_simulation ${simulation_main})
  target_include_directories(frazil_simulation PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(frazil_simulation PRIVATE ${simulation_parts})
  set_target_properties(frazil_simulation PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endif()
if(simulation_tests)
  frazil_test(frazil_simulation_test SOURCES ${simulation_tests} LINK ${simulation_parts})
endif()

# Built on request only: ninja frazil_decode_bench frazil_encode_bench.
add_executable(frazil_encode_bench EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/bench/encode_bench.cc")
set_target_properties(frazil_encode_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
# In front of Arrow's library, which hides a copy that the linker would take.
target_link_options(frazil_encode_bench PRIVATE "LINKER:--no-as-needed" "$<TARGET_FILE:simdjson::simdjson>")
target_link_libraries(frazil_encode_bench PRIVATE frazil_format_json frazil_format_parquet frazil_sources_generator)
add_executable(frazil_decode_bench EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/bench/decode_bench.cc")
set_target_properties(frazil_decode_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
target_link_libraries(frazil_decode_bench PRIVATE frazil_decoders frazil_sources_generator)

if(FRAZIL_FUZZ)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cc")
  foreach(source IN LISTS fuzz_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
    target_link_libraries(${name} PRIVATE ${all_libraries})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
endif()
