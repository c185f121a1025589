# The program itself: its version header, its binary and its installation.

set(version_header "${CMAKE_BINARY_DIR}/generated/app/build_version.h")
add_custom_target(frazil_version_header
  COMMAND ${CMAKE_COMMAND} "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${version_header}"
          -P "${PROJECT_SOURCE_DIR}/cmake/write_version.cmake"
  BYPRODUCTS "${version_header}"
  COMMENT "Writing the version header")
get_target_property(app_type frazil_app TYPE)
if(NOT app_type STREQUAL "INTERFACE_LIBRARY")
  add_dependencies(frazil_app frazil_version_header)
  target_include_directories(frazil_app PRIVATE "${CMAKE_BINARY_DIR}/generated")
endif()

file(GLOB main_source CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/app/main.cc")
if(main_source)
  add_executable(frazil ${main_source})
  add_dependencies(frazil frazil_version_header)
  target_include_directories(frazil PRIVATE "${CMAKE_BINARY_DIR}/generated")
  target_link_libraries(frazil PRIVATE frazil_app)
  set_target_properties(frazil PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}"
    INSTALL_RPATH "$ORIGIN/../lib/frazil")
  install(TARGETS frazil RUNTIME DESTINATION bin)
  if(FRAZIL_PRIVATE_LIBRARIES)
    install(FILES ${FRAZIL_PRIVATE_LIBRARIES} DESTINATION lib/frazil)
    install(DIRECTORY "${FRAZIL_DEPS}/arrow/licenses/" DESTINATION share/doc/frazil/arrow)
  endif()
  if(EXISTS "${FRAZIL_DEPS}/librdkafka/licenses")
    install(DIRECTORY "${FRAZIL_DEPS}/librdkafka/licenses/" DESTINATION share/doc/frazil/librdkafka)
  endif()
  install(FILES LICENSE NOTICE DESTINATION share/doc/frazil)
endif()
