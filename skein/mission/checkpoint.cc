#include "skein/mission/checkpoint.h"

#include <ostream>
#include <string_view>

#include "skein/base/bytes.h"
#include "skein/base/digest.h"
#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

// What a checkpoint begins with; then come the digest of its scenario, its body and the body's digest.
constexpr std::string_view checkpoint_name = "Skein mission checkpoint 8\n";

}  // namespace

void write_checkpoint(const fs::path& file, const std::string& scenario, const CoreNetwork& core,
                      const MissionRecorder& recorder, const Oracle* oracle) {
  write_file(file, [&](std::ostream& stream) {
    stream << checkpoint_name << sha256(scenario) << "\n";
    Sha256 digest;
    ByteWriter body([&](std::string_view bytes) {
      digest.add(bytes);
      stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    });
    core.save(body);
    body.put_text(recorder.save());
    if (oracle != nullptr) {
      body.put<std::uint64_t>(oracle->num_steps());
      body.put_list(oracle->model());
    }
    stream << digest.finish();
  });
}

void read_checkpoint(const fs::path& file, const std::string& scenario, CoreNetwork& core,
                     MissionRecorder& recorder, Oracle* oracle) {
  const std::string text = read_file(file, std::size_t{1} << 36U);
  const std::size_t digest = sha256("").size();
  const std::size_t header = checkpoint_name.size() + digest + 1;
  const auto refuse = [&](const char* why) { throw InputError({file.string(), "", "", why}); };
  if (text.size() < header + digest || !text.starts_with(checkpoint_name)) {
    refuse("is no checkpoint of a mission");
  }
  if (text.substr(checkpoint_name.size(), digest) != sha256(scenario)) {
    refuse("is of another scenario than scenario.toml beside it");
  }
  const std::string_view body = std::string_view(text).substr(header, text.size() - header - digest);
  if (text.substr(text.size() - digest) != sha256(body)) {
    refuse("is damaged");
  }
  ByteCursor cursor(body);
  core.restore(cursor);
  recorder.restore(cursor.get_text());
  if (oracle != nullptr) {
    const auto steps = static_cast<std::size_t>(cursor.get<std::uint64_t>());
    oracle->restore(cursor.get_list<Model>(), steps);
  }
  expect(cursor.at_end(), "a checkpoint is of the same mission");
}

}  // namespace skein
