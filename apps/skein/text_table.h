// A table for a terminal: a header, rows, columns as wide as they need.
#pragma once

#include <string>
#include <vector>

namespace skein::app {

class TextTable {
 public:
  // A header that starts with '<' makes its column left-aligned; others are right-aligned.
  explicit TextTable(std::vector<std::string> headers);
  void add(std::vector<std::string> row);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<bool> left_;
  std::vector<std::vector<std::string>> rows_;  // the header first
};

}  // namespace skein::app
