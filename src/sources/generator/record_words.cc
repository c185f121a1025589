#include "sources/generator/record_words.h"

#include <set>

#include "sources/generator/record_random.h"

namespace frazil::sources {

namespace {

constexpr uint64_t kWordSeed = 20260101;
constexpr size_t kUserAgentBytes = 115;

const std::vector<std::string>& syllables() {
  static const std::vector<std::string> list = {"ka", "lo", "mi", "ren", "tor", "sa",  "vel", "dun", "ba",  "ster",
                                                "wa", "ni", "pol", "gra", "hem", "os", "ti",  "bur", "fel", "ma"};
  return list;
}

std::string made_up_word(RecordRandom& random, int parts) {
  std::string word;
  for (int i = 0; i < parts; ++i) word += syllables()[random.below(syllables().size())];
  return word;
}

// `count` different words; `finish` dresses them.
template <typename Finish>
std::vector<std::string> different(size_t count, uint64_t stream, int parts, Finish finish) {
  RecordRandom random(kWordSeed, 0, stream);
  std::set<std::string> seen;
  std::vector<std::string> words;
  while (words.size() < count) {
    std::string word = finish(made_up_word(random, parts + static_cast<int>(random.below(2))));
    if (seen.insert(word).second) words.push_back(std::move(word));
  }
  return words;
}

std::string capital(std::string word) {
  word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

std::vector<std::string> two_letter_codes(size_t count) {
  std::vector<std::string> codes;
  for (char a = 'A'; codes.size() < count; ++a) {
    for (char b = 'A'; b <= 'Z' && codes.size() < count; b = static_cast<char>(b + 5)) codes.push_back({a, b});
    for (char b = 'C'; b <= 'Z' && codes.size() < count; b = static_cast<char>(b + 7)) codes.push_back({a, b});
  }
  return codes;
}

std::vector<std::string> browser_names() {
  std::vector<std::string> names;
  for (const char* family : {"Firefox", "Chrome", "Safari", "Edge", "Opera"}) {
    for (int version = 121; version < 129; ++version) names.push_back(std::string(family) + " " + std::to_string(version));
  }
  return names;
}

std::vector<std::string> agents() {
  static const std::vector<std::string> systems = {"X11; Linux x86_64", "Windows NT 10.0; Win64; x64",
                                                   "Macintosh; Intel Mac OS X 10_15_7", "Linux; Android 14; Pixel 8"};
  std::vector<std::string> list;
  for (int i = 0; i < 3000; ++i) {
    std::string agent = "Mozilla/5.0 (" + systems[static_cast<size_t>(i) % systems.size()] + ") AppleWebKit/537." +
                        std::to_string(i % 60) + " (KHTML, like Gecko) Chrome/1" + std::to_string(10 + i % 20) + ".0." +
                        std::to_string(1000 + i) + " Safari/537.36 Build/" + std::to_string(i);
    agent.resize(kUserAgentBytes, '0');
    agent.replace(kUserAgentBytes - 4, 4, std::to_string(1000 + i));
    list.push_back(std::move(agent));
  }
  return list;
}

RecordWords make_words() {
  const auto plain = [](std::string word) { return word; };
  RecordWords words;
  words.statuses = {"created", "paid", "packed", "shipped", "delivered", "returned", "cancelled", "refunded"};
  words.countries = two_letter_codes(120);
  words.currencies = {"EUR", "USD", "GBP", "JPY", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "BGN", "TRY", "ILS",
                      "INR", "CNY", "KRW", "SGD", "HKD", "AUD", "NZD", "CAD", "MXN", "BRL", "ARS", "CLP", "ZAR", "EGP", "KES"};
  words.cities = different(4000, 1, 2, capital);
  words.devices = {"phone", "tablet", "laptop", "desktop", "television", "watch", "console", "kiosk", "car", "reader",
                   "speaker", "other"};
  words.browsers = browser_names();
  words.user_agents = agents();
  words.tags = different(200, 2, 2, plain);
  words.carriers = different(10, 3, 2, capital);
  words.prose = different(512, 4, 2, plain);
  words.odd_prose = {"said \\\"yes\\\"", "line\\nbreak", "tab\\tstop", "back\\\\slash", "caf\xc3\xa9", "Z\xc3\xbcrich",
                     "\xe6\x9d\xb1\xe4\xba\xac", "\xf0\x9f\x98\x80", "\\u00fcber", "\\ud83d\\ude80"};
  return words;
}

}  // namespace

const RecordWords& record_words() {
  static const RecordWords words = make_words();
  return words;
}

}  // namespace frazil::sources
