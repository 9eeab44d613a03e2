#include "skein/data/byte_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "skein/data/data_file.h"

namespace skein {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;

}  // namespace

ByteReader::ByteReader(std::string_view bytes, std::string_view file)
    : file_(file), total_(bytes.size()), window_(bytes) {}

ByteReader::ByteReader(const std::filesystem::path& path) : file_(path.string()) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw_data_fault(file_, "", "", "is not a file that can be read");
  }
  total_ = std::filesystem::file_size(path, error);
  stream_.open(path, std::ios::binary);
  if (error || !stream_) {
    throw_data_fault(file_, "", "", "cannot be opened");
  }
}

void ByteReader::fail(const std::string& message) const {
  throw_data_fault(file_, fmt::format("byte {}", position()), "", message);
}

void ByteReader::refill() {
  passed_ += window_.size();
  used_ = 0;
  window_ = {};
  if (passed_ < total_ && stream_.is_open()) {
    buffer_.resize(std::min(buffer_bytes, total_ - passed_));
    stream_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    window_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(stream_.gcount()));
  }
  if (window_.empty()) {
    fail("the file ends too early");
  }
}

std::uint8_t ByteReader::byte() {
  if (used_ == window_.size()) {
    refill();
  }
  return static_cast<std::uint8_t>(window_[used_++]);
}

std::string ByteReader::bytes(std::size_t count) {
  if (count > remaining()) {
    fail(fmt::format("the file ends too early: {} bytes are due, {} are left", count, remaining()));
  }
  std::string content;
  content.reserve(count);
  while (content.size() < count) {
    if (used_ == window_.size()) {
      refill();
    }
    const std::string_view piece = window_.substr(used_, count - content.size());
    content += piece;
    used_ += piece.size();
  }
  return content;
}

std::string ByteReader::line() {
  std::string content;
  while (true) {
    if (used_ == window_.size()) {
      refill();
    }
    const std::string_view rest = window_.substr(used_);
    const std::size_t end = rest.find('\n');
    content += rest.substr(0, end);
    if (end != std::string_view::npos) {
      used_ += end + 1;
      return content;
    }
    used_ += rest.size();
  }
}

}  // namespace skein
