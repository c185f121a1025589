// Problems: all that is wrong with a configuration, each with its place, so that one run shows everything.
// Values are never quoted where they may be secret. One thread at a time.
#pragma once

#include <string>
#include <vector>

namespace frazil::app {

// Where something stands. Lines and columns count from 1; 0 is unknown.
struct Mark {
  int line = 0;
  int column = 0;
  std::string origin;  // "--set commit.interval=2s" for what came from the command line; empty: the file
};

struct Problem {
  Mark mark;
  std::string text;
  bool is_warning = false;
};

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}
  void error(const Mark& mark, std::string text);
  void warning(const Mark& mark, std::string text);

  const std::string& file() const { return file_; }
  const std::vector<Problem>& all() const { return problems_; }
  bool has_errors() const;
  // "orders.yaml:3:5: unknown key ...": one problem a line, in the order of the file, each line ended.
  std::string render() const;

 private:
  std::string file_;
  std::vector<Problem> problems_;
};

}  // namespace frazil::app
