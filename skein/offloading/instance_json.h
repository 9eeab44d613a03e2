// Instances of problem P as JSON, one object a line: see docs/extending.md for the keys, and
// OffloadingInstance for what they mean. The best value known, if any, stands beside.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "skein/offloading/instance.h"
#include "skein/offloading/offloader.h"

namespace skein {

struct NamedInstance {
  OffloadingInstance instance{};
  std::optional<double> best_known{};  // objective without its constant
};

// Throws InputError with all faults of all lines.
std::vector<NamedInstance> read_instances(const std::filesystem::path& file);
std::vector<NamedInstance> parse_instances(const std::string& text, const std::string& name);

// rho, varrho, alpha and g as one JSON object.
std::string decision_text(const OffloadDecision& decision);

std::string instance_line(const OffloadingInstance& instance);
// name, status, objective without its constant, round_time_s, violation, kkt_residual, milliseconds,
// decision.
std::string result_line(const OffloadingInstance& instance, const OffloadResult& result, double milliseconds);

}  // namespace skein
