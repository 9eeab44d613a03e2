// Tables of numbers in files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/input_fault.h"

namespace skein::app {

// A text as a cell: in quotes if it needs them.
std::string csv_cell(const std::string& text);

class CsvFile {
 public:
  // Rows are as long as the header. Throws InputError.
  explicit CsvFile(const std::filesystem::path& file);

  [[nodiscard]] std::size_t num_rows() const { return rows_.size(); }
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;
  // Throws InputError where the cell is no finite number.
  [[nodiscard]] double number(std::size_t row, std::string_view column) const;

 private:
  [[nodiscard]] std::size_t index_of(std::string_view column) const;

  std::filesystem::path file_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace skein::app
