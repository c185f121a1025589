// LogThinner: lets a line of librdkafka's log through at most once a minute for each broker and kind of line, and counts the
// others. While brokers are away the library repeats itself with every attempt to connect.
//
// Any thread; never waits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/sync.h"

namespace frazil::clients {

// What stays the same when a line is repeated: numbers and what stands in "(after …)" are left out.
std::string repeated_part(std::string_view line);

class LogThinner {
 public:
  // Nothing: the line was counted and is not to be written. Else how many lines like it were kept back before.
  struct Verdict {
    bool is_written = false;
    int64_t kept_back = 0;
  };
  Verdict look_at(std::string_view facility, std::string_view line, base::MonoMicros now);

 private:
  struct Seen {
    base::MonoMicros written_at = 0;
    int64_t kept_back = 0;
  };
  void forget_old(base::MonoMicros now);

  base::Mutex mutex_;
  std::map<std::string, Seen> seen_;
};

// A line that says that the brokers do not know a topic any more. The library waits for half a minute before it says more.
bool tells_of_a_lost_topic(std::string_view facility, std::string_view line);

// Writes the line unless the process's thinner keeps it back: clients of several pipelines lose the same broker.
void log_thinned(base::LogLevel level, std::string_view event, std::string_view facility, std::string_view text);

}  // namespace frazil::clients
