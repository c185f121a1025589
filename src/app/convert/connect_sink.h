// Properties of Kafka Connect's Iceberg sink, of the connector that runs it, and of the worker where they say how Kafka is
// reached.
//
// One conversion; used on one thread.
#pragma once

#include <string>
#include <vector>

#include "app/convert/conversion.h"

namespace frazil::app {

class ConnectSink {
 public:
  // `entries` is a flat map of texts.
  ConnectSink(Conversion& conversion, const Node& entries) : conversion_(conversion), entries_(entries) {}

  void translate();

 private:
  void translate_transforms();
  void translate_transform(const Given& type, const std::string& prefix);
  void translate_catalog_entries();
  void translate_errors();
  void translate_routing();
  void add_table(const std::string& table, bool is_routed);
  void translate_table_entries();
  void translate_creation();
  void translate_kafka();
  void complete();

  const Node* find(const std::string& key) const { return entries_.find(key); }
  std::string text_of(const std::string& key) const;
  bool is_true(const std::string& key) const;
  // The entries behind a prefix, under the rest of their names.
  Node entries_of(const std::string& prefix) const;

  std::vector<std::string> tables_;  // iceberg.tables
  Conversion& conversion_;
  const Node& entries_;
};

}  // namespace frazil::app
