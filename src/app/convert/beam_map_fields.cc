#include "app/convert/beam_map_fields.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace frazil::app {
namespace {

bool is_field_name(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// column → field, in the order of the file.
using Columns = std::vector<std::pair<std::string, std::string>>;

class MapFields {
 public:
  MapFields(Conversion& conversion, const BeamTransform& transform)
      : conversion_(conversion), name_(transform.name), mark_(transform.mark), config_(transform.config ? *transform.config : Node{}) {}

  void translate() {
    if (!read()) return;
    std::set<std::string> sources;
    for (const auto& [column, field] : columns_) {
      if (!sources.insert(field).second) return refuse("fields." + column, "a field becomes one column: copy it when reading");
    }
    appends_ ? select_by_drop(sources) : select_by_keep();
    for (const auto& [column, field] : columns_) {
      if (column != field) conversion_.draft.set_property("table.columns.rename", field, column);
    }
    conversion_.add({mark_, name_, Fate::kHonoured, "`table.columns`"});
  }

 private:
  void refuse(const std::string& part, std::string text) {
    conversion_.problem(mark_, name_ + ".config." + part, std::move(text));
    has_refused_ = true;
  }

  bool read() {
    for (const Entry& entry : config_.entries) read_part(entry);
    return !has_refused_;
  }

  void read_part(const Entry& entry) {
    const Given given{name_ + ".config." + entry.key, entry.key, entry.mark, entry.value};
    if (entry.key == "fields") {
      for (const Entry& field : entry.value.entries) read_field(field);
    } else if (entry.key == "append") {
      appends_ = given.is_true();
    } else if (entry.key == "drop") {
      dropped_ = as_list(conversion_, given).value_or(std::vector<std::string>{});
    } else if (entry.key != "language" || given.text() != "generic") {
      refuse(entry.key, "only fields of the record can be kept, dropped and renamed: compute before Kafka or when reading");
    }
  }

  void read_field(const Entry& field) {
    const Node* expression = field.value.kind == Node::Kind::kMap ? field.value.find("expression") : &field.value;
    const bool has_more = field.value.kind == Node::Kind::kMap && field.value.entries.size() > 1;
    if (expression == nullptr || has_more || !is_field_name(expression->scalar)) {
      return refuse("fields." + field.key, "is no field of the record: compute before Kafka or when reading");
    }
    columns_.emplace_back(field.key, expression->scalar);
  }

  void select_by_keep() {
    std::vector<std::string> kept;
    for (const auto& column : columns_) kept.push_back(column.second);
    conversion_.draft.set_list("table.columns.keep", kept);
  }

  // What is appended under a new name must be dropped under its old one, else it would be there twice.
  void select_by_drop(const std::set<std::string>& sources) {
    std::vector<std::string> gone;
    for (const std::string& field : dropped_) {
      if (!sources.contains(field)) gone.push_back(field);
    }
    for (const auto& [column, field] : columns_) {
      const bool is_dropped = std::find(dropped_.begin(), dropped_.end(), field) != dropped_.end();
      if (column != field && !is_dropped) return refuse("fields." + column, "would be there twice: copy it when reading, or drop the field");
    }
    if (!gone.empty()) conversion_.draft.set_list("table.columns.drop", gone);
  }

  Conversion& conversion_;
  const std::string name_;
  const Mark mark_;
  const Node config_;
  Columns columns_;
  std::vector<std::string> dropped_;
  bool appends_ = false;
  bool has_refused_ = false;
};

}  // namespace

void translate_map_fields(Conversion& conversion, const BeamTransform& transform, bool has_columns) {
  if (has_columns) {
    return conversion.problem(transform.mark, transform.name, "keep, drop and rename in one place: MapToFields, or `keep` and `drop` of WriteToIceberg");
  }
  MapFields(conversion, transform).translate();
}

}  // namespace frazil::app
