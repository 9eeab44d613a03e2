// RADIOML 2016.10b as the paper uses it: waveforms of four modulations at 0 to 18 dB.
//
// A sample is 2 x 128 x 1: the in-phase row and the quadrature row. All waveforms of one SNR are divided by
// their largest value, as in the published study. There is no official split: 80 % of the waveforms of each
// modulation and SNR, drawn at random, are for training.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skein/data/dataset.h"
#include "skein/data/pickle.h"

namespace skein {

// In the order of the labels.
inline constexpr std::array<std::string_view, 4> radioml_modulations{"CPFSK", "GFSK", "PAM4", "QPSK"};

struct RadiomlOptions {
  int min_snr_db = 0;
  int max_snr_db = 18;
};

// Shape, classes and normalisation of such waveforms; none yet.
Dataset describe_waveforms(std::string name);

// From a directory of x_SNR.npy (n x 2 x 128) and y_SNR.npy (n labels, 0 to 3) for every SNR, or from the
// official pickle (or a directory with RML2016.10b.dat). Waveforms of other modulations and SNRs are left
// out. Throws InputError naming every file that is wrong.
DataSplit read_radioml(const std::filesystem::path& path, const RadiomlOptions& options, std::uint64_t seed);

// Waveforms of the four modulations, by modulation and SNR, normalised and split.
DataSplit split_waveforms(std::map<WaveformKey, std::vector<float>> waveforms, std::uint64_t seed);

}  // namespace skein
