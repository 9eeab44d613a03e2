// Any bytes are a message of the protocol that encodes to the same bytes, or refused. The checksum is set
// right first, or nothing would get past it.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "skein/protocol/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() >= 4) {
    const std::size_t checked = bytes.size() - 4;
    const auto sum = static_cast<std::uint32_t>(crc32(0, data, static_cast<uInt>(checked)));
    for (unsigned i = 0; i < 4; ++i) {
      bytes[checked + i] = static_cast<char>(static_cast<std::uint8_t>(sum >> (8 * i)));
    }
  }
  const skein::Decoded decoded = skein::decode(bytes);
  if (decoded.message.has_value() == !decoded.fault.empty() ||
      (decoded.message && skein::encode(*decoded.message) != bytes)) {
    std::abort();
  }
  return 0;
}
