// The official RADIOML file RML2016.10b: a Python pickle of a dictionary (modulation, SNR in dB) -> NumPy
// array of waveforms, n x 2 x 128 (in-phase row, quadrature row).
//
// A pickle is a program for a stack machine that may ask for any Python function to be called. This machine
// knows dictionaries, tuples, strings, numbers, and the handful of functions that put a NumPy array together;
// it runs nothing else. Protocols 0 to 5, as written by Python 2 or 3. Depth, stack, memo and memory are
// bounded.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "skein/data/byte_reader.h"

namespace skein {

struct WaveformKey {
  std::string modulation;
  int snr_db = 0;

  friend bool operator==(const WaveformKey&, const WaveformKey&) = default;
  friend bool operator<(const WaveformKey& a, const WaveformKey& b) {
    return std::tie(a.modulation, a.snr_db) < std::tie(b.modulation, b.snr_db);
  }
};

inline constexpr std::size_t waveform_rows = 2;
inline constexpr std::size_t waveform_samples = 128;
inline constexpr std::size_t waveform_values = waveform_rows * waveform_samples;

// The values of every wanted entry, waveform after waveform. The file is read piece by piece and arrays that
// are not wanted are dropped as they are met, so memory holds what is wanted, not the file. Throws InputError
// naming the file and the byte reached if anything is wrong.
std::map<WaveformKey, std::vector<float>> read_waveform_pickle(
    ByteReader& reader, const std::function<bool(const WaveformKey&)>& wanted);

}  // namespace skein
