#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "skein/base/input_fault.h"
#include "skein/learning/network_choice.h"
#include "skein/mission/build.h"
#include "skein/scenario/sizes.h"
#include "world_view.h"

namespace skein::app {
namespace {

void print_summary(const Scenario& written, const SampledWorld& sampled) {
  const Scenario s = with_sizes(written);
  const World& world = sampled.world;
  const auto row = [](std::string_view name, const std::string& value) {
    fmt::print("  {:<12}{}\n", name, value);
  };
  fmt::print("{}: valid\n", s.run.name);
  row("run", fmt::format("seed {}{}{}", s.run.seed,
                         s.run.sequences > 0 ? fmt::format(", {} training sequences", s.run.sequences) : "",
                         s.run.hours > 0.0 ? fmt::format(", {:g} hours", s.run.hours) : ""));
  row("world",
      fmt::format("{} clusters with {} devices, {} stations, {} access points, sites {:g} to {:g} m apart",
                  world.clusters.size(), world.devices.size(), world.stations.size(),
                  world.access_points.size(), s.world.distance_m[0], s.world.distance_m[1]));
  row("swarms", fmt::format("{} swarms, {} UAVs", world.swarms.size(), world.uavs.size()));
  for (const UavType& type : s.swarms.types) {
    const auto count = std::ranges::count(world.uavs, type.name, &Uav::type);
    if (count > 0) {
      const auto uav = std::ranges::find(world.uavs, type.name, &Uav::type);
      row("", fmt::format("{} {}: battery {} kJ, threshold {} kJ, {:.0f} W above a place{}", count, type.name,
                          type.battery.spread.to_toml(), type.battery_threshold.spread.to_toml(),
                          uav->propulsion.hover_power().si(),
                          type.role == Role::worker
                              ? fmt::format(", {} cycles a point", type.cycles_per_point.spread.to_toml())
                              : ""));
    }
  }
  row("radio",
      fmt::format("{} GHz, {} MHz, noise {} dBm/Hz, shadowing {} dB", s.radio.carrier.spread.to_toml(),
                  s.radio.bandwidth.spread.to_toml(), s.radio.noise_density.spread.to_toml(),
                  s.radio.shadowing_deviation.spread.to_toml()));
  constexpr std::array kinds{"labels", "dirichlet", "iid"};
  row("data",
      fmt::format("{}, partition {}, {} points a device, {} new in a sequence, {} in an hour, buffer {}",
                  s.data.source.name, kinds[static_cast<std::size_t>(s.data.partition.kind)],
                  s.data.partition.quantity.spread.to_toml(), s.data.arrivals.spread.to_toml(),
                  s.data.arrivals_per_hour.spread.to_toml(), s.data.buffer.spread.to_toml()));
  const auto rate = [](const DriftRateOptions& o) {
    const std::string start = o.start.spread.to_toml();
    return o.later_from > 0.0
               ? fmt::format("{} ({} from {:g} on)", start, o.later.spread.to_toml(), o.later_from)
               : start;
  };
  row("drift",
      fmt::format("labels {}, rotation {} degrees, brightness {}, noise {} {}", rate(s.drift.label_mix),
                  rate(s.drift.rotation), rate(s.drift.brightness), rate(s.drift.noise),
                  s.drift.per == DriftOptions::Per::hour ? "an hour" : "a sequence"));
  row("learning", fmt::format("eta_1 {:g}, eta_2 {:g}, tau_L {}, tau_G {}, {} iterations",
                              s.learning.inner_step, s.learning.meta_step, s.learning.local_period,
                              s.learning.global_period, s.learning.iterations));
  const nn::Architecture network = build_architecture(s.learning.network, s.data.source);
  row("", fmt::format("network {}: {} layers, {} parameters", s.learning.network.preset,
                      network.layers.size(), nn::num_parameters(network)));
  const bool needs_bounds = s.offloading.learning_term == LearningTerm::bound;
  for (const InputFault& fault : needs_bounds ? bound_faults(s.learning) : std::vector<InputFault>{}) {
    row("", to_string(fault));
  }
  row("offloading",
      fmt::format("learning weight {:g}, {} kbit a point, {} kbit a model, {} s for a local round",
                  s.offloading.learning_weight, s.offloading.point_size.spread.to_toml(),
                  s.offloading.model_size.spread.to_toml(), s.offloading.local_time_limit.spread.to_toml()));
  row("planning", fmt::format("discount {:g}, penalty {:g}, recharge cost {:g}", s.planning.discount,
                              s.planning.reward.penalty, s.planning.reward.recharge_cost));
}

void check(const CommonOptions& options, bool resolved) {
  const Scenario scenario = load(options);
  with_file_named(options, [&] {
    // Not by build_world, which would tell of lists alone.
    ThreadPool pool(options.threads);
    InputFaults faults;
    faults.add_all(data_faults(
        scenario, sample_world(scenario.world, scenario.swarms, scenario.radio, scenario.run.seed, pool)));
    faults.throw_if_any();
  });
  const SampledWorld sampled = sample(scenario, options);
  if (resolved) {
    fmt::print("{}", resolved_scenario(scenario));
  } else if (options.json()) {
    const nlohmann::ordered_json answer{{"valid", true},
                                        {"name", scenario.run.name},
                                        {"seed", scenario.run.seed},
                                        {"clusters", sampled.world.clusters.size()},
                                        {"devices", sampled.world.devices.size()},
                                        {"swarms", sampled.world.swarms.size()},
                                        {"uavs", sampled.world.uavs.size()},
                                        {"parameters", nn::num_parameters(build_architecture(
                                                           scenario.learning.network, scenario.data.source))},
                                        {"bounds_hold", bound_faults(scenario.learning).empty()}};
    fmt::print("{}\n", answer.dump(1));
  } else if (options.talks()) {
    print_summary(scenario, sampled);
  }
}

}  // namespace

void add_check_command(Command& program) {
  struct Options {
    CommonOptions common;
    bool resolved = false;
  };
  auto options = std::make_shared<Options>();
  Command* command = program.add_subcommand(
      "check", "Find every fault of a scenario, or summarise it; exit code 2 if it has any");
  add_scenario(*command, options->common);
  command->add_flag("--resolved", options->resolved, "Print the scenario with every default written out");
  add_common_options(*command, options->common, "skein check my.toml --set run.seed=3");
  command->callback([options] { check(options->common, options->resolved); });
}

}  // namespace skein::app
