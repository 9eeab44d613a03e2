#include "skein/base/input_fault.h"

#include <utility>

namespace skein {
namespace {

std::string join(const std::vector<InputFault>& faults) {
  std::string text;
  for (const InputFault& fault : faults) {
    if (!text.empty()) {
      text += '\n';
    }
    text += to_string(fault);
  }
  return text;
}

}  // namespace

std::string to_string(const InputFault& fault) {
  std::string text;
  if (!fault.file.empty()) {
    text += fault.file + ": ";
  }
  if (!fault.key.empty()) {
    text += fault.key;
    text += fault.value.empty() ? ": " : " = " + fault.value + ": ";
  } else if (!fault.value.empty()) {
    text += fault.value + ": ";
  }
  return text + fault.message;
}

InputError::InputError(std::vector<InputFault> faults)
    : std::runtime_error(join(faults)), faults_(std::move(faults)) {}

InputError::InputError(InputFault fault) : InputError(std::vector<InputFault>{std::move(fault)}) {}

}  // namespace skein
