// The dictionaries that generated records draw from. Made once, the same in every process; read by any thread.
#pragma once

#include <string>
#include <vector>

namespace frazil::sources {

struct RecordWords {
  std::vector<std::string> statuses;     // 8
  std::vector<std::string> countries;    // 120
  std::vector<std::string> currencies;   // 30
  std::vector<std::string> cities;       // 4,000
  std::vector<std::string> devices;      // 12
  std::vector<std::string> browsers;     // 40
  std::vector<std::string> user_agents;  // 3,000 of 115 bytes
  std::vector<std::string> tags;         // 200
  std::vector<std::string> carriers;     // 10
  std::vector<std::string> prose;        // words of free text
  std::vector<std::string> odd_prose;    // words as JSON text with escapes or outside ASCII
};

const RecordWords& record_words();

}  // namespace frazil::sources
