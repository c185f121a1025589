// Catalog properties as Iceberg's Java clients take them, and Hadoop's beside them, translated into `table.catalog`.
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "app/convert/conversion.h"

namespace frazil::app {

const std::vector<ForeignName>& catalog_names();
// Of a Hadoop configuration: keys of S3A and of the connector for Google Cloud Storage.
const std::vector<ForeignName>& hadoop_names();

// `properties` is the whole map; `prefix` stands before the names in findings, `mark` is where it is given.
void translate_catalog(Conversion& conversion, const std::string& prefix, const Mark& mark, const Node& properties);
void translate_hadoop(Conversion& conversion, const std::string& prefix, const Node& properties);

// What only shows at the end: addresses without TLS.
void complete_catalog(Conversion& conversion);

}  // namespace frazil::app
