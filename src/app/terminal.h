// Output for people: messages to stderr, data to stdout, progress only on a terminal. One thread at a time, unless
// told.
#pragma once

#include <string>
#include <string_view>

namespace frazil::app {

// A message to stderr, ended by a new line. Control characters in it are shown, not sent.
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

// Text that others wrote, for people's eyes: valid UTF-8, and control characters (C0, DEL, C1) written as \n, \t or \x1b, so that they
// cannot steer a terminal or forge a line. With `keeps_lines`, ends of lines and tabs stay.
std::string printable(std::string_view text, bool keeps_lines = false);
// JSON whose strings may hold what others wrote: control characters that JSON allows in them (DEL, C1) become \u escapes.
std::string printable_json(const std::string& json);

// Bold text on a terminal that wants colours (NO_COLOR is not set), else the text itself.
std::string emphasis(const std::string& text);

}  // namespace frazil::app
