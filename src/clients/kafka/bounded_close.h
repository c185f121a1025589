// A call of librdkafka's that may never come back, given only so long.
//
// rd_kafka_consumer_close() answers a rebalance that comes meanwhile by a request to its own thread, and waits for the reply without end. When
// that thread is through with the group first - a member that another one fences in this very moment - it throws the request away.
#pragma once

#include <cstdint>
#include <functional>

namespace frazil::clients {

// Makes the call in a lane of its own. False: it is not back within that time; it and what it holds are then left to themselves until the
// process ends. Any thread.
bool finishes_within(std::function<void()> call, int64_t micros);

}  // namespace frazil::clients
