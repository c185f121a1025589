#include "app/table_report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/config/units.h"
#include "app/terminal.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

Json member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? Json(nullptr) : *found;
}

class ReportText {
 public:
  explicit ReportText(Json json) : json_(std::move(json)) {}

  std::string write() {
    line("table", shown(json_["table"]));
    line("metadata", shown(json_["metadata_location"]));
    line("uuid", shown(json_["uuid"]) + ", format version " + json_["format_version"].dump());
    schema();
    snapshots();
    if (json_.contains("files")) files();
    if (json_.contains("pipelines")) pipelines();
    if (!json_.contains("files")) properties();
    return std::move(text_);
  }

 private:
  // Names and values come from others.
  static std::string shown(const Json& json) { return printable(text_of(json)); }
  void heading(const std::string& name) { text_ += "\n" + emphasis(name) + "\n"; }
  void line(const std::string& name, const std::string& value) { text_ += fmt::format("{:<11} {}\n", name, value); }

  void schema() {
    heading("schema " + json_["schema_id"].dump());
    for (const Json& field : json_["schema"]) {
      text_ += fmt::format("  {:>4}  {:<24} {}{}\n", field["id"].get<int>(), shown(field["name"]),
                           shown(field["type"]), field["required"].get<bool>() ? " required" : "");
    }
    std::string fields;
    for (const Json& field : json_["partition_spec"]) fields += (fields.empty() ? "" : ", ") + shown(field);
    line("partitioned", fields.empty() ? "no" : "by " + fields);
  }
  void snapshots() {
    constexpr size_t kShown = 10;
    const Json& list = json_["snapshots"];
    heading(fmt::format("snapshots: {}", list.size()));
    const size_t first = list.size() > kShown ? list.size() - kShown : 0;
    if (first > 0) text_ += fmt::format("  ... {} older, all with --json\n", first);
    for (size_t i = first; i < list.size(); ++i) {
      const Json& summary = list[i]["summary"];
      const auto added = [&](const char* key) {
        return summary.contains(key) ? shown(summary[key]) : std::string("0");
      };
      text_ += fmt::format("  {} {:<20} {} +{} rows, +{} files{}\n", shown(list[i]["time"]), list[i]["id"].dump(),
                           summary.contains("operation") ? shown(summary["operation"]) : "?", added("added-records"),
                           added("added-data-files"), list[i]["is_current"].get<bool>() ? "  <- current" : "");
    }
    for (const Json& ref : json_["refs"]) {
      text_ += "  " + shown(ref["kind"]) + " " + shown(ref["name"]) + " -> " + ref["snapshot"].dump() + "\n";
    }
  }
  void files() {
    constexpr size_t kShown = 20;
    const Json& list = json_["files"];
    int64_t rows = 0, bytes = 0;
    for (const Json& file : list) {
      rows += file["rows"].get<int64_t>();
      bytes += file["bytes"].get<int64_t>();
    }
    heading(fmt::format("files: {}, {} rows, {}", list.size(), format_count(rows),
                        format_size(static_cast<double>(bytes))));
    for (size_t i = 0; i < std::min(kShown, list.size()); ++i) {
      text_ += fmt::format("  {:>12} rows {:>10}  {}\n", format_count(list[i]["rows"].get<int64_t>()),
                           format_size(static_cast<double>(list[i]["bytes"].get<int64_t>())), shown(list[i]["path"]));
    }
    if (list.size() > kShown) text_ += fmt::format("  ... {} more, all with --json\n", list.size() - kShown);
  }
  void properties() {
    heading("properties");
    for (const auto& [key, value] : json_["properties"].items()) text_ += "  " + printable(key) + "=" + shown(value) + "\n";
  }
  static std::string table_text(const Json& table) {
    std::string text = shown(table["table"]) + ": ";
    if (table["exists"].is_null()) {
      text += "not looked at";
    } else if (table["exists"].get<bool>()) {
      text += format_count(table["rows"].get<int64_t>()) + " rows in " + format_count(table["files"].get<int64_t>()) + " files";
    } else {
      text += "does not exist";
    }
    const size_t owed = table["owed_epochs"].size();
    return text + ", owed " + (owed == 0 ? "nothing" : fmt::format("{} of epochs {}", owed, table["owed_epochs"].dump()));
  }
  static std::string owed_text(const Json& entry) {
    if (!entry.is_object()) return printable(entry.dump());
    const Json manifest = member(entry, "manifest");
    const std::string epoch = "epoch " + member(entry, "epoch").dump();
    const std::string what = manifest.is_null() ? "rows of epochs " + member(entry, "void").dump() + " have to go" : "files of " + shown(manifest);
    return shown(member(entry, "table")) + ", " + epoch + ": " + what;
  }
  void pipelines() {
    for (const Json& pipeline : json_["pipelines"]) {
      heading("pipeline " + shown(pipeline["name"]));
      if (pipeline.contains("closed_by")) {
        line("  closed by", shown(pipeline["closed_by"]));
        continue;
      }
      line("  epoch", pipeline["epoch"].dump() + ", snapshot " + pipeline["snapshot"].dump() +
                          (pipeline["is_retained"].get<bool>() ? (pipeline["holds"].get<bool>() ? "" : " (rolled back)")
                                                               : " (expired)"));
      for (const Json& partition : pipeline["partitions"]) {
        line("  position", fmt::format("{}/{} next {}", shown(partition["topic"]), partition["partition"].dump(),
                                       partition["next"].is_null() ? "not seen" : partition["next"].dump()));
      }
      if (pipeline["partitions"].empty()) line("  positions", printable(pipeline["positions"].dump()));
      for (const Json& table : pipeline.value("tables", Json::array())) line("  table", table_text(table));
      if (pipeline["owed"].empty()) line("  owed", "nothing");
      for (const Json& entry : pipeline["owed"]) line("  owed", owed_text(entry));
    }
  }

  const Json json_;
  std::string text_;
};

}  // namespace

std::string table_report_text(const std::string& json) { return ReportText(Json::parse(json)).write(); }

}  // namespace frazil::app
