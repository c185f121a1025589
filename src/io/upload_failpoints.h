// The places at which tests interrupt the writing of a file, the same for every store.
//
//   upload.before  the name is free and nothing has left
//   upload.mid     bytes are with the store and the file is not known to be there: a local file before it is synced and named, a part
//                  of an upload, a whole put before its answer is judged
//   upload.after   the file is durable, and its writer has not been told
#pragma once

#include "base/failpoint.h"

namespace frazil::io {

extern base::Failpoint upload_before;
extern base::Failpoint upload_mid;
extern base::Failpoint upload_after;

}  // namespace frazil::io
