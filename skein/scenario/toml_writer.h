// Writes a scenario as TOML, with every default; with comments, it is a starter file.
#pragma once

#include <string>

#include "skein/scenario/fields.h"

namespace skein {

class TomlWriter final : public Fields {
 public:
  enum class Comments { none, every_key };
  explicit TomlWriter(Comments comments) : comments_(comments) {}

  [[nodiscard]] const std::string& text() const { return text_; }

  void section(std::string_view name, std::string_view help, const std::function<void()>& keys,
               bool counts) override;
  void named_sections(std::string_view name, std::string_view help, const std::vector<std::string>& known,
                      const std::function<void(const std::string&)>& keys) override;
  void spread(std::string_view key, Spread& value, const Range& allowed, std::string_view help) override;
  void real(std::string_view key, double& value, const Range& allowed, std::string_view help) override;
  void integer(std::string_view key, std::int64_t& value, const Range& allowed,
               std::string_view help) override;
  void flag(std::string_view key, bool& value, std::string_view help) override;
  void text(std::string_view key, std::string& value, std::string_view help) override;
  void texts(std::string_view key, std::vector<std::string>& values, std::string_view help) override;
  void one_of(std::string_view key, std::size_t& value, std::span<const std::string_view> names,
              std::string_view help) override;
  void reals(std::string_view key, std::vector<double>& values, const Range& allowed,
             std::string_view help) override;
  void lists(std::string_view key, std::vector<std::vector<double>>& values, std::size_t size,
             const Range& allowed, std::string_view help) override;

 protected:
  void fixed_reals(std::string_view key, std::vector<double>& values, std::size_t size, const Range& allowed,
                   std::string_view help) override;

 private:
  void line(std::string_view key, const std::string& value, std::string_view help,
            const std::string& allowed);
  void comment(std::string_view text);

  Comments comments_;
  std::string path_;
  std::string text_;
};

}  // namespace skein
