#include "skein/scenario/scenario_source.h"

namespace skein {

Scenario load_scenario(const ScenarioSource& source) {
  LoadOptions options{.settings = source.settings};
  if (source.seed) {
    options.settings.push_back("run.seed=" + std::to_string(*source.seed));
  }
  return source.file.empty() ? parse_scenario(source.text, source.text_name, options)
                             : load_scenario(source.file, options);
}

}  // namespace skein
