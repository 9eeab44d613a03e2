// Tables of numbers in files.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/base/input_fault.h"

namespace skein {

// A text as a cell: in quotes if it needs them.
std::string csv_cell(const std::string& text);

// A column of a table that is written: its name with the unit, and what it has in a row: a number, yes or no
// as 1 or 0, nothing, or a text that stands as it is.
template <class Row>
class Column {
 public:
  template <std::invocable<const Row&> Read>
  Column(std::string name, Read read)
      : name_(std::move(name)), cell_([read](const Row& row) { return text(read(row)); }) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string cell(const Row& row) const { return cell_(row); }

 private:
  template <class Value>
  static std::string text(const Value& value) {
    if constexpr (std::same_as<Value, bool>) {
      return value ? "1" : "0";
    } else {
      return fmt::format("{}", value);
    }
  }
  template <class Value>
  static std::string text(const std::optional<Value>& value) {
    return value ? text(*value) : "";
  }

  std::string name_;
  std::function<std::string(const Row&)> cell_;
};

// Header and rows of a table, from the same list of columns.
template <class Row>
class Columns {
 public:
  Columns(std::initializer_list<Column<Row>> list) : list_(list) {}
  template <std::invocable<const Row&> Read>
  void add(std::string name, Read read) {
    list_.emplace_back(std::move(name), std::move(read));
  }

  [[nodiscard]] std::string header() const {
    return line([](const Column<Row>& column) { return column.name(); });
  }
  [[nodiscard]] std::string row(const Row& row) const {
    return line([&](const Column<Row>& column) { return column.cell(row); });
  }
  template <class Rows>
  [[nodiscard]] std::string table(const Rows& rows) const {
    std::string text = header();
    for (const Row& one : rows) {
      text += row(one);
    }
    return text;
  }

 private:
  template <class Cell>
  std::string line(const Cell& cell) const {
    std::string text;
    for (const Column<Row>& column : list_) {
      text += cell(column) + ",";
    }
    text.back() = '\n';
    return text;
  }

  std::vector<Column<Row>> list_;
};

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

}  // namespace skein
