#include "skein/learning/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"

namespace skein {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20U;

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = line.find(separator);
    parts.push_back(line.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    line.remove_prefix(end + 1);
  }
}

double number(std::string_view text, const std::filesystem::path& file, std::string_view column) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw InputError(InputFault{file.string(), std::string(column), std::string(text), "must be a number"});
  }
  return value;
}

}  // namespace

std::optional<double> crossing(const Curve& curve, double level) {
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    if (curve.values[i] < level) {
      continue;
    }
    if (i == 0) {
      return curve.iterations[0];
    }
    const double share = (level - curve.values[i - 1]) / (curve.values[i] - curve.values[i - 1]);
    return curve.iterations[i - 1] + share * (curve.iterations[i] - curve.iterations[i - 1]);
  }
  return std::nullopt;
}

double value_at(const Curve& curve, double iteration) {
  const auto after = std::ranges::lower_bound(curve.iterations, iteration);
  expect(after != curve.iterations.end() && iteration >= curve.iterations.front(), "a place on the curve");
  const auto i = static_cast<std::size_t>(after - curve.iterations.begin());
  if (*after == iteration) {
    return curve.values[i];
  }
  const double share =
      (iteration - curve.iterations[i - 1]) / (curve.iterations[i] - curve.iterations[i - 1]);
  return curve.values[i - 1] + share * (curve.values[i] - curve.values[i - 1]);
}

Curve mean_of(std::span<const Curve> curves) {
  expect(!curves.empty(), "a mean needs something");
  Curve mean = curves[0];
  for (const Curve& curve : curves.subspan(1)) {
    expect(curve.iterations == mean.iterations, "curves of a mean have the same iterations");
    for (std::size_t i = 0; i < mean.values.size(); ++i) {
      mean.values[i] += curve.values[i];
    }
  }
  for (double& value : mean.values) {
    value /= static_cast<double>(curves.size());
  }
  return mean;
}

Curve read_curve(const std::filesystem::path& metrics, std::string_view column) {
  const std::string text = read_file(metrics, most_bytes);
  std::vector<std::string_view> lines = split(text, '\n');
  const std::vector<std::string_view> header = split(lines[0], ',');
  const auto place = [&](std::string_view name) {
    const auto found = std::ranges::find(header, name);
    if (found == header.end()) {
      throw InputError(
          InputFault{metrics.string(), std::string(name), "", "is missing: not the metrics of a run"});
    }
    return static_cast<std::size_t>(found - header.begin());
  };
  const std::size_t iteration = place("iteration");
  const std::size_t wanted = place(column);
  Curve curve;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) {
      continue;
    }
    const std::vector<std::string_view> cells = split(lines[i], ',');
    if (cells.size() != header.size()) {
      throw InputError(InputFault{metrics.string(), fmt::format("line {}", i + 1), "",
                                  fmt::format("must have {} cells", header.size())});
    }
    if (!cells[wanted].empty()) {
      curve.iterations.push_back(number(cells[iteration], metrics, "iteration"));
      curve.values.push_back(number(cells[wanted], metrics, column));
    }
  }
  return curve;
}

PublishedCurves::PublishedCurves(const std::filesystem::path& file) {
  const auto json = nlohmann::json::parse(read_file(file, most_bytes), nullptr, false);
  if (!json.is_object()) {
    throw InputError(InputFault{file.string(), "", "", "must be a JSON object of curves"});
  }
  for (auto entry = json.begin(); entry != json.end(); ++entry) {
    const std::string& name = entry.key();
    const nlohmann::json& values = entry.value();
    const bool numbers =
        values.is_array() && std::ranges::all_of(values, [](const auto& v) { return v.is_number(); });
    if (!numbers) {
      throw InputError(InputFault{file.string(), name, "", "must be a list of numbers"});
    }
    for (const auto& value : values) {
      curves_[name].push_back(value.get<double>());
    }
  }
}

std::optional<Curve> PublishedCurves::find(const Name& name, std::optional<double> start) const {
  // The figure of CIFAR-10 was made with another seed than its other curves, those of personalised models
  // among them; RADIOML has its own name.
  std::string data = name.data;
  if (data == "cifar10" && name.metric == "global") {
    data = "cifar10_tseed2";
  } else if (data == "radioml") {
    data = "mlradio_tseed1";
  }
  const auto found =
      curves_.find(fmt::format("{}|{}|{}|tauL={},tauG={}|{}", data, name.metric, name.algorithm,
                               name.local_period, name.global_period, name.quantity));
  if (found == curves_.end()) {
    return std::nullopt;
  }
  Curve curve;
  if (start) {
    curve.iterations.push_back(0.0);
    curve.values.push_back(*start);
  }
  const auto step = static_cast<double>(name.local_period * name.global_period);
  for (std::size_t i = 0; i < found->second.size(); ++i) {
    curve.iterations.push_back(step * static_cast<double>(i + 1));
    curve.values.push_back(found->second[i]);
  }
  return curve;
}

}  // namespace skein
