// The words that the program is called with, as its commands describe them.
//
// CLI11 does the work. Its header takes seconds to read, and leaves code behind in every file that includes
// it: command_line.cc alone does.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace skein::app {

// What a value must be; the help says so.
class Check {
 public:
  explicit Check(const CLI::Validator& validator);
  [[nodiscard]] const CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
};

Check within(int least, int most);
Check within(double least, double most);
Check one_of(const std::vector<std::string>& names);
Check positive_number();

// An option, or a word that a command takes without one.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  Option* required();
  Option* type_name(const std::string& name);
  Option* check(const Check& check);
  Option* capture_default_str();         // the help tells the default
  Option* delimiter(char between);       // of several values in one word
  Option* take_all();                    // may be repeated
  Option* allow_extra_args(bool allow);  // several values, each a word
  Option* expected(int least, int most);
  Option* excludes(Option* other);

 private:
  CLI::Option& option_;
};

// A command with its options and its own commands. Whoever has a pointer to one has it from its parent, which
// must stay.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  Command(Command&&) = delete;
  Command& operator=(Command&&) = delete;
  ~Command() = default;

  Command* add_subcommand(const std::string& name, const std::string& description);
  // The types are those that command_line.cc lists.
  template <class Value>
  Option* add_option(const std::string& names, Value& value, const std::string& description);
  Option* add_flag(const std::string& names, bool& value, const std::string& description);
  void callback(std::function<void()> work);
  void footer(const std::string& text);
  void require_subcommand(int count);
  void require_subcommand(int least, int most);

  [[nodiscard]] bool has_subcommand(const std::string& name) const;
  [[nodiscard]] bool was_given_subcommand() const;  // after parsing

 private:
  Option* keep(CLI::Option& option);

  CLI::App& app_;
  std::deque<Command> commands_;
  std::deque<Option> options_;
};

// Words that no command understands.
struct WrongWords : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  CommandLine(CommandLine&&) = delete;
  CommandLine& operator=(CommandLine&&) = delete;

  [[nodiscard]] Command& program() { return program_; }
  // Calls the command that the words name, or prints help or version. Throws WrongWords, and what the command
  // throws.
  void parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Command program_;
};

}  // namespace skein::app
