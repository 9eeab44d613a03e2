#include "skein/data/modulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "skein/base/input_fault.h"
#include "skein/data/radioml.h"

namespace skein {
namespace {

using Complex = std::complex<double>;
using Signal = std::vector<Complex>;

constexpr std::array all_modulations{Modulation::cpfsk, Modulation::gfsk, Modulation::pam4, Modulation::qpsk};

double mean_power(const Signal& signal) {
  double sum = 0.0;
  for (const Complex& sample : signal) {
    sum += std::norm(sample);
  }
  return sum / static_cast<double>(signal.size());
}

// The mean power of many waveforms in each of 128 bins of frequency, bin 64 being 0.
std::vector<double> spectrum(Modulation modulation, const ModulationOptions& options, int trials) {
  const Modulator modulator(options);
  std::vector<double> power(128);
  for (int trial = 0; trial < trials; ++trial) {
    RandomStream random(1, "spectrum", trial);
    const Signal signal = modulator.signal(modulation, random);
    for (int bin = 0; bin < 128; ++bin) {
      Complex sum = 0.0;
      for (int n = 0; n < 128; ++n) {
        // Hann's window, of mean square 3/8, keeps the leakage of the finite window out.
        const double window = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * (n + 0.5) / 128.0);
        sum += window * signal[static_cast<std::size_t>(n)] *
               std::polar(1.0, -2.0 * std::numbers::pi * (bin - 64) * n / 128.0);
      }
      power[static_cast<std::size_t>(bin)] += std::norm(sum) / (128.0 * 128.0 * 0.375 * trials);
    }
  }
  return power;
}

// The part of the power within +- `width` cycles per symbol of the carrier.
double power_within(const std::vector<double>& power, double width) {
  double inside = 0.0;
  double total = 0.0;
  for (std::size_t bin = 0; bin < power.size(); ++bin) {
    const double frequency = (static_cast<double>(bin) - 64.0) / 128.0 * 8.0;
    total += power[bin];
    inside += std::abs(frequency) <= width ? power[bin] : 0.0;
  }
  return inside / total;
}

TEST(Modulation, MeanPowerIsOne) {
  const Modulator modulator({});
  for (const Modulation modulation : all_modulations) {
    double sum = 0.0;
    constexpr int trials = 2000;
    for (int trial = 0; trial < trials; ++trial) {
      RandomStream random(3, "power", trial);
      sum += mean_power(modulator.signal(modulation, random)) / trials;
    }
    // PAM4 varies most: its symbols' power has deviation 0.8, and a window has some 16 symbols.
    EXPECT_NEAR(sum, 1.0, 4.0 * 0.8 / std::sqrt(16.0 * trials)) << static_cast<int>(modulation);
  }
}

TEST(Modulation, FrequencyKeyingHasAConstantEnvelope) {
  const Modulator modulator({});
  for (int trial = 0; trial < 100; ++trial) {
    for (const Modulation modulation : {Modulation::cpfsk, Modulation::gfsk}) {
      RandomStream random(1, "envelope", trial);
      for (const Complex& sample : modulator.signal(modulation, random)) {
        ASSERT_NEAR(std::abs(sample), 1.0, 1e-12);
      }
    }
  }
}

// Between two samples, CPFSK's phase moves by pi h / 8 up or down, or less where the symbol changes.
TEST(Modulation, CpfskHasTwoTones) {
  const ModulationOptions options{.max_carrier_offset = 0.0, .max_clock_offset = 0.0};
  const Modulator modulator(options);
  const double tone = std::numbers::pi * options.cpfsk_index / options.samples_per_symbol;
  int at_tone = 0;
  for (int trial = 0; trial < 100; ++trial) {
    RandomStream random(2, "tones", trial);
    const Signal signal = modulator.signal(Modulation::cpfsk, random);
    for (std::size_t n = 1; n < signal.size(); ++n) {
      const double change = std::abs(std::arg(signal[n] * std::conj(signal[n - 1])));
      ASSERT_LT(change, tone + 1e-4);
      at_tone += change > tone - 1e-4 ? 1 : 0;
    }
  }
  // One step in eight falls on a border of symbols, and half of the borders change the tone.
  EXPECT_NEAR(at_tone / (100.0 * 127.0), 1.0 - 1.0 / 16.0, 0.01);
}

// PAM4 lies on a line through 0, which the carrier's phase turns; QPSK does not.
TEST(Modulation, Pam4IsOneDimensional) {
  const Modulator modulator({.max_carrier_offset = 0.0});
  for (int trial = 0; trial < 50; ++trial) {
    RandomStream random(4, "line", trial);
    const Signal signal = modulator.signal(Modulation::pam4, random);
    Complex square = 0.0;
    for (const Complex& sample : signal) {
      square += sample * sample;
    }
    EXPECT_NEAR(std::abs(square) / 128.0, mean_power(signal), 1e-9);
  }
}

// With a receiver in step, the matched filter's output at the symbols' centres is the symbols themselves. The
// table of the pulse, its cut at 8 symbols and the window's edges leave a small error.
TEST(Modulation, QpskSymbolsComeBackThroughTheMatchedFilter) {
  const ModulationOptions options{.max_carrier_offset = 0.0, .max_clock_offset = 0.0};
  const Modulator modulator(options);
  const auto pulse = [](double t) {
    const double b = 0.35;
    const double pi = std::numbers::pi;
    const double x = std::abs(t) < 1e-4 ? 1e-4 : t;
    return (std::sin(pi * x * (1 - b)) + 4 * b * x * std::cos(pi * x * (1 + b))) /
           (pi * x * (1 - std::pow(4 * b * x, 2)));
  };
  for (int trial = 0; trial < 20; ++trial) {
    RandomStream random(5, "matched", trial);
    RandomStream same(5, "matched", trial);
    same.uniform();  // the clock offset
    const double start = same.uniform();
    const double phase = same.uniform(0.0, 2.0 * std::numbers::pi);
    const Signal signal = modulator.signal(Modulation::qpsk, random);
    for (int symbol = 6; symbol <= 10; ++symbol) {
      Complex sum = 0.0;
      for (std::size_t n = 0; n < 128; ++n) {
        const double t = start + static_cast<double>(n) / 8.0;
        sum += signal[n] * pulse(t - symbol) / 8.0;
      }
      sum *= std::polar(1.0, -phase);
      EXPECT_NEAR(std::abs(sum.real()), std::numbers::sqrt2 / 2.0, 0.05);
      EXPECT_NEAR(std::abs(sum.imag()), std::numbers::sqrt2 / 2.0, 0.05);
    }
  }
}

TEST(Modulation, OccupiesTheBandwidthItShould) {
  const ModulationOptions options{.max_carrier_offset = 0.0};
  // A root-raised cosine ends at (1 + roll-off) / 2 cycles per symbol; the window adds its own width, 2 bins.
  const double edge = (1.0 + options.roll_off) / 2.0 + 2.5 / 16.0;
  for (const Modulation modulation : {Modulation::pam4, Modulation::qpsk}) {
    const std::vector<double> power = spectrum(modulation, options, 200);
    EXPECT_GT(power_within(power, edge), 0.999);
    EXPECT_LT(power_within(power, 0.25), 0.65) << "and is not a bare carrier";
  }
  // Minimum shift keying has 99 % of its power within +-0.59 cycles per symbol.
  const std::vector<double> cpfsk = spectrum(Modulation::cpfsk, options, 200);
  EXPECT_GT(power_within(cpfsk, 0.59 + 2.5 / 16.0), 0.985);
  EXPECT_LT(power_within(cpfsk, 0.2), 0.75);
  // Half the index and smoothed: much narrower.
  const std::vector<double> gfsk = spectrum(Modulation::gfsk, options, 200);
  EXPECT_GT(power_within(gfsk, 0.4), 0.995);
  EXPECT_GT(power_within(gfsk, 0.2), power_within(cpfsk, 0.2) + 0.1);
}

TEST(Modulation, CarrierOffsetMovesTheSpectrum) {
  // All offsets from -0.05 to 0.05 cycles per sample: the power spreads over +-0.4 cycles per symbol.
  const std::vector<double> still = spectrum(Modulation::gfsk, {.max_carrier_offset = 0.0}, 200);
  const std::vector<double> moved = spectrum(Modulation::gfsk, {.max_carrier_offset = 0.05}, 200);
  EXPECT_LT(power_within(moved, 0.1), 0.6 * power_within(still, 0.1));
  EXPECT_GT(power_within(moved, 0.8), 0.99);
}

TEST(Modulation, NoiseHasTheAskedPower) {
  const Modulator modulator({});
  for (int snr = 0; snr <= 18; snr += 2) {
    double noise = 0.0;
    constexpr int trials = 400;
    for (int trial = 0; trial < trials; ++trial) {
      RandomStream random(6, "noise", snr, trial);
      const Signal clean = modulator.signal(Modulation::gfsk, random);
      Signal noisy = clean;
      add_noise(noisy, snr, random);
      for (std::size_t n = 0; n < clean.size(); ++n) {
        noise += std::norm(noisy[n] - clean[n]);
      }
    }
    const double samples = 128.0 * trials;
    const double expected = std::pow(10.0, -snr / 10.0);
    // The power of one complex noise sample has a deviation equal to its mean.
    EXPECT_NEAR(noise / samples, expected, 4.0 * expected / std::sqrt(samples)) << snr;
  }
}

TEST(Modulation, EveryWaveformsMagnitudesSumToOneBeforeTheDivisionByTheMaximum) {
  const DataSplit split = make_modulations({.waveforms = 10, .max_snr_db = 0}, 1);
  EXPECT_EQ(split.train.size(), 32U);
  EXPECT_EQ(split.test.size(), 8U);
  std::vector<float> sample(waveform_values);
  double common = 0.0;
  for (std::size_t i = 0; i < split.train.size(); ++i) {
    split.train.read(i, sample);
    double sum = 0.0;
    for (std::size_t n = 0; n < 128; ++n) {
      sum += std::hypot(sample[n], sample[128 + n]);
    }
    common = i == 0 ? sum : common;
    EXPECT_NEAR(sum, common, 1e-4 * common);
  }
}

// Four numbers of a waveform by which a person would tell the modulations apart.
std::array<double, 4> features(const Dataset& data, std::size_t index) {
  std::vector<float> sample(waveform_values);
  data.read(index, sample);
  double magnitudes = 0.0;
  double power = 0.0;
  double turns = 0.0;
  Complex square = 0.0;
  Complex fourth = 0.0;
  Complex before = 0.0;
  for (std::size_t n = 0; n < 128; ++n) {
    const Complex value(sample[n], sample[128 + n]);
    magnitudes += std::abs(value) / 128.0;
    power += std::norm(value) / 128.0;
    square += value * value / 128.0;
    fourth += std::pow(value, 4) / 128.0;
    turns += n == 0 ? 0.0 : std::abs(std::arg(value * std::conj(before))) / 127.0;
    before = value;
  }
  return {std::sqrt(power - magnitudes * magnitudes) / magnitudes, std::abs(square) / power, turns,
          std::abs(fourth) / (power * power)};
}

// Nearest class mean, each feature in units of its deviation.
double accuracy(const DataSplit& split) {
  std::array<std::array<double, 4>, 4> means{};
  std::array<double, 4> deviations{};
  std::array<double, 4> counts{};
  for (std::size_t i = 0; i < split.train.size(); ++i) {
    const std::array<double, 4> seen = features(split.train, i);
    ++counts[split.train.labels[i]];
    for (std::size_t f = 0; f < 4; ++f) {
      means[split.train.labels[i]][f] += seen[f];
    }
  }
  for (std::size_t c = 0; c < 4; ++c) {
    for (double& mean : means[c]) {
      mean /= counts[c];
    }
  }
  for (std::size_t i = 0; i < split.train.size(); ++i) {
    const std::array<double, 4> seen = features(split.train, i);
    for (std::size_t f = 0; f < 4; ++f) {
      const double difference = seen[f] - means[split.train.labels[i]][f];
      deviations[f] += difference * difference;
    }
  }
  std::size_t correct = 0;
  for (std::size_t i = 0; i < split.test.size(); ++i) {
    const std::array<double, 4> seen = features(split.test, i);
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < 4; ++c) {
      double distance = 0.0;
      for (std::size_t f = 0; f < 4; ++f) {
        distance += std::pow(seen[f] - means[c][f], 2) / deviations[f];
      }
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    correct += nearest == split.test.labels[i] ? 1 : 0;
  }
  return static_cast<double>(correct) / static_cast<double>(split.test.size());
}

TEST(Modulation, ClassesCanBeToldApartBetterWithLessNoise) {
  const double clear = accuracy(make_modulations({.waveforms = 300, .min_snr_db = 18}, 1));
  const double noisy = accuracy(make_modulations({.waveforms = 300, .max_snr_db = 0}, 1));
  EXPECT_GT(clear, 0.9);
  EXPECT_LT(noisy, clear - 0.05);
  EXPECT_GT(noisy, 0.4) << "guessing gives 0.25";
}

TEST(Modulation, IsDecidedBySeedAloneWaveformByWaveform) {
  const ModulationOptions options{.waveforms = 5, .max_snr_db = 4};
  EXPECT_EQ(make_modulations(options, 1).train.features, make_modulations(options, 1).train.features);
  EXPECT_NE(make_modulations(options, 1).train.features, make_modulations(options, 2).train.features);
}

TEST(Modulation, NamesEverySenselessOption) {
  try {
    make_modulations({.waveforms = 0,
                      .min_snr_db = 10,
                      .max_snr_db = 0,
                      .snr_step_db = 0,
                      .samples_per_symbol = std::numeric_limits<double>::quiet_NaN(),
                      .roll_off = 0.0},
                     1);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 5U);
    EXPECT_THAT(error.what(), testing::HasSubstr("modulations max_snr_db = 0: allowed is 10 to 60"));
    EXPECT_THAT(error.what(), testing::HasSubstr("modulations samples_per_symbol = nan: allowed is 2 to 64"));
  }
}

}  // namespace
}  // namespace skein
