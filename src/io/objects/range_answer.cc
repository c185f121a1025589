#include "io/objects/range_answer.h"

#include <algorithm>
#include <utility>

#include "io/objects/request_loop.h"

namespace frazil::io {

base::Result<ObjectPiece> piece_of(net::HttpResponse response, std::string version, const std::string& location,
                                   int64_t offset, int64_t length) {
  ObjectPiece piece;
  piece.version = std::move(version);
  piece.total = total_of(response);
  if (response.status == 416) {  // behind the end, which an empty object has at 0
    piece.total = std::max<int64_t>(piece.total, 0);
    return piece;
  }
  piece.bytes = std::move(response.body);
  if (response.status == 200) {  // the range was ignored: this is the object
    piece.total = static_cast<int64_t>(piece.bytes.size());
    piece.bytes = offset >= piece.total ? "" : piece.bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
  }
  if (piece.total < 0) return base::corrupt(location + ": the store sent a range without the object's size");
  if (static_cast<int64_t>(piece.bytes.size()) > length) {
    return base::corrupt(location + ": the store sent more than was asked for");
  }
  return piece;
}

int64_t total_of(const net::HttpResponse& response) {
  const std::string range = header_of(response, "content-range");
  const size_t slash = range.find('/');
  return slash == std::string::npos ? -1 : number_of(std::string_view(range).substr(slash + 1)).value_or(-1);
}

}  // namespace frazil::io
