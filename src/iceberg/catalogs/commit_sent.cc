#include "iceberg/catalogs/commit_sent.h"

namespace frazil::iceberg {

base::Failpoint commit_sent("commit.post.sent", "a commit is with the catalog and not answered", base::Code::kUnavailable);

}  // namespace frazil::iceberg
