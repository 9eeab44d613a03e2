// The derivatives of a scenario's network held against finite differences, on samples of its data.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/nn/gradient_check.h"
#include "skein/scenario/scenario.h"

namespace skein {

struct GradientCheckOptions {
  std::size_t batch = 4;   // samples in each of the three batches
  std::size_t rounds = 5;  // each with other samples, dropout and direction
};

// In double precision, where training would start. The same for any number of threads. Throws InputError.
std::vector<nn::CheckedRow> check_gradients(const Scenario& scenario, const GradientCheckOptions& options,
                                            ThreadPool& pool);

bool all_pass(std::span<const nn::CheckedRow> rows);
// "ok", "WRONG" or "information".
std::string_view verdict(const nn::CheckedRow& row);
// {"passes", "rows"}
std::string gradient_check_json(std::span<const nn::CheckedRow> rows);

}  // namespace skein
