// Where tests interrupt a commit that is under way: a REST request has left whole and no answer came; the swap of a SQLite
// catalog is made and its transaction is open.
#pragma once

#include "base/failpoint.h"

namespace frazil::iceberg {

extern base::Failpoint commit_sent;

}  // namespace frazil::iceberg
