# Run at build time: writes OUTPUT from VERSION and the commit, touching it only when it changes.
#   cmake -DSOURCE=<root> -DOUTPUT=<file> -P write_version.cmake
file(READ "${SOURCE}/VERSION" version)
string(STRIP "${version}" version)
set(commit "unknown")
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  set(commit "${found}")
endif()
set(text "// Written by the build. Version of this program, and the commit it was built from.
#pragma once

namespace frazil::app {

inline constexpr char kVersion[] = \"${version}\";
inline constexpr char kCommit[] = \"${commit}\";

}  // namespace frazil::app
")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
