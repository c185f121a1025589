// References: `${env:NAME}` and `${file:/path}` inside of configuration values, so that secrets stay outside of the
// file.
//
// `$${` writes a literal `${`. A file's content is taken without its last newline. Any thread; reads the environment
// and files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::app {

struct Resolved {
  std::string text;  // with every reference replaced that could be
  bool has_reference = false;
  std::string plain;  // what stands outside of references
  std::vector<std::string> missing;  // "environment variable X is not set": never a value
};

// kInvalid: a reference without a known form. Relative paths of files start at `folder`.
base::Result<Resolved> resolve_references(std::string_view text, const std::string& folder);

// True for a secret that the file itself does not tell: nothing stands beside the references. `option`: of which it is the value; a
// `credential` may name the id before its colon.
bool is_all_by_reference(const Resolved& resolved, std::string_view option);

}  // namespace frazil::app
