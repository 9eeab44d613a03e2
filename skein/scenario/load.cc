#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "skein/base/file.h"
#include "skein/scenario/bind.h"
#include "skein/scenario/scenario.h"
#include "skein/scenario/sizes.h"
#include "skein/scenario/toml_reader.h"
#include "skein/scenario/toml_writer.h"

namespace skein {
namespace {

constexpr std::size_t max_scenario_bytes = std::size_t{1} << 20U;
constexpr std::size_t max_base_depth = 16;
// The base that is no file: the defaults of the options, which are the paper's world and policy.
constexpr std::string_view paper_base = "paper";

InputFault fault_at(std::string file, std::string message) {
  return {.file = std::move(file), .key = "", .value = "", .message = std::move(message)};
}

toml::table parse(const std::string& text, const std::string& name) {
  if (text.size() > max_scenario_bytes) {
    throw InputError(fault_at(name, fmt::format("is larger than the {} bytes allowed", max_scenario_bytes)));
  }
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    throw InputError(fault_at(fmt::format("{}:{}:{}", name, at.line, at.column),
                              fmt::format("is not TOML: {}", error.description())));
  }
}

// Sections are merged key by key; everything else, inline tables too, replaces what was there. Nodes are
// moved: a copy would forget the file and line it came from.
void merge(toml::table& into, toml::table&& from) {
  for (auto&& [key, node] : from) {
    toml::table* old = into[key].as_table();
    toml::table* fresh = node.as_table();
    if (old != nullptr && fresh != nullptr && !old->is_inline() && !fresh->is_inline()) {
      merge(*old, std::move(*fresh));
    } else {
      into.insert_or_assign(key, std::move(node));
    }
  }
}

// The file's table laid over those it is based on.
toml::table with_bases(toml::table table, const std::string& name, const std::filesystem::path& directory,
                       std::vector<std::filesystem::path>& chain) {
  const toml::node* base = table.get("base");
  if (base == nullptr) {
    return table;
  }
  const auto* text = base->as_string();
  if (text == nullptr) {
    throw InputError(InputFault{
        .file = place_of(*base, name),
        .key = "base",
        .value = value_of(*base),
        .message = "must be the name of a scenario file, in quotes, or \"paper\": the paper's defaults"});
  }
  if (text->get() == paper_base) {
    table.erase("base");
    return table;
  }
  const std::filesystem::path file = directory / text->get();
  const std::filesystem::path identity = std::filesystem::weakly_canonical(file);
  if (std::ranges::find(chain, identity) != chain.end() || chain.size() >= max_base_depth) {
    throw InputError(InputFault{.file = place_of(*base, name),
                                .key = "base",
                                .value = value_of(*base),
                                .message = "leads back to a scenario that is based on this one"});
  }
  chain.push_back(identity);
  toml::table merged = with_bases(parse(read_file(file, max_scenario_bytes), file.string()), file.string(),
                                  file.parent_path(), chain);
  table.erase("base");
  merge(merged, std::move(table));
  return merged;
}

// "a.b=c" as TOML; a value that is not TOML is taken as text.
void apply_setting(toml::table& table, const std::string& setting, InputFaults& faults) {
  const std::string name = fmt::format("--set {}", setting);
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    faults.add(fault_at(name, "must have the form section.key=value, e.g. --set radio.bandwidth_mhz=10"));
    return;
  }
  try {
    merge(table, toml::parse(setting, name));
    return;
  } catch (const toml::parse_error&) {
  }
  try {
    const std::string key = setting.substr(0, equals);
    toml::table text = toml::parse(key + "=''", name);
    toml::table* inner = &text;
    while (inner->begin()->second.is_table()) {
      inner = inner->begin()->second.as_table();
    }
    const std::string last(inner->begin()->first.str());
    inner->insert_or_assign(last, setting.substr(equals + 1));
    merge(table, std::move(text));
  } catch (const toml::parse_error& error) {
    faults.add(fault_at(name, fmt::format("is not section.key=value: {}", error.description())));
  }
}

Scenario build(toml::table table, const std::string& name, const std::filesystem::path& directory,
               std::vector<std::filesystem::path> chain, const LoadOptions& options) {
  table = with_bases(std::move(table), name, directory, chain);
  InputFaults faults;
  for (const std::string& setting : options.settings) {
    apply_setting(table, setting, faults);
  }
  Scenario scenario;
  TomlReader reader(table, name, faults);
  bind_scenario(reader, scenario);
  reader.report_unknown();
  for (InputFault& fault : impossible_combinations(scenario)) {
    fault.file = name;
    faults.add(std::move(fault));
  }
  faults.throw_if_any();
  return scenario;
}

std::string write(const Scenario& scenario, TomlWriter::Comments comments) {
  Scenario copy = scenario;
  TomlWriter writer(comments);
  bind_scenario(writer, copy);
  return writer.text();
}

}  // namespace

Scenario parse_scenario(const std::string& text, const std::string& name, const LoadOptions& options,
                        const std::filesystem::path& directory) {
  return build(parse(text, name), name, directory, {}, options);
}

Scenario load_scenario(const std::filesystem::path& file, const LoadOptions& options) {
  return build(parse(read_file(file, max_scenario_bytes), file.string()), file.string(), file.parent_path(),
               {std::filesystem::weakly_canonical(file)}, options);
}

std::string resolved_scenario(const Scenario& scenario) {
  return write(with_sizes(scenario), TomlWriter::Comments::none);
}

std::string starter_scenario(const Scenario& scenario) {
  return write(scenario, TomlWriter::Comments::every_key);
}

}  // namespace skein
