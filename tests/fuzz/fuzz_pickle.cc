#include <cstddef>
#include <cstdint>
#include <string_view>

#include "skein/base/input_fault.h"
#include "skein/data/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    skein::ByteReader reader({reinterpret_cast<const char*>(data), size}, "file");
    skein::read_waveform_pickle(reader, [](const skein::WaveformKey& key) { return key.snr_db >= 0; });
  } catch (const skein::InputError&) {
  }
  return 0;
}
