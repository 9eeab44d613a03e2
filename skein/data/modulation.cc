#include "skein/data/modulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>

#include "skein/base/input_fault.h"
#include "skein/data/radioml.h"

namespace skein {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

constexpr std::size_t pulse_symbols = std::size_t{2} * Pulse::reach;

// Root-raised cosine of unit energy, time t in symbols, roll-off b:
//   (sin(pi t (1 - b)) + 4 b t cos(pi t (1 + b))) / (pi t (1 - (4 b t)^2))
double root_raised_cosine(double t, double b) {
  constexpr double near = 1e-6;
  if (std::abs(t) < near) {
    return 1.0 - b + 4.0 * b / pi;
  }
  if (std::abs(std::abs(4.0 * b * t) - 1.0) < near) {
    return b / std::numbers::sqrt2 *
           ((1.0 + 2.0 / pi) * std::sin(pi / (4.0 * b)) + (1.0 - 2.0 / pi) * std::cos(pi / (4.0 * b)));
  }
  return (std::sin(pi * t * (1.0 - b)) + 4.0 * b * t * std::cos(pi * t * (1.0 + b))) /
         (pi * t * (1.0 - 16.0 * b * b * t * t));
}

// The share of a symbol's phase change that is done at time t (in symbols, 0 in its middle).
double ramp(double t) { return std::clamp(t + 0.5, 0.0, 1.0); }

// The same with the frequency pulse smoothed by a Gaussian of deviation s = sqrt(ln 2) / (2 pi BT) symbols.
// With Phi and phi the normal distribution and density, and I(x) = x Phi(x) + phi(x) the integral of Phi:
//   s (I((t + 1/2) / s) - I((t - 1/2) / s))
double smoothed_ramp(double t, double bandwidth_time) {
  const double s = std::sqrt(std::numbers::ln2) / (2.0 * pi * bandwidth_time);
  const auto integral = [](double x) {
    return x * 0.5 * std::erfc(-x / std::numbers::sqrt2) + std::exp(-0.5 * x * x) / std::sqrt(2.0 * pi);
  };
  return s * (integral((t + 0.5) / s) - integral((t - 0.5) / s));
}

// The moments at which a waveform is observed.
struct Observation {
  double start;       // symbols, in [0, 1)
  double step;        // symbols
  double phase;       // radians
  double phase_step;  // radians per sample
};

Observation draw_observation(const ModulationOptions& options, RandomStream& random) {
  const double clock = random.uniform(-options.max_clock_offset, options.max_clock_offset);
  return {.start = random.uniform(),
          .step = (1.0 + clock) / options.samples_per_symbol,
          .phase = random.uniform(0.0, 2.0 * pi),
          .phase_step = 2.0 * pi * random.uniform(-options.max_carrier_offset, options.max_carrier_offset)};
}

// Symbol k is centred at time k - Pulse::reach, so that all pulses that reach into the window are there.
std::size_t num_symbols(const Observation& seen) {
  return static_cast<std::size_t>(seen.start + seen.step * waveform_samples) + pulse_symbols + 2;
}

// Continuous phase modulation: constant envelope.
std::vector<Complex> phase_modulated(const Observation& seen, double index, const Pulse& share,
                                     RandomStream& random) {
  std::vector<double> symbols(num_symbols(seen));
  for (double& symbol : symbols) {
    symbol = random.bernoulli(0.5) ? 1.0 : -1.0;
  }
  std::vector<Complex> signal;
  signal.reserve(waveform_samples);
  double done = 0.0;      // the sum of the symbols whose phase change is complete
  std::size_t first = 0;  // the next one
  for (std::size_t n = 0; n < waveform_samples; ++n) {
    const double t = seen.start + seen.step * static_cast<double>(n);
    while (t - (static_cast<double>(first) - Pulse::reach) > Pulse::reach) {
      done += symbols[first++];
    }
    double sum = done;
    for (std::size_t k = first;
         k < symbols.size() && static_cast<double>(k) - Pulse::reach < t + Pulse::reach; ++k) {
      sum += symbols[k] * share(t - (static_cast<double>(k) - Pulse::reach));
    }
    signal.push_back(std::polar(1.0, pi * index * sum));
  }
  return signal;
}

template <class Draw>
std::vector<Complex> pulse_shaped(const Observation& seen, const Pulse& pulse, const Draw& draw,
                                  RandomStream& random) {
  std::vector<Complex> symbols(num_symbols(seen));
  for (Complex& symbol : symbols) {
    symbol = draw(random);
  }
  std::vector<Complex> signal;
  signal.reserve(waveform_samples);
  for (std::size_t n = 0; n < waveform_samples; ++n) {
    const double t = seen.start + seen.step * static_cast<double>(n);
    const auto first = static_cast<std::size_t>(t);
    Complex sum = 0.0;
    for (std::size_t k = first; k < symbols.size() && k <= first + pulse_symbols; ++k) {
      sum += symbols[k] * pulse(t - (static_cast<double>(k) - Pulse::reach));
    }
    signal.push_back(sum);
  }
  return signal;
}

void rotate(std::vector<Complex>& signal, const Observation& seen) {
  for (std::size_t n = 0; n < signal.size(); ++n) {
    signal[n] *= std::polar(1.0, seen.phase + seen.phase_step * static_cast<double>(n));
  }
}

void append_normalised(std::vector<float>& values, const std::vector<Complex>& signal) {
  double sum = 0.0;
  for (const Complex& sample : signal) {
    sum += std::abs(sample);
  }
  for (const Complex& sample : signal) {
    values.push_back(static_cast<float>(sample.real() / sum));
  }
  for (const Complex& sample : signal) {
    values.push_back(static_cast<float>(sample.imag() / sum));
  }
}

const ModulationOptions& checked(const ModulationOptions& options) {
  InputFaults faults;
  const auto check_range = [&](std::string_view key, auto value, auto low, auto high) {
    if (!(value >= low && value <= high)) {
      faults.add({.file = "",
                  .key = fmt::format("modulations {}", key),
                  .value = fmt::format("{}", value),
                  .message = fmt::format("allowed is {} to {}", low, high)});
    }
  };
  check_range("waveforms", options.waveforms, std::size_t{1}, std::size_t{100'000});
  check_range("min_snr_db", options.min_snr_db, -40, 60);
  check_range("max_snr_db", options.max_snr_db, std::clamp(options.min_snr_db, -40, 60), 60);
  check_range("snr_step_db", options.snr_step_db, 1, 100);
  check_range("samples_per_symbol", options.samples_per_symbol, 2.0, 64.0);
  check_range("roll_off", options.roll_off, 0.05, 1.0);
  check_range("cpfsk_index", options.cpfsk_index, 0.01, 2.0);
  check_range("gfsk_index", options.gfsk_index, 0.01, 2.0);
  check_range("gfsk_bandwidth_time", options.gfsk_bandwidth_time, 0.1, 10.0);
  check_range("max_carrier_offset", options.max_carrier_offset, 0.0, 0.5);
  check_range("max_clock_offset", options.max_clock_offset, 0.0, 0.1);
  faults.throw_if_any();
  return options;
}

}  // namespace

Modulator::Modulator(const ModulationOptions& options)
    : options_(checked(options)),
      root_raised_cosine_([&](double t) { return root_raised_cosine(t, options.roll_off); }),
      cpfsk_ramp_(ramp),
      gfsk_ramp_([&](double t) { return smoothed_ramp(t, options.gfsk_bandwidth_time); }) {}

std::vector<Complex> Modulator::signal(Modulation modulation, RandomStream& random) const {
  const Observation seen = draw_observation(options_, random);
  std::vector<Complex> signal;
  switch (modulation) {
    case Modulation::cpfsk:
      signal = phase_modulated(seen, options_.cpfsk_index, cpfsk_ramp_, random);
      break;
    case Modulation::gfsk:
      signal = phase_modulated(seen, options_.gfsk_index, gfsk_ramp_, random);
      break;
    case Modulation::pam4:
      signal = pulse_shaped(
          seen, root_raised_cosine_,
          [](RandomStream& stream) {
            return Complex(static_cast<double>(2 * stream.integer(0, 3) - 3) / std::sqrt(5.0));
          },
          random);
      break;
    case Modulation::qpsk:
      signal = pulse_shaped(
          seen, root_raised_cosine_,
          [](RandomStream& stream) {
            return std::polar(1.0, pi / 4.0 + pi / 2.0 * static_cast<double>(stream.below(4)));
          },
          random);
      break;
  }
  rotate(signal, seen);
  return signal;
}

void add_noise(std::vector<Complex>& signal, double snr_db, RandomStream& random) {
  const double power = std::pow(10.0, -snr_db / 10.0);
  const double deviation = std::sqrt(power / 2.0);  // of each of the two parts
  for (Complex& sample : signal) {
    const double real = random.normal(0.0, deviation);
    const double imaginary = random.normal(0.0, deviation);
    sample += Complex(real, imaginary);
  }
}

DataSplit make_modulations(const ModulationOptions& options, std::uint64_t seed) {
  const Modulator modulator(options);
  std::map<WaveformKey, std::vector<float>> waveforms;
  for (std::size_t label = 0; label < radioml_modulations.size(); ++label) {
    for (int snr = options.min_snr_db; snr <= options.max_snr_db; snr += options.snr_step_db) {
      std::vector<float>& values =
          waveforms[{.modulation = std::string(radioml_modulations[label]), .snr_db = snr}];
      values.reserve(options.waveforms * waveform_values);
      for (std::size_t i = 0; i < options.waveforms; ++i) {
        RandomStream random(seed, "modulation", label, snr, i);
        std::vector<Complex> signal = modulator.signal(static_cast<Modulation>(label), random);
        add_noise(signal, snr, random);
        append_normalised(values, signal);
      }
    }
  }
  DataSplit split = split_waveforms(std::move(waveforms), seed);
  split.train.name = "modulations";
  split.test.name = "modulations";
  return split;
}

}  // namespace skein
