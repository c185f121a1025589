// Reads configuration: file → tree → overrides → options → typed values → checks that need several of them.
//
// All problems of a file are found in one go. No network. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/option_value.h"
#include "app/config/pipeline_config.h"
#include "app/config/problems.h"

namespace frazil::app {

struct ReadOptions {
  std::vector<std::string> overrides;  // of --set
  MissingReference missing = MissingReference::kError;
};

struct ReadConfig {
  ProgramConfig config;  // of use only when problems has no errors
  Problems problems;
};

ReadConfig read_config_file(const std::string& path, const ReadOptions& options);
// `file` names the text in messages; its folder is where relative paths start.
ReadConfig read_config_text(std::string_view text, const std::string& file, const ReadOptions& options);

// The whole of a file. Read once: it may be a pipe.
std::optional<std::string> read_whole_file(const std::string& path, Problems& problems);
// A text that holds the block of `table.catalog` alone; `file` as above.
std::optional<CatalogConfig> read_catalog_text(std::string_view text, const std::string& file, Problems& problems);

}  // namespace frazil::app
