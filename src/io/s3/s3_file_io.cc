#include "io/s3/s3_file_io.h"

#include <utility>

#include "io/objects/object_file_io.h"
#include "io/s3/s3_requests.h"
#include "io/s3/s3_store.h"

namespace frazil::io {

base::Result<std::shared_ptr<FileIO>> make_s3_file_io(S3Config config, std::shared_ptr<net::HttpClient> http,
                                                      std::shared_ptr<net::AwsCredentialsProvider> credentials) {
  TRY_ASSIGN(std::unique_ptr<S3Requests> requests, S3Requests::make(std::move(config), std::move(http), std::move(credentials)));
  return make_object_file_io(std::make_shared<S3Store>(std::move(requests)));
}

}  // namespace frazil::io
