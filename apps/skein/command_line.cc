#include "command_line.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace skein::app {

// ---- checks

Check::Check(const CLI::Validator& validator) : validator_(std::make_shared<CLI::Validator>(validator)) {}

Check within(int least, int most) { return Check(CLI::Range(least, most)); }
Check within(double least, double most) { return Check(CLI::Range(least, most)); }
Check one_of(const std::vector<std::string>& names) { return Check(CLI::IsMember(names)); }
Check positive_number() { return Check(CLI::PositiveNumber); }

// ---- options

Option* Option::required() {
  option_.required();
  return this;
}

Option* Option::type_name(const std::string& name) {
  option_.type_name(name);
  return this;
}

Option* Option::check(const Check& check) {
  option_.check(check.validator());
  return this;
}

Option* Option::capture_default_str() {
  option_.capture_default_str();
  return this;
}

Option* Option::delimiter(char between) {
  option_.delimiter(between);
  return this;
}

Option* Option::take_all() {
  option_.take_all();
  return this;
}

Option* Option::allow_extra_args(bool allow) {
  option_.allow_extra_args(allow);
  return this;
}

Option* Option::expected(int least, int most) {
  option_.expected(least, most);
  return this;
}

Option* Option::excludes(Option* other) {
  option_.excludes(&other->option_);
  return this;
}

// ---- commands

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  return &commands_.emplace_back(*app_.add_subcommand(name, description));
}

Option* Command::keep(CLI::Option& option) { return &options_.emplace_back(option); }

template <class Value>
Option* Command::add_option(const std::string& names, Value& value, const std::string& description) {
  return keep(*app_.add_option(names, value, description));
}

template Option* Command::add_option(const std::string&, std::string&, const std::string&);
template Option* Command::add_option(const std::string&, int&, const std::string&);
template Option* Command::add_option(const std::string&, std::size_t&, const std::string&);
template Option* Command::add_option(const std::string&, double&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<std::size_t>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<double>&, const std::string&);

Option* Command::add_flag(const std::string& names, bool& value, const std::string& description) {
  return keep(*app_.add_flag(names, value, description));
}

void Command::callback(std::function<void()> work) { app_.callback(std::move(work)); }
void Command::footer(const std::string& text) { app_.footer(text); }
void Command::require_subcommand(int count) { app_.require_subcommand(count); }
void Command::require_subcommand(int least, int most) {
  app_.require_subcommand(static_cast<std::size_t>(least), static_cast<std::size_t>(most));
}

bool Command::has_subcommand(const std::string& name) const {
  return !app_.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; }).empty();
}

bool Command::was_given_subcommand() const { return !app_.get_subcommands().empty(); }

// ---- the whole line

CommandLine::CommandLine(const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description)), program_(*app_) {
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

void CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& done) {
    app_->exit(done);
  } catch (const CLI::ParseError& error) {
    throw WrongWords(error.what());
  }
}

}  // namespace skein::app
