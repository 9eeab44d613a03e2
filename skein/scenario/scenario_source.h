// Where a scenario comes from, so that it can be read again with other settings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "skein/scenario/scenario.h"

namespace skein {

struct ScenarioSource {
  std::string file{};                   // empty: the text
  std::string text{};                   // TOML
  std::string text_name{};              // what messages call the text
  std::vector<std::string> settings{};  // "a.b=c", each overriding the file
  std::optional<std::size_t> seed{};    // overrides run.seed

  // What messages call it.
  [[nodiscard]] const std::string& name() const { return file.empty() ? text_name : file; }
};

// Throws InputError with every fault at once.
Scenario load_scenario(const ScenarioSource& source);

}  // namespace skein
