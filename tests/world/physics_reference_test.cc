// Compares with tests/reference/physics_reference.py, which computes the same from the paper alone.
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/world/channel.h"
#include "skein/world/energy.h"
#include "skein/world/gathering.h"
#include "skein/world/propulsion.h"
#include "skein/world/recharging.h"

namespace skein {
namespace {

constexpr double tolerance = 1e-9;

double parse(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  expect(error == std::errc{} && end == text.data() + text.size(), "not a number in a reference file");
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<double> parse_list(std::string_view text) {
  std::vector<double> values;
  for (const std::string_view part : split(text, ' ')) {
    values.push_back(parse(part));
  }
  return values;
}

class Row {
 public:
  Row(const std::vector<std::string_view>& names, const std::vector<std::string_view>& values) {
    expect(names.size() == values.size(), "a row of a reference file has the wrong number of values");
    for (std::size_t i = 0; i < names.size(); ++i) {
      values_[names[i]] = values[i];
    }
  }

  [[nodiscard]] std::string_view text(std::string_view name) const { return values_.at(name); }
  double operator()(std::string_view name) const { return parse(text(name)); }
  [[nodiscard]] int whole(std::string_view name) const { return static_cast<int>((*this)(name)); }

 private:
  std::map<std::string_view, std::string_view> values_;
};

// The rows refer to the text.
struct ReferenceFile {
  std::string text;
  std::vector<Row> rows;

  explicit ReferenceFile(const std::string& name)
      : text(read_file(SKEIN_SOURCE_DIR "/tests/reference/" + name, 1U << 20U)) {
    const std::vector<std::string_view> lines = split(text, '\n');
    const std::vector<std::string_view> names = split(lines[0], ',');
    for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
      rows.emplace_back(names, split(lines[i], ','));
    }
  }
};

// The largest relative deviation of each quantity over all rows.
class Deviations {
 public:
  void compare(std::string_view name, double ours, double reference) {
    const double deviation = ours == reference ? 0.0 : std::abs(ours - reference) / std::abs(reference);
    double& largest = largest_[std::string(name)];
    if (std::isnan(deviation) || deviation > largest) {
      largest = deviation;  // and nothing is larger than NaN
    }
  }

  void report(const char* title) const {
    for (const auto& [name, deviation] : largest_) {
      EXPECT_LE(deviation, tolerance) << name;
      std::printf("  %s, %s: largest relative deviation %.2g\n", title, name.c_str(), deviation);
    }
  }

 private:
  std::map<std::string, double> largest_;
};

TEST(PhysicsReference, radio) {
  const ReferenceFile file("physics_radio.csv");
  ASSERT_GE(file.rows.size(), 1000U);
  Deviations deviations;
  for (const Row& row : file.rows) {
    RadioOptions options;
    options.carrier.spread = constant(row("carrier_ghz"));
    options.path_loss_exponent.spread = constant(row("path_loss_exponent"));
    options.los_excess.spread = constant(row("los_excess_db"));
    options.nlos_excess.spread = constant(row("nlos_excess_db"));
    options.los_psi.spread = constant(row("los_psi"));
    options.los_beta.spread = constant(row("los_beta"));
    options.noise_density.spread = constant(row("noise_dbm_per_hz"));
    options.bandwidth.spread = constant(row("bandwidth_mhz"));
    const Radio radio = sample_radio(options, 1);
    const Position a{Length(row("ax_m")), Length(row("ay_m")), Length(row("az_m"))};
    const Position b{Length(row("bx_m")), Length(row("by_m")), Length(row("bz_m"))};
    const Power power = unit::dbm.to_si(row("power_dbm"));

    const double angle = elevation_degrees(a, b);
    const double air_to_air = air_to_air_loss(radio, distance(a, b));
    const double air_to_ground = air_to_ground_loss(radio, a, b);
    deviations.compare("distance", distance(a, b).si(), row("distance"));
    deviations.compare("elevation", angle, row("elevation"));
    deviations.compare("line-of-sight probability", line_of_sight_probability(radio, angle),
                       row("los_probability"));
    deviations.compare("air-to-air loss", air_to_air, row("air_to_air_loss"));
    deviations.compare("air-to-ground loss", air_to_ground, row("air_to_ground_loss"));
    deviations.compare("air-to-air rate", data_rate(radio, power, air_to_air).si(), row("air_to_air_rate"));
    deviations.compare("air-to-ground rate", data_rate(radio, power, air_to_ground).si(),
                       row("air_to_ground_rate"));
  }
  deviations.report("radio");
}

PropulsionOptions propulsion_of(const Row& row) {
  const auto value = [&](int i) { return constant(row("value" + std::to_string(i))); };
  PropulsionOptions options;
  if (row.text("kind") == "fixed_wing") {
    options.kind = PropulsionKind::fixed_wing;
    FixedWingOptions& wing = options.fixed_wing;
    wing.zero_lift_drag.spread = value(0);
    wing.wing_area.spread = value(1);
    wing.mass.spread = value(2);
    wing.oswald_efficiency.spread = value(3);
    wing.aspect_ratio.spread = value(4);
    wing.air_density.spread = value(5);
    wing.loiter_speed.spread = value(6);
    wing.loiter_radius.spread = value(7);
  } else if (row.text("kind") == "published_fixed_wing") {
    options.kind = PropulsionKind::published_fixed_wing;
    PublishedFixedWingOptions& wing = options.published_fixed_wing;
    wing.zero_lift_drag.spread = value(0);
    wing.wing_area.spread = value(1);
    wing.mass.spread = value(2);
    wing.induced_wing_area.spread = value(3);
    wing.loiter_speed.spread = value(4);
  } else {
    expect(row.text("kind") == "rotary_wing", "unknown kind in a reference file");
    options.kind = PropulsionKind::rotary_wing;
    RotaryWingOptions& rotor = options.rotary_wing;
    rotor.blade_profile_power.spread = value(0);
    rotor.induced_power.spread = value(1);
    rotor.tip_speed.spread = value(2);
    rotor.hover_induced_speed.spread = value(3);
    rotor.fuselage_drag_ratio.spread = value(4);
    rotor.rotor_solidity.spread = value(5);
    rotor.disc_area.spread = value(6);
    rotor.air_density.spread = value(7);
  }
  return options;
}

// A search that compares powers finds the speed of the least one only to about the square root of a double's
// precision, since the power is flat there; the least power itself is as exact as any other.
constexpr double speed_tolerance = 1e-6;

TEST(PhysicsReference, propulsion) {
  const ReferenceFile file("physics_propulsion.csv");
  ASSERT_GE(file.rows.size(), 1000U);
  Deviations deviations;
  const SpeedRange speeds{.low = 1_mps, .high = 60_mps};
  for (const Row& row : file.rows) {
    const Propulsion propulsion = sample_propulsion(propulsion_of(row), 1, "uav", 0);
    const std::string kind(row.text("kind"));
    const Speed speed(row("speed_mps"));
    deviations.compare(kind + " power", propulsion.power(speed).si(), row("power"));
    deviations.compare(kind + " energy per metre", propulsion.energy_per_metre(speed).si(),
                       row("energy_per_metre"));
    deviations.compare(kind + " hover power", propulsion.hover_power().si(), row("hover_power"));
    const Speed endurance = best_endurance_speed(propulsion, speeds);
    const Speed range = best_range_speed(propulsion, speeds);
    deviations.compare(kind + " least power", propulsion.power(endurance).si(), row("least_power"));
    deviations.compare(kind + " least energy per metre", propulsion.energy_per_metre(range).si(),
                       row("least_energy_per_metre"));
    EXPECT_NEAR(endurance.si() / row("endurance_speed"), 1.0, speed_tolerance);
    EXPECT_NEAR(range.si() / row("range_speed"), 1.0, speed_tolerance);
  }
  deviations.report("propulsion");
}

TEST(PhysicsReference, energy_and_time) {
  const ReferenceFile file("physics_energy.csv");
  ASSERT_GE(file.rows.size(), 1000U);
  Deviations deviations;
  for (const Row& row : file.rows) {
    const ProcessingLoad load{.local_period = row.whole("local_period"),
                              .cycles_per_datapoint = row("cycles_per_datapoint"),
                              .sampled_ratio = row("sampled_ratio"),
                              .num_datapoints = row("num_datapoints"),
                              .frequency = unit::megahertz.to_si(row("frequency_mhz"))};
    deviations.compare("processing energy", processing_energy(load, Capacitance(row("capacitance"))).si(),
                       row("processing_energy"));
    deviations.compare("processing time", processing_time(load).si(), row("processing_time"));

    const std::array<DataRate, 3> rates{unit::megabit_per_second.to_si(row("rate0_mbps")),
                                        unit::megabit_per_second.to_si(row("rate1_mbps")),
                                        unit::megabit_per_second.to_si(row("rate2_mbps"))};
    const std::array<DataShare, 3> shares{
        {{row("share0"), rates[0]}, {row("share1"), rates[1]}, {row("share2"), rates[2]}}};
    const DataTransmission data{.power = unit::dbm.to_si(row("power_dbm")),
                                .datapoint_size = unit::kilobit.to_si(row("datapoint_kbit")),
                                .shares = shares};
    const Time gathering = serial_transfer_time(data.datapoint_size, shares);
    deviations.compare("data time", gathering.si(), row("data_time"));
    deviations.compare("data energy", data_transmission_energy(data).si(), row("data_energy"));

    const ModelTransmission models{.num_aggregations = row.whole("local_aggregations"),
                                   .model_size = unit::kilobit.to_si(row("model_kbit")),
                                   .power = data.power};
    deviations.compare("upload energy", model_upload_energy(models, rates[0]).si(), row("upload_energy"));
    deviations.compare("broadcast energy", model_broadcast_energy(models, rates).si(),
                       row("broadcast_energy"));
    const WorkerTimes worker{.gathering = gathering,
                             .processing = processing_time(load),
                             .upload = transfer_time(models.model_size, rates[0])};
    deviations.compare("round time",
                       local_round_time({&worker, 1}, broadcast_time(models.model_size, rates)).si(),
                       row("round_time"));

    const Propulsion propulsion{
        ConstantPower{.hover = Power(row("hover_w")), .cruise = Power(row("cruise_w"))}};
    const Flight flight{.distance = Length(row("distance_m")), .speed = Speed(row("speed_mps"))};
    const AccessPointTrips trips{.num_aggregations = row.whole("global_aggregations"), .one_way = flight};
    deviations.compare("hovering energy", hovering_energy(propulsion, Time(row("hover_s"))).si(),
                       row("hovering_energy"));
    deviations.compare("flight time", flight_time(flight).si(), row("flight_time"));
    deviations.compare("travel energy", travel_energy(propulsion, flight).si(), row("travel_energy"));
    deviations.compare("access point energy", access_point_energy(propulsion, trips).si(),
                       row("access_point_energy"));
    deviations.compare("access point time", access_point_time(trips).si(), row("access_point_time"));

    const Charger charger{.power = Power(row("charge_w")), .swap_time = Time(row("swap_s"))};
    const Energy missing = unit::kilojoule.to_si(row("missing_kj"));
    deviations.compare("recharge time", recharge_time(charger, missing).si(), row("recharge_time"));
    deviations.compare("recharged energy", recharged_energy(charger, missing, Time(row("available_s"))).si(),
                       row("recharged_energy"));
  }
  deviations.report("energy and time");
}

std::vector<std::vector<DataShare>> parse_shares(std::string_view text) {
  std::vector<std::vector<DataShare>> table;
  for (const std::string_view row : split(text, '|')) {
    std::vector<DataShare>& shares = table.emplace_back();
    for (const std::string_view cell : split(row, ' ')) {
      const std::vector<std::string_view> parts = split(cell, ':');
      shares.push_back(
          {.num_datapoints = parse(parts.at(0)), .rate = unit::megabit_per_second.to_si(parse(parts.at(1)))});
    }
  }
  return table;
}

TEST(PhysicsReference, gathering) {
  const ReferenceFile file("physics_gathering.csv");
  ASSERT_GE(file.rows.size(), 400U);
  Deviations deviations;
  std::size_t num_waiting = 0;
  for (const Row& row : file.rows) {
    const Gathering gathering{.datapoint_size = unit::kilobit.to_si(row("datapoint_kbit")),
                              .to_coordinator = parse_shares(row.text("to_coordinator")),
                              .to_worker = parse_shares(row.text("to_worker")),
                              .relay = parse_shares(row.text("relay"))};
    const GatheringTimes paper = paper_gathering_times(gathering);
    const GatheringTimes scheduled = schedule_gathering(gathering).times;
    const std::vector<double> coordinators = parse_list(row.text("coordinators"));
    const std::vector<double> paper_workers = parse_list(row.text("paper_workers"));
    const std::vector<double> workers = parse_list(row.text("workers"));
    ASSERT_EQ(scheduled.coordinators.size(), coordinators.size());
    ASSERT_EQ(scheduled.workers.size(), workers.size());
    for (std::size_t h = 0; h < coordinators.size(); ++h) {
      deviations.compare("coordinator", scheduled.coordinators[h].si(), coordinators[h]);
    }
    for (std::size_t j = 0; j < workers.size(); ++j) {
      deviations.compare("worker, as in the paper", paper.workers[j].si(), paper_workers[j]);
      deviations.compare("worker, scheduled", scheduled.workers[j].si(), workers[j]);
      num_waiting += workers[j] > paper_workers[j] * 1.01 ? 1 : 0;
    }
  }
  EXPECT_GT(num_waiting, 300U);
  deviations.report("gathering");
}

}  // namespace
}  // namespace skein
