#include "skein/data/data_drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "skein/base/expect.h"
#include "skein/data/partition.h"

namespace skein {
namespace {

using Target = DriftOptions::Target;

// The classes that a target may use.
std::vector<std::size_t> classes_with_samples(const ClassPools& pools) {
  std::vector<std::size_t> classes;
  for (std::size_t label = 0; label < pools.num_classes(); ++label) {
    if (!pools.of(label).empty()) {
      classes.push_back(label);
    }
  }
  return classes;
}

LabelMix draw_target(const ClusterDrift& drift, std::size_t cluster, const DriftContext& context) {
  const std::vector<std::size_t> classes = classes_with_samples(context.pools);
  RandomStream stream(context.seed, "drift target", cluster, drift.num_targets);
  LabelMix values;
  switch (context.options.target) {
    case Target::permuted: {
      for (const std::size_t label : classes) {
        values.push_back(drift.mix[label]);
      }
      const LabelMix unmoved = values;
      stream.shuffle(values);
      if (values == unmoved) {
        std::rotate(values.begin(), values.begin() + 1, values.end());  // differs, unless all are equal
      }
      break;
    }
    case Target::rotated:
      for (std::size_t i = 0; i < classes.size(); ++i) {
        values.push_back(drift.mix[classes[(i + classes.size() - 1) % classes.size()]]);
      }
      break;
    case Target::dirichlet:
      values = draw_dirichlet(classes.size(), context.options.dirichlet_concentration, stream);
      break;
  }
  LabelMix target(context.pools.num_classes(), 0.0);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    target[classes[i]] = values[i];
  }
  return target;
}

// All rates of the options, with the names of their keys.
template <class Visit>
void for_each_rate(const DriftOptions& options, const Visit& visit) {
  visit("label_mix", options.label_mix, &ClusterDriftRates::label_mix);
  visit("rotation_deg", options.rotation, &ClusterDriftRates::rotation);
  visit("brightness", options.brightness, &ClusterDriftRates::brightness);
  visit("noise", options.noise, &ClusterDriftRates::noise);
}

void check(std::string key, const Distribution<double>& numbers, std::size_t num_clusters,
           InputFaults& faults) {
  if (const std::string fault = numbers.spread.fault(numbers.allowed); !fault.empty()) {
    faults.add({.key = key, .value = numbers.spread.to_toml(), .message = fault});
  }
  if (const auto size = numbers.list_size(); size.has_value() && *size != num_clusters) {
    faults.add({.key = std::move(key),
                .message = fmt::format("lists {} values for {} clusters", *size, num_clusters)});
  }
}

}  // namespace

std::vector<InputFault> faults_of(const DriftOptions& options, std::size_t num_clusters) {
  InputFaults faults;
  for_each_rate(options, [&](std::string_view name, const DriftRateOptions& rate, auto) {
    check(fmt::format("{}.start", name), rate.start, num_clusters, faults);
    check(fmt::format("{}.growth", name), rate.growth, num_clusters, faults);
    check(fmt::format("{}.later", name), rate.later, num_clusters, faults);
    if (!non_negative.contains(rate.later_from)) {
      faults.add({.key = fmt::format("{}.later_from", name),
                  .value = fmt::format("{}", rate.later_from),
                  .message = "must be " + to_string(non_negative)});
    }
  });
  if (!positive.contains(options.dirichlet_concentration)) {
    faults.add({.key = "dirichlet_concentration",
                .value = fmt::format("{}", options.dirichlet_concentration),
                .message = "must be " + to_string(positive)});
  }
  return faults.list();
}

std::vector<ClusterDriftRates> sample_drift_rates(const DriftOptions& options, std::size_t num_clusters,
                                                  std::uint64_t seed) {
  InputFaults faults;
  faults.add_all(faults_of(options, num_clusters));
  faults.throw_if_any();
  std::vector<ClusterDriftRates> rates(num_clusters);
  for_each_rate(options, [&](std::string_view name, const DriftRateOptions& rate, auto member) {
    for (std::size_t cluster = 0; cluster < num_clusters; ++cluster) {
      RandomStream stream(seed, fmt::format("drift rate {}", name), cluster);
      DriftRate& sampled = rates[cluster].*member;
      sampled = {.start = rate.start.sample(stream, cluster), .growth = rate.growth.sample(stream, cluster)};
      if (rate.later_from > 0.0) {
        sampled.later = rate.later.sample(stream, cluster);
        sampled.later_from = rate.later_from;
      }
    }
  });
  return rates;
}

FeatureTransform advance(const FeatureTransform& transform, const ClusterDriftRates& rates,
                         const DriftStep& step) {
  const double turn = rates.rotation.at(step.at) * step.length;
  const double factor = std::pow(std::clamp(rates.brightness.at(step.at), 0.01, 100.0), step.length);
  return {
      .rotation_degrees = std::remainder(transform.rotation_degrees + turn, 360.0),
      .brightness = std::clamp(transform.brightness * factor, 1.0 / 16.0, 16.0),
      .noise_deviation = transform.noise_deviation + std::max(rates.noise.at(step.at), 0.0) * step.length};
}

FeatureTransform feature_transform(const ClusterDriftRates& rates, std::size_t sequence) {
  FeatureTransform transform;
  for (std::size_t s = 0; s < sequence; ++s) {
    transform = advance(transform, rates, {.at = static_cast<double>(s)});
  }
  return transform;
}

double total_variation(const LabelMix& a, const LabelMix& b) {
  expect(a.size() == b.size(), "mixes over the same classes have a distance");
  double sum = 0.0;
  for (std::size_t label = 0; label < a.size(); ++label) {
    sum += std::abs(a[label] - b[label]);
  }
  return 0.5 * sum;
}

void advance(ClusterDrift& drift, const ClusterDriftRates& rates, std::size_t cluster,
             const DriftContext& context, const DriftStep& step) {
  expect(drift.mix.size() == context.pools.num_classes(), "a label mix has one probability per class");
  const bool by_hour = context.options.per == DriftOptions::Per::hour;
  double left = std::max(rates.label_mix.at(step.at), 0.0) * step.length;
  if (!by_hour) {
    left = std::min(left, 1.0);
  }
  ++drift.sequence;
  while (left > 0.0) {
    if (drift.target.empty()) {
      drift.target = draw_target(drift, cluster, context);
      ++drift.num_targets;
    }
    const double distance = total_variation(drift.mix, drift.target);
    if (distance > left) {
      const double part = left / distance;
      for (std::size_t label = 0; label < drift.mix.size(); ++label) {
        drift.mix[label] += (drift.target[label] - drift.mix[label]) * part;
      }
      return;
    }
    drift.mix = std::move(drift.target);
    drift.target.clear();
    left = by_hour && distance > 0.0 ? left - distance : 0.0;
  }
}

void advance(ClusterDrift& drift, const ClusterDriftRates& rates, std::size_t cluster,
             const DriftContext& context) {
  advance(drift, rates, cluster, context, {.at = static_cast<double>(drift.sequence)});
}

}  // namespace skein
