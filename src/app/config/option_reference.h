// The option reference, made from the declarations: as Markdown, as JSON Schema, and as text for the terminal. Pure.
#pragma once

#include <string>

namespace frazil::app {

// docs/reference/options.md.
std::string options_as_markdown();
// JSON Schema (draft 2020-12) of a configuration file, for editors.
std::string options_as_json_schema();
// One option a line: path, type, default.
std::string options_as_text();

}  // namespace frazil::app
