// What of a catalog's options does not go together, and what of them has no effect. Pure; any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/config/pipeline_config.h"

namespace frazil::app {

struct CatalogProblem {
  std::string key;  // below the catalog: "token", "properties.scope"
  std::string text;
  bool is_warning = false;
};

// `is_set` answers for keys as above: references may not resolve where a file is checked, so values may be missing.
std::vector<CatalogProblem> check_catalog_together(const CatalogConfig& catalog,
                                                   const std::function<bool(const std::string& key)>& is_set);

// Empty, or why an address of http(s) is refused. `permission` names the option that allows plaintext.
std::string check_http_url(const std::string& what, const std::string& text, bool allow_plaintext, const std::string& permission);

}  // namespace frazil::app
