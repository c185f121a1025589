// What a store answered to a request for a range, by HTTP's rules (RFC 9110 section 14). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "io/objects/object_store.h"
#include "net/http_client.h"

namespace frazil::io {

// Of a 200, 206 or 416. kCorrupt: the answer is none to this range.
base::Result<ObjectPiece> piece_of(net::HttpResponse response, std::string version, const std::string& location,
                                   int64_t offset, int64_t length);
// The number behind the '/' of "bytes 0-9/100" or "bytes */100" in content-range; -1 when there is none.
int64_t total_of(const net::HttpResponse& response);

}  // namespace frazil::io
