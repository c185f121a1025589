// What a table's report tells people, made from the JSON that machines get. Pure.
#pragma once

#include <string>

namespace frazil::app {

// `json`: of report_table() or describe_table().
std::string table_report_text(const std::string& json);

}  // namespace frazil::app
