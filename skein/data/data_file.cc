#include "skein/data/data_file.h"

#include <fmt/format.h>
#define ZLIB_CONST  // next_in points to constant bytes
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "skein/base/expect.h"
#include "skein/base/file.h"

namespace skein {

void throw_data_fault(std::string_view file, std::string key, std::string value, std::string message) {
  throw InputError(InputFault{.file = std::string(file),
                              .key = std::move(key),
                              .value = std::move(value),
                              .message = std::move(message)});
}

bool is_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

std::string gunzip(std::string_view bytes, std::string_view file, std::size_t max_bytes) {
  expect(bytes.size() <= std::numeric_limits<uInt>::max(), "gzip input is below 4 GiB");
  z_stream stream{};
  constexpr int gzip_window_bits = 15 + 16;
  expect(inflateInit2(&stream, gzip_window_bits) == Z_OK, "zlib can be initialised");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ending(&stream, inflateEnd);

  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string content;
  constexpr std::size_t step = std::size_t{1} << 16U;
  while (true) {
    const std::size_t filled = content.size();
    // One byte above the limit shows that the limit is passed.
    const std::size_t room = std::min(std::max(step, filled), max_bytes + 1 - filled);
    content.resize(filled + room);
    stream.next_out = reinterpret_cast<Bytef*>(content.data() + filled);
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    content.resize(filled + room - stream.avail_out);
    if (content.size() > max_bytes) {
      throw_data_fault(file, "", "", fmt::format("unpacks to more than the {} bytes allowed", max_bytes));
    }
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0) {
        return content;
      }
      if (!is_gzip(bytes.substr(bytes.size() - stream.avail_in))) {
        throw_data_fault(file, fmt::format("byte {}", bytes.size() - stream.avail_in), "",
                         fmt::format("{} bytes follow the end of the gzip data", stream.avail_in));
      }
      expect(inflateReset(&stream) == Z_OK, "zlib can start the next member");
    } else if (status == Z_BUF_ERROR || (status == Z_OK && stream.avail_in == 0 && stream.avail_out > 0)) {
      throw_data_fault(file, "", "", "the gzip data ends too early");
    } else if (status != Z_OK) {
      throw_data_fault(
          file, fmt::format("byte {}", bytes.size() - stream.avail_in), "",
          fmt::format("the gzip data is corrupt ({})", stream.msg == nullptr ? "no details" : stream.msg));
    }
  }
}

std::string read_data_file(const std::filesystem::path& path, std::size_t max_bytes) {
  std::string bytes = read_file(path, max_bytes);
  return is_gzip(bytes) ? gunzip(bytes, path.string(), max_bytes) : bytes;
}

}  // namespace skein
