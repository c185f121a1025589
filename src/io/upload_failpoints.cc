#include "io/upload_failpoints.h"

namespace frazil::io {

using base::Code;

base::Failpoint upload_before("upload.before", "a file is about to be written", Code::kUnavailable);
base::Failpoint upload_mid("upload.mid", "bytes of a file are with the store, the file is not known to be there", Code::kUnavailable);
base::Failpoint upload_after("upload.after", "a file is durable, its writer does not know", Code::kUnknownOutcome);

}  // namespace frazil::io
