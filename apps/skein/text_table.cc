#include "text_table.h"

#include <algorithm>

#include "skein/base/expect.h"

namespace skein::app {
namespace {

// Characters on the screen: bytes that are not the continuation of a UTF-8 sequence.
std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headers) {
  for (std::string& header : headers) {
    left_.push_back(header.starts_with('<'));
    header = left_.back() ? header.substr(1) : header;
  }
  rows_.push_back(std::move(headers));
}

void TextTable::add(std::vector<std::string> row) {
  expect(row.size() == left_.size(), "a row has a cell per column");
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(left_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line = " ";
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const std::string pad(widths[i] - display_width(rows_[r][i]), ' ');
      line += left_[i] ? " " + rows_[r][i] + pad + " " : " " + pad + rows_[r][i] + " ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    if (r == 0) {
      line = "  ";
      for (std::size_t i = 0; i < left_.size(); ++i) {
        line += std::string(widths[i], '-') + "  ";
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
  }
  return text;
}

}  // namespace skein::app
