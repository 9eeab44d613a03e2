#include "skein/base/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "skein/base/file.h"

namespace skein {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30U;

// Cells of the line that begins at `at`, which is moved behind it.
std::vector<std::string> next_line(const std::string& text, std::size_t& at) {
  std::vector<std::string> cells{""};
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      if (quoted && at + 1 < text.size() && text[at + 1] == '"') {
        cells.back() += c;
        ++at;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c == '\n' && !quoted) {
      ++at;
      break;
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) {
    return text;
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + '"';
}

CsvFile::CsvFile(const std::filesystem::path& file) : file_(file) {
  const std::string text = read_file(file, most_bytes);
  std::size_t at = 0;
  header_ = next_line(text, at);
  while (at < text.size()) {
    rows_.push_back(next_line(text, at));
    if (rows_.back().size() != header_.size()) {
      throw InputError({file_.string(), "", "",
                        fmt::format("row {} has {} cells, the header {}", rows_.size(), rows_.back().size(),
                                    header_.size())});
    }
  }
}

std::size_t CsvFile::index_of(std::string_view column) const {
  const auto found = std::ranges::find(header_, column);
  if (found == header_.end()) {
    throw InputError({file_.string(), std::string(column), "", "this column is missing"});
  }
  return static_cast<std::size_t>(found - header_.begin());
}

const std::string& CsvFile::text(std::size_t row, std::string_view column) const {
  return rows_[row][index_of(column)];
}

double CsvFile::number(std::size_t row, std::string_view column) const {
  const std::string& cell = text(row, column);
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value)) {
    throw InputError(
        {file_.string(), std::string(column), cell, fmt::format("must be a number, in row {}", row + 1)});
  }
  return value;
}

}  // namespace skein
