// Reads a scenario from TOML, collecting every fault: unknown keys, wrong types, values out of range.
#pragma once

#include <toml++/toml.h>

#include <memory>
#include <string>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/scenario/fields.h"

namespace skein {

class TomlReader final : public Fields {
 public:
  // `root` outlives the reader. `file` is named for what is not in the table.
  TomlReader(const toml::table& root, std::string file, InputFaults& faults);

  // Reports the keys that nothing has asked for. Call it last.
  void report_unknown();

  void section(std::string_view name, std::string_view help, const std::function<void()>& keys,
               bool counts) override;
  void named_sections(std::string_view name, std::string_view help, const std::vector<std::string>& known,
                      const std::function<void(const std::string&)>& keys) override;
  void spread(std::string_view key, Spread& value, const Range& allowed, std::string_view help) override;
  void real(std::string_view key, double& value, const Range& allowed, std::string_view help) override;
  void integer(std::string_view key, std::int64_t& value, const Range& allowed,
               std::string_view help) override;
  void flag(std::string_view key, bool& value, std::string_view help) override;
  void text(std::string_view key, std::string& value, std::string_view help) override;
  void texts(std::string_view key, std::vector<std::string>& values, std::string_view help) override;
  void one_of(std::string_view key, std::size_t& value, std::span<const std::string_view> names,
              std::string_view help) override;
  void reals(std::string_view key, std::vector<double>& values, const Range& allowed,
             std::string_view help) override;
  void lists(std::string_view key, std::vector<std::vector<double>>& values, std::size_t size,
             const Range& allowed, std::string_view help) override;

 protected:
  void fixed_reals(std::string_view key, std::vector<double>& values, std::size_t size, const Range& allowed,
                   std::string_view help) override;

 private:
  const toml::node* find(std::string_view key);
  void fault(std::string_view key, const toml::node& node, std::string message);
  bool read_numbers(std::string_view key, const toml::node& node, const toml::array& array,
                    const Range& allowed, std::vector<double>& out);
  void report_unknown_in(const toml::table& table, const std::string& path);
  [[nodiscard]] std::string path_of(std::string_view key) const;

  const toml::table* table_;
  std::string file_;
  InputFaults* faults_;
  std::string path_;
  std::vector<std::string> known_;  // full paths of all keys and sections asked for
};

// Where a node stands: "file:line".
std::string place_of(const toml::node& node, const std::string& file);
// The node's value as short text.
std::string value_of(const toml::node& node);
// Letters to insert, delete, replace or swap to turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace skein
