# Arrow C++ and Parquet: the system's when it has them, else the libraries that
# tools/setup unpacked into ${FRAZIL_DEPS}/arrow (copies with foreign symbols hidden).
# Gives the targets frazil::arrow and frazil::parquet, and the list
# FRAZIL_PRIVATE_LIBRARIES of files that an installation must carry along.

set(FRAZIL_PRIVATE_LIBRARIES "")

find_package(Arrow CONFIG QUIET)
if(Arrow_FOUND)
  find_package(Parquet CONFIG QUIET)
endif()

# Defines an imported library of the private folder. Further arguments: what it links to.
function(frazil_import_arrow name file so_version)
  set(path "${FRAZIL_DEPS}/arrow/lib/${file}.so.${so_version}")
  add_library(frazil::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(frazil::${name} PROPERTIES
    IMPORTED_LOCATION "${path}"
    IMPORTED_SONAME "${file}.so.${so_version}"
    INTERFACE_INCLUDE_DIRECTORIES "${FRAZIL_DEPS}/arrow/include"
    INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()

if(Arrow_FOUND AND Parquet_FOUND)
  message(STATUS "Arrow ${Arrow_VERSION} of the system")
  add_library(frazil::arrow ALIAS Arrow::arrow_shared)
  add_library(frazil::parquet ALIAS Parquet::parquet_shared)
else()
  set(arrow_config "${FRAZIL_DEPS}/arrow/include/arrow/util/config.h")
  if(NOT EXISTS "${arrow_config}")
    message(FATAL_ERROR "Arrow C++ is not in ${FRAZIL_DEPS}/arrow and not on this system. Run tools/setup first.")
  endif()
  file(STRINGS "${arrow_config}" arrow_lines REGEX "define ARROW_(SO_VERSION|VERSION_STRING)")
  string(REGEX MATCH "ARROW_SO_VERSION \"([0-9]+)\"" ignored "${arrow_lines}")
  set(arrow_so_version "${CMAKE_MATCH_1}")
  string(REGEX MATCH "ARROW_VERSION_STRING \"([0-9.]+)\"" ignored "${arrow_lines}")
  message(STATUS "Arrow ${CMAKE_MATCH_1} from ${FRAZIL_DEPS}/arrow")
  frazil_import_arrow(arrow libarrow ${arrow_so_version})
  frazil_import_arrow(parquet libparquet ${arrow_so_version} frazil::arrow)
  foreach(file libarrow libparquet)
    list(APPEND FRAZIL_PRIVATE_LIBRARIES "${FRAZIL_DEPS}/arrow/lib/${file}.so.${arrow_so_version}")
  endforeach()
endif()
