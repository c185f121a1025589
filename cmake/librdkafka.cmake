# librdkafka from 2.12 on (topic ids, the new group protocol, working SCRAM): the
# system's when it is new enough, else the static library that tools/setup built into
# ${FRAZIL_DEPS}/librdkafka. Gives the target frazil::rdkafka.

pkg_check_modules(rdkafka QUIET IMPORTED_TARGET rdkafka>=2.12)
if(rdkafka_FOUND)
  message(STATUS "librdkafka ${rdkafka_VERSION} of the system")
  add_library(frazil::rdkafka ALIAS PkgConfig::rdkafka)
else()
  set(rdkafka_root "${FRAZIL_DEPS}/librdkafka")
  if(NOT EXISTS "${rdkafka_root}/lib/librdkafka.a")
    message(FATAL_ERROR "librdkafka 2.12 or newer is not in ${rdkafka_root} and not on this system. Run tools/setup first.")
  endif()
  message(STATUS "librdkafka from ${rdkafka_root}")
  pkg_check_modules(sasl2 REQUIRED IMPORTED_TARGET libsasl2)
  add_library(frazil::rdkafka STATIC IMPORTED GLOBAL)
  set_target_properties(frazil::rdkafka PROPERTIES
    IMPORTED_LOCATION "${rdkafka_root}/lib/librdkafka.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${rdkafka_root}/include"
    INTERFACE_LINK_LIBRARIES
      "CURL::libcurl;OpenSSL::SSL;OpenSSL::Crypto;PkgConfig::sasl2;ZLIB::ZLIB;PkgConfig::zstd;PkgConfig::lz4;Threads::Threads;${CMAKE_DL_LIBS};m")
  if(FRAZIL_SANITIZE MATCHES "thread")  # see the head of that source
    add_library(frazil_c11_threads OBJECT "${PROJECT_SOURCE_DIR}/tools/sanitizers/c11_threads.cc")
    set_property(TARGET frazil::rdkafka APPEND PROPERTY INTERFACE_LINK_LIBRARIES "$<TARGET_OBJECTS:frazil_c11_threads>")
  endif()
endif()
