// Faults in input from outside: a scenario, a data file, the command line.
//
// Whoever reads input collects every fault it finds and goes on; throw_if_any then reports all of them
// at once as one InputError, which the program prints, and exits with code 2.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace skein {

struct InputFault {
  std::string file;     // where it stands; empty for the command line
  std::string key;      // the key path, field or byte offset; may be empty
  std::string value;    // what was found; may be empty
  std::string message;  // what is wrong, and what is allowed
};

// One line: "file: key = value: message", leaving out what is empty.
std::string to_string(const InputFault& fault);

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<InputFault> faults);
  explicit InputError(InputFault fault);

  [[nodiscard]] const std::vector<InputFault>& faults() const { return faults_; }

 private:
  std::vector<InputFault> faults_;
};

class InputFaults {
 public:
  void add(InputFault fault) { list_.push_back(std::move(fault)); }
  void add_all(const std::vector<InputFault>& faults) {
    list_.insert(list_.end(), faults.begin(), faults.end());
  }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::vector<InputFault>& list() const { return list_; }
  void throw_if_any() const {
    if (!list_.empty()) {
      throw InputError(list_);
    }
  }

 private:
  std::vector<InputFault> list_;
};

}  // namespace skein
