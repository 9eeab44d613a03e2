// Waveforms of RADIOML's four modulations, made here for those without the file.
//
// A sequence of random symbols is modulated with 8 samples per symbol and observed for 128 samples from a
// random moment on: by a receiver whose clock and carrier are a little off, in white noise.
//
//   CPFSK  phase pi h sum a_k q(t - k), a_k = +-1, q a ramp from 0 to 1 over one symbol
//   GFSK   the same, the frequency smoothed by a Gaussian filter of bandwidth B: BT is bandwidth x symbol
//   time PAM4   sum a_k g(t - k), a_k = +-1, +-3 (divided by sqrt 5), g a root-raised cosine QPSK   the same,
//   a_k = (+-1 +-j) / sqrt 2
//
// Time t in symbols. The signal's mean power is 1, over many symbols. The SNR is that power over the noise's
// in the whole sampled band. At the end a waveform is divided by the sum of its magnitudes, as RADIOML does.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "skein/base/random.h"
#include "skein/data/dataset.h"

namespace skein {

// In the order of radioml_modulations and of the labels.
enum class Modulation { cpfsk, gfsk, pam4, qpsk };

struct ModulationOptions {
  std::size_t waveforms = 1000;  // per modulation and SNR; at least 1
  int min_snr_db = 0;
  int max_snr_db = 18;
  int snr_step_db = 2;
  double samples_per_symbol = 8.0;    // 2 to 64
  double roll_off = 0.35;             // of the root-raised cosine: excess bandwidth, above 0 to 1
  double cpfsk_index = 0.5;           // h: two tones are h / symbol time apart
  double gfsk_index = 0.25;           // h
  double gfsk_bandwidth_time = 0.35;  // BT
  double max_carrier_offset = 0.001;  // cycles per sample; uniform within +-
  double max_clock_offset = 250e-6;   // of the sample time; uniform within +-
};

// A function of time that reaches a few symbols to either side, tabulated.
class Pulse {
 public:
  static constexpr int reach = 8;  // symbols; beyond them the function keeps its last value

  template <class Function>
  explicit Pulse(const Function& function) {
    for (int i = 0; i <= 2 * reach * steps; ++i) {
      values_.push_back(function(static_cast<double>(i) / steps - reach));
    }
    values_.push_back(values_.back());
  }

  // Between two entries, the straight line.
  double operator()(double t) const {
    const double place = std::clamp((t + reach) * steps, 0.0, 2.0 * reach * steps);
    const auto entry = static_cast<std::size_t>(place);
    return values_[entry] + (place - static_cast<double>(entry)) * (values_[entry + 1] - values_[entry]);
  }

 private:
  static constexpr int steps = 512;  // per symbol; the line is off by less than 1e-5
  std::vector<double> values_;
};

class Modulator {
 public:
  // Throws InputError if the options make no sense.
  explicit Modulator(const ModulationOptions& options);

  // One waveform's in-phase (real) and quadrature (imaginary) samples before noise.
  std::vector<std::complex<double>> signal(Modulation modulation, RandomStream& random) const;

 private:
  ModulationOptions options_;
  Pulse root_raised_cosine_;
  Pulse cpfsk_ramp_;
  Pulse gfsk_ramp_;
};

// Adds complex white noise for a signal of power 1.
void add_noise(std::vector<std::complex<double>>& signal, double snr_db, RandomStream& random);

// Normalised and split as RADIOML itself. Throws InputError if the options make no sense.
DataSplit make_modulations(const ModulationOptions& options, std::uint64_t seed);

}  // namespace skein
