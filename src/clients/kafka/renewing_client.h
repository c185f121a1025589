// A KafkaClient that is replaced by a new one when it is of no more use.
//
// librdkafka ends a consumer for good when the brokers say that another member has its place in the group. That may be itself: a static member
// whose request to join was delivered twice, once over a connection that broke, is fenced by its own second self. The positions are in the
// table, so a new client is as good as the old one.
//
// After poll_control() has told kFatal, the next unassign() - when nobody fetches any more - closes the client, makes another, subscribes as before
// and tells kLost for every partition that the old one had been given. Threads as KafkaClient's. Errors of making a client come from unassign(),
// and the old one stays.
#pragma once

#include <functional>
#include <memory>

#include "clients/kafka/kafka_client.h"

namespace frazil::clients {

using MakeKafkaClient = std::function<base::Result<std::unique_ptr<KafkaClient>>()>;

base::Result<std::unique_ptr<KafkaClient>> make_renewing_client(MakeKafkaClient make);

}  // namespace frazil::clients
