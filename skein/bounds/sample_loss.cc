#include "skein/bounds/sample_loss.h"

#include <algorithm>
#include <numeric>

#include "skein/base/expect.h"

namespace skein {

namespace {

// In a few lanes, which processors add side by side; always in the same order.
template <class Square>
double sum_of(std::size_t size, const Square& square) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] += square(i + lane);
    }
  }
  for (; i < size; ++i) {
    sums[0] += square(i);
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

double squared_norm(const Parameters& v) {
  return sum_of(v.size(), [x = v.data()](std::size_t i) { return x[i] * x[i]; });
}

double squared_distance(const Parameters& a, const Parameters& b) {
  expect(a.size() == b.size(), "a distance is between vectors of one size");
  return sum_of(a.size(), [x = a.data(), y = b.data()](std::size_t i) {
    const double difference = x[i] - y[i];
    return difference * difference;
  });
}

void add_weighted(double weight, const Parameters& v, Parameters& sum) {
  expect(v.size() == sum.size(), "a sum is of vectors of one size");
  const double* from = v.data();
  double* to = sum.data();
  for (std::size_t i = 0; i < v.size(); ++i) {
    to[i] += weight * from[i];
  }
}

SampleLoss::SampleLoss(const nn::Network<double>& network, const Dataset& data)
    : data_(data),
      engine_(network),
      part_(network.num_parameters()),
      inner_(network.num_parameters()),
      outer_(network.num_parameters()),
      sample_(data.shape.size()) {}

nn::Batch<double> SampleLoss::read(const SampleSet& set, std::span<const SampleIndex> samples) {
  if (features_.size() < samples.size() * sample_.size()) {
    features_ = nn::Vector<double>(samples.size() * sample_.size());
  }
  labels_.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    read_transformed(data_, samples[i], set.transform, set.noise, sample_);
    std::ranges::copy(sample_, features_.data() + i * sample_.size());
    labels_[i] = data_.labels[samples[i]];
  }
  return {.features = features_.data(), .labels = labels_.data(), .size = samples.size()};
}

// A few samples at a time, to need little memory.
template <class Work>
double SampleLoss::mean(const SampleSet& set, Parameters& out, const Work& work) {
  constexpr std::size_t chunk = 32;
  if (set.parts.size() == 1 && set.parts[0].samples.size() <= chunk) {
    expect(!set.parts[0].samples.empty(), "a loss needs samples");
    return work(read(set, set.parts[0].samples), out);
  }
  std::ranges::fill(out, 0.0);
  double loss = 0.0;
  for (const auto& [samples, weight] : set.parts) {
    expect(!samples.empty(), "a loss needs samples");
    for (std::size_t begin = 0; begin < samples.size(); begin += chunk) {
      const auto some = samples.subspan(begin, std::min(chunk, samples.size() - begin));
      const double share = weight * static_cast<double>(some.size()) / static_cast<double>(samples.size());
      loss += share * work(read(set, some), part_);
      add_weighted(share, part_, out);
    }
  }
  return loss;
}

double SampleLoss::gradient(const Parameters& w, const SampleSet& samples, Parameters& out) {
  return mean(samples, out, [&](const nn::Batch<double>& batch, Parameters& part) {
    return engine_.gradient(w, batch, nullptr, part);
  });
}

double SampleLoss::hessian_vector(const Parameters& w, const Parameters& v, const SampleSet& samples,
                                  Parameters& out) {
  return mean(samples, out, [&](const nn::Batch<double>& batch, Parameters& part) {
    return engine_.hessian_vector(w, v, batch, nullptr, part);
  });
}

double SampleLoss::meta_gradient(const Parameters& w, const std::array<SampleSet, 3>& batches,
                                 double inner_step, Parameters& out) {
  gradient(w, batches[0], out);
  std::ranges::copy(w, inner_.begin());
  add_weighted(-inner_step, out, inner_);
  const double loss = gradient(inner_, batches[1], outer_);
  hessian_vector(w, outer_, batches[2], out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = outer_[i] - inner_step * out[i];
  }
  return loss;
}

std::unique_ptr<SampleLoss> SampleLosses::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<SampleLoss> loss = std::move(free_.back());
      free_.pop_back();
      return loss;
    }
  }
  return std::make_unique<SampleLoss>(network_, data_);
}

}  // namespace skein
