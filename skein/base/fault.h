// Faults in input from outside: a scenario, a data file, the command line.
//
// Whoever reads input collects every Fault it finds and goes on; throw_if_any then reports all of them at
// once as one InputError, which the program prints, and exits with code 2.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace skein {

struct Fault {
  std::string file;     // where it stands; empty for the command line
  std::string key;      // the key path, field or byte offset; may be empty
  std::string value;    // what was found; may be empty
  std::string message;  // what is wrong, and what is allowed
};

// One line: "file: key = value: message", leaving out what is empty.
std::string to_string(const Fault& fault);

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Fault> faults);
  explicit InputError(Fault fault);

  [[nodiscard]] const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

class Faults {
 public:
  void add(Fault fault) { list_.push_back(std::move(fault)); }
  void add_all(const std::vector<Fault>& faults) { list_.insert(list_.end(), faults.begin(), faults.end()); }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::vector<Fault>& list() const { return list_; }
  void throw_if_any() const {
    if (!list_.empty()) {
      throw InputError(list_);
    }
  }

 private:
  std::vector<Fault> list_;
};

}  // namespace skein
