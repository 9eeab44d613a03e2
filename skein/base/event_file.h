// Event files as TensorBoard reads them: records (TFRecord) of one message (Event) each.
//
// A record is the length of its data (8 bytes), a check sum of the length, the data, a check sum of the data;
// all little-endian. A check sum is the CRC-32C, rotated and shifted by a constant, as the format has it. The
// data is in the wire format of protocol buffers: wall_time (field 1, double), step (2, int64), file_version
// (3, string) in the first one, or summary (5) with its values (1): tag (1, string), simple_value (2, float).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace skein {

using Scalar = std::pair<std::string, double>;  // "energy_J/travel" is one of a group

// What a file begins with.
std::string event_file_start();
// Scalars of one moment; they are stored as floats.
std::string event_record(double seconds, std::int64_t step, std::span<const Scalar> scalars);

std::uint32_t crc32c(std::string_view data);

}  // namespace skein
