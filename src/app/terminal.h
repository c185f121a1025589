// Output for people: messages to stderr, data to stdout, progress only on a terminal. One thread at a time, unless
// told.
#pragma once

#include <string>
#include <string_view>

namespace frazil::app {

// A message to stderr, ended by a new line.
void tell(std::string_view message);
// Data to stdout as it is. Whole lines from several lanes do not mix. What cannot be written is remembered:
void put(std::string_view data);
// 0, or the errno of the first put that did not arrive whole (a full disk, a reader that is gone). Any thread.
int output_error();

// One line that is written over and over on stderr; nothing when stderr is no terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  void show(const std::string& text);
  void clear();
  bool is_on() const { return is_on_; }

 private:
  bool is_on_;
  bool is_shown_ = false;
};

// Bold text on a terminal that wants colours (NO_COLOR is not set), else the text itself.
std::string emphasis(const std::string& text);

}  // namespace frazil::app
