#include "skein/mission/manifest.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "skein/base/digest.h"
#include "skein/nn/kernels.h"
#include "skein/version.h"

namespace skein {
namespace {

using Json = nlohmann::ordered_json;

Json machine() {
  std::string processor;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; processor.empty() && std::getline(info, line);) {
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      processor = line.substr(line.find(": ") + 2);
    }
  }
  utsname system{};
  ::uname(&system);
  return {{"processor", processor},
          {"cores", std::thread::hardware_concurrency()},
          {"kernels", nn::kernels<float>().name},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)}};
}

Json process_json(const RankReport& process) {
  return {{"busy_s", process.busy_s},
          {"waiting_s", process.waiting_s},
          {"processor_s", process.processor_s},
          {"peak_memory_MB", process.peak_memory_bytes / 1e6}};
}

}  // namespace

Json manifest_of(const Scenario& scenario, const DataSplit& data, std::size_t num_threads,
                 const Stopwatch& watch, const MissionTraffic& traffic) {
  Json processes = Json::array();
  for (const RankReport& process : traffic.ranks) {
    processes.push_back(process_json(process));
  }
  return {{"version", version},
          {"name", scenario.run.name},
          {"seed", scenario.run.seed},
          {"scenario_sha256", sha256(resolved_scenario(scenario))},
          {"data", scenario.data.source.name},
          {"data_sha256", digest_of(data)},
          {"planner", scenario.planning.planner},
          {"machine", machine()},
          {"threads", num_threads},
          {"seconds", watch.seconds()},
          {"processor_seconds", watch.processor_seconds()},
          {"messages", traffic.messages},
          {"message_bytes", traffic.bytes},
          {"processes", std::move(processes)}};
}

}  // namespace skein
