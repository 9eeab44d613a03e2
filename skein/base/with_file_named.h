// Faults found where nobody knows the file's name get it from who does.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "skein/base/input_fault.h"

namespace skein {

// Does the work; a fault it throws without a file is this file's.
template <class Work>
auto with_file_named(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    std::vector<InputFault> faults = error.faults();
    for (InputFault& fault : faults) {
      fault.file = fault.file.empty() ? file : fault.file;
    }
    throw InputError(std::move(faults));
  }
}

}  // namespace skein
