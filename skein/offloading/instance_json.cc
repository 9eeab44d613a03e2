#include "skein/offloading/instance_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "skein/base/file.h"

namespace skein {
namespace {

using Json = nlohmann::json;

// Reads the keys of one line; faults name the line and the key.
class LineReader {
 public:
  LineReader(const Json& object, std::string file, std::string place, InputFaults& faults)
      : object_(object), file_(std::move(file)), place_(std::move(place)), faults_(faults) {}

  void read(const char* key, double& target) {
    if (const Json* value = find(key); value != nullptr) {
      target = number(key, *value);
    }
  }
  void read(const char* key, std::vector<double>& target) {
    const Json* value = find(key);
    if (value == nullptr) {
      return;
    }
    if (!value->is_array()) {
      refuse(key, value->dump(), "must be a list of numbers");
      return;
    }
    for (const Json& item : *value) {
      target.push_back(number(key, item));
    }
  }
  void read(const char* key, Table<double>& target, std::size_t columns) {
    const Json* value = find(key);
    if (value == nullptr) {
      return;
    }
    if (!value->is_array()) {
      refuse(key, value->dump(), "must be a list of lists of numbers");
      return;
    }
    target.rows = value->size();
    target.columns = columns;
    for (const Json& row : *value) {
      if (!row.is_array() || row.size() != columns) {
        refuse(key, fmt::format("a row of {}", row.is_array() ? row.size() : 0),
               fmt::format("rows must have {} numbers", columns).c_str());
        continue;
      }
      for (const Json& item : row) {
        target.values.push_back(number(key, item));
      }
    }
  }
  std::size_t count(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) {
      return 0;
    }
    if (!value->is_number_unsigned()) {
      refuse(key, value->dump(), "must be a whole number");
      return 0;
    }
    return value->get<std::size_t>();
  }
  void refuse(const char* key, const std::string& value, const char* allowed) {
    faults_.add({file_, fmt::format("{}: {}", place_, key), value, allowed});
  }
  [[nodiscard]] const Json* find(const char* key, bool needed = true) {
    const auto found = object_.find(key);
    if (found == object_.end()) {
      if (needed) {
        refuse(key, "", "is missing");
      }
      return nullptr;
    }
    return &*found;
  }

 private:
  double number(const char* key, const Json& value) {
    if (!value.is_number()) {
      refuse(key, value.dump(), "must be a number");
      return 0.0;
    }
    return value.get<double>();
  }

  const Json& object_;
  std::string file_;
  std::string place_;
  InputFaults& faults_;
};

NamedInstance read_line(const Json& object, const std::string& file, const std::string& place,
                        InputFaults& faults) {
  NamedInstance result;
  OffloadingInstance& p = result.instance;
  LineReader reader(object, file, place, faults);
  if (const Json* name = reader.find("name"); name != nullptr && name->is_string()) {
    p.name = name->get<std::string>();
  }
  const std::size_t devices = reader.count("devices");
  const std::size_t workers = reader.count("workers");
  const std::size_t coordinators = reader.count("coordinators");
  reader.read("learning_weight", p.learning_weight);
  reader.read("bits_per_datum", p.point_bits);
  reader.read("local_period", p.local_period);
  reader.read("local_time_limit_s", p.local_time_limit);
  if (reader.find("hover_power_w", false) != nullptr) {
    reader.read("hover_power_w", p.hover_power);
  }
  if (reader.find("uav_hover_power_w", false) != nullptr) {
    reader.read("uav_hover_power_w", p.uav_hover_power);
  }
  reader.read("gradient_error_weight", p.bound.gradient_error_weight);
  reader.read("mismatch_weight", p.bound.mismatch_weight);
  reader.read("constant", p.bound.constant);
  if (const Json* bound = reader.find("bound"); bound != nullptr && bound->is_object()) {
    LineReader inner(*bound, file, place + ": bound", faults);
    inner.read("a", p.bound.a);
    inner.read("b", p.bound.b);
    inner.read("c", p.bound.c);
    inner.read("d", p.bound.d);
  } else if (bound != nullptr) {
    reader.refuse("bound", bound->dump(), "must be an object with a, b, c and d");
  }
  std::vector<double> clocks;
  reader.read("cpu_hz", clocks);
  if (clocks.size() == 2) {
    p.least_clock.assign(workers, clocks[0]);
    p.most_clock.assign(workers, clocks[1]);
  } else {
    reader.refuse("cpu_hz", fmt::format("{} numbers", clocks.size()), "must be the least speed and the most");
  }
  reader.read("device_data", p.device_data);
  reader.read("device_power_w", p.device_power);
  reader.read("device_rate_bps", p.device_rate, workers + coordinators);
  reader.read("coordinator_power_w", p.coordinator_power);
  reader.read("coordinator_rate_bps", p.coordinator_rate, workers);
  reader.read("capacitance_times_cycles", p.capacitance_cycles);
  reader.read("cycles_per_datum", p.cycles);
  reader.read("energy_budget_j", p.energy_budget);
  reader.read("buffer", p.buffer);
  if (p.device_data.size() != devices) {
    reader.refuse("device_data", fmt::format("{} numbers", p.device_data.size()),
                  fmt::format("must be {}, one for each device", devices).c_str());
  }
  if (p.cycles.size() != workers) {
    reader.refuse("cycles_per_datum", fmt::format("{} numbers", p.cycles.size()),
                  fmt::format("must be {}, one for each worker", workers).c_str());
  }
  if (p.coordinator_power.size() != coordinators) {
    reader.refuse("coordinator_power_w", fmt::format("{} numbers", p.coordinator_power.size()),
                  fmt::format("must be {}, one for each coordinator", coordinators).c_str());
  }
  if (const Json* best = reader.find("best_known_objective", false); best != nullptr && best->is_number()) {
    result.best_known = best->get<double>();
  }
  return result;
}

Json table(const Table<double>& values) {
  Json rows = Json::array();
  for (std::size_t row = 0; row < values.rows; ++row) {
    Json numbers = Json::array();
    for (std::size_t column = 0; column < values.columns; ++column) {
      numbers.push_back(values(row, column));
    }
    rows.push_back(std::move(numbers));
  }
  return rows;
}

nlohmann::ordered_json decision_json(const OffloadDecision& decision) {
  return {{"rho", table(decision.rho)},
          {"varrho", table(decision.varrho)},
          {"alpha", decision.alpha},
          {"g", decision.clock}};
}

}  // namespace

std::string decision_text(const OffloadDecision& decision) { return decision_json(decision).dump(); }

std::vector<NamedInstance> parse_instances(const std::string& text, const std::string& name) {
  InputFaults faults;
  std::vector<NamedInstance> instances;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    const std::string place = fmt::format("line {}", number);
    const Json object = Json::parse(line, nullptr, false);
    if (!object.is_object()) {
      faults.add({name, place, "", "must be a JSON object"});
      continue;
    }
    const std::size_t before = faults.list().size();
    NamedInstance instance = read_line(object, name, place, faults);
    if (faults.list().size() == before) {
      for (InputFault fault : faults_of(instance.instance)) {
        faults.add({name, place + ": " + fault.key, fault.value, fault.message});
      }
    }
    instances.push_back(std::move(instance));
  }
  if (instances.empty() && faults.empty()) {
    faults.add({name, "", "", "has no instance: one JSON object a line is expected"});
  }
  faults.throw_if_any();
  return instances;
}

std::vector<NamedInstance> read_instances(const std::filesystem::path& file) {
  return parse_instances(read_file(file, std::size_t{1} << 30U), file.string());
}

std::string instance_line(const OffloadingInstance& p) {
  Json object;
  object["name"] = p.name;
  object["devices"] = p.num_devices();
  object["workers"] = p.num_workers();
  object["coordinators"] = p.num_coordinators();
  object["learning_weight"] = p.learning_weight;
  object["bits_per_datum"] = p.point_bits;
  object["local_period"] = p.local_period;
  object["local_time_limit_s"] = p.local_time_limit;
  if (p.prices_time()) {
    object["hover_power_w"] = p.hover_power;
    object["uav_hover_power_w"] = p.uav_hover_power;
  }
  object["gradient_error_weight"] = p.bound.gradient_error_weight;
  object["mismatch_weight"] = p.bound.mismatch_weight;
  object["constant"] = p.bound.constant;
  object["bound"] = {{"a", p.bound.a}, {"b", p.bound.b}, {"c", p.bound.c}, {"d", p.bound.d}};
  object["cpu_hz"] = {p.least_clock.front(), p.most_clock.front()};
  object["device_data"] = p.device_data;
  object["device_power_w"] = p.device_power;
  object["device_rate_bps"] = table(p.device_rate);
  object["coordinator_power_w"] = p.coordinator_power;
  object["coordinator_rate_bps"] = table(p.coordinator_rate);
  object["capacitance_times_cycles"] = p.capacitance_cycles;
  object["cycles_per_datum"] = p.cycles;
  object["energy_budget_j"] = p.energy_budget;
  object["buffer"] = p.buffer;
  return object.dump();
}

std::string result_line(const OffloadingInstance& instance, const OffloadResult& result,
                        double milliseconds) {
  nlohmann::ordered_json object;
  object["name"] = instance.name;
  object["status"] = name_of(result.status);
  if (result.status == OffloadStatus::infeasible) {
    object["culprit"] = result.culprit;
    object["milliseconds"] = milliseconds;
    return object.dump();
  }
  const OffloadDecision& decision = result.decisions.front();
  object["objective"] = result.objective();
  object["round_time_s"] = result.evaluations.front().round_time;
  object["violation"] = std::max(0.0, result.certificate.violation);
  object["kkt_residual"] = result.certificate.kkt_residual;
  object["milliseconds"] = milliseconds;
  object["decision"] = decision_json(decision);
  return object.dump();
}

}  // namespace skein
