#include "skein/learning/model_sums.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "skein/base/random.h"

namespace skein {
namespace {

constexpr std::size_t model_size = 257;

// Members of random groups with random weights, some of which take longer than others.
struct Case {
  std::vector<ModelSums::Member> members;
  std::size_t num_groups;

  explicit Case(std::uint64_t seed) {
    RandomStream stream(seed, "model sums");
    num_groups = 1 + stream.below(5);
    members.resize(stream.below(60));
    for (ModelSums::Member& member : members) {
      member = {stream.below(num_groups), static_cast<float>(stream.uniform())};
    }
  }

  static void make(std::uint64_t seed, std::size_t i, nn::Vector<float>& model) {
    RandomStream stream(seed, "model", i);
    for (float& value : model) {
      value = static_cast<float>(stream.uniform(-1.0, 1.0));
    }
    if (stream.bernoulli(0.2)) {
      std::this_thread::sleep_for(std::chrono::microseconds(stream.below(500)));
    }
  }

  std::vector<nn::Vector<float>> sums(std::uint64_t seed, std::size_t threads) const {
    ThreadPool pool(threads);
    ModelSums model_sums(model_size, pool);
    std::vector<nn::Vector<float>> result(num_groups, nn::Vector<float>(model_size));
    model_sums.run(members, result, [&](std::size_t i, nn::Vector<float>& model) { make(seed, i, model); });
    return result;
  }
};

bool same_bits(const nn::Vector<float>& a, const nn::Vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(ModelSums, AreTheSameBitsForAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case trial(seed);
    const auto one = trial.sums(seed, 1);
    std::vector<nn::Vector<float>> expected(trial.num_groups, nn::Vector<float>(model_size));
    for (std::size_t i = 0; i < trial.members.size(); ++i) {
      nn::Vector<float> model(model_size);
      Case::make(seed, i, model);
      add_weighted(trial.members[i].weight, model.span(), expected[trial.members[i].group].span());
    }
    for (const std::size_t threads : {2U, 3U, 8U}) {
      const auto many = trial.sums(seed, threads);
      for (std::size_t group = 0; group < trial.num_groups; ++group) {
        EXPECT_TRUE(same_bits(one[group], expected[group]));
        EXPECT_TRUE(same_bits(many[group], expected[group])) << "seed " << seed << ", threads " << threads;
      }
    }
  }
}

// The first member of a group takes until all buffers are in use, and a little longer; all others are done at
// once and wait for it.
TEST(ModelSums, MembersWaitForAFreeBuffer) {
  ThreadPool pool(4);
  ModelSums model_sums(model_size, pool);
  EXPECT_EQ(model_sums.num_buffers(), 6U);
  const std::vector<ModelSums::Member> members(100, {0, 1.0F});
  std::vector<nn::Vector<float>> sums(1, nn::Vector<float>(model_size));
  std::atomic<bool> first_is_done = false;
  std::atomic<std::size_t> before_it = 0;
  model_sums.run(members, sums, [&](std::size_t i, nn::Vector<float>& model) {
    if (i == 0) {
      while (before_it < 5) {
        std::this_thread::yield();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      first_is_done = true;
    } else if (!first_is_done) {
      ++before_it;
    }
    std::fill(model.begin(), model.end(), 1.0F);
  });
  EXPECT_EQ(before_it, 5U) << "as many as there are buffers beside the first one's";
  EXPECT_EQ(sums[0][0], 100.0F);
  EXPECT_EQ(sums[0][model_size - 1], 100.0F);
}

TEST(ModelSums, TheFirstFailureIsTheSameForAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream stream(seed, "failures");
    std::vector<bool> fails(50);
    for (std::size_t i = 0; i < fails.size(); ++i) {
      fails[i] = stream.bernoulli(0.1) || i == 40;
    }
    const auto first = static_cast<std::size_t>(std::find(fails.begin(), fails.end(), true) - fails.begin());
    for (const std::size_t threads : {1U, 2U, 5U}) {
      ThreadPool pool(threads);
      ModelSums model_sums(model_size, pool);
      const std::vector<ModelSums::Member> members(fails.size(), {0, 1.0F});
      std::vector<nn::Vector<float>> sums(1, nn::Vector<float>(model_size));
      const auto run = [&] {
        model_sums.run(members, sums, [&](std::size_t i, nn::Vector<float>& model) {
          Case::make(seed, i, model);
          if (fails[i]) {
            throw std::runtime_error(std::to_string(i));
          }
        });
      };
      try {
        run();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), std::to_string(first));
      }
    }
  }
}

}  // namespace
}  // namespace skein
