#include "skein/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "skein/base/random.h"

namespace skein {
namespace {

class ThreadPoolOfSize : public testing::TestWithParam<std::size_t> {};

TEST_P(ThreadPoolOfSize, CallsEveryIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.num_threads(), GetParam());
  for (const std::size_t count : {0, 1, 2, 3, 100, 10007}) {
    std::vector<std::atomic<int>> calls(count);
    pool.parallel_for(count, [&](std::size_t i) { ++calls[i]; });
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(calls[i], 1) << i << " of " << count;
    }
  }
}

TEST_P(ThreadPoolOfSize, GivesTheResultOfOneThread) {
  const auto compute = [](ThreadPool& pool) {
    std::vector<double> values(2000);
    pool.parallel_for(values.size(), [&](std::size_t i) {
      RandomStream stream(11, "work", i);
      double sum = 0.0;
      for (std::size_t n = 0; n < i % 50; ++n) {
        sum += stream.normal();
      }
      values[i] = sum;
    });
    return values;
  };
  ThreadPool one(1);
  ThreadPool many(GetParam());
  EXPECT_EQ(compute(many), compute(one));
}

TEST_P(ThreadPoolOfSize, RunsNestedLoopsWhole) {
  ThreadPool pool(GetParam());
  std::vector<std::vector<int>> calls(40, std::vector<int>(30, 0));
  std::atomic<int> strayed = 0;
  pool.parallel_for(calls.size(), [&](std::size_t i) {
    const std::thread::id mine = std::this_thread::get_id();
    pool.parallel_for(calls[i].size(), [&](std::size_t j) {
      ++calls[i][j];
      strayed += std::this_thread::get_id() == mine ? 0 : 1;
    });
  });
  EXPECT_EQ(calls, std::vector(40, std::vector(30, 1)));
  EXPECT_EQ(strayed, 0);
}

TEST_P(ThreadPoolOfSize, RethrowsTheLowestIndexAfterAllRan) {
  ThreadPool pool(GetParam());
  for (int trial = 0; trial < 50; ++trial) {
    std::atomic<int> calls = 0;
    try {
      pool.parallel_for(200, [&](std::size_t i) {
        ++calls;
        if (i % 7 == 3) {
          throw std::runtime_error(std::to_string(i));
        }
      });
      FAIL() << "did not throw";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
    EXPECT_EQ(calls, 200);
  }
  int after = 0;
  pool.parallel_for(1, [&](std::size_t) { ++after; });
  EXPECT_EQ(after, 1);
}

TEST_P(ThreadPoolOfSize, AnExceptionOfANestedLoopComesThrough) {
  ThreadPool pool(GetParam());
  const auto nested = [&](std::size_t i) {
    pool.parallel_for(10, [&](std::size_t j) {
      if (i == 5 && j >= 2) {
        throw std::runtime_error(std::to_string(j));
      }
    });
  };
  try {
    pool.parallel_for(20, nested);
    FAIL() << "did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "2");
  }
  // The failed loop left nothing behind: a loop from this thread is parallel again, and right.
  std::vector<int> calls(100, 0);
  pool.parallel_for(calls.size(), [&](std::size_t i) { ++calls[i]; });
  EXPECT_EQ(calls, std::vector(100, 1));
}

TEST_P(ThreadPoolOfSize, ManySmallLoops) {
  ThreadPool pool(GetParam());
  std::size_t total = 0;
  for (std::size_t loop = 0; loop < 5000; ++loop) {
    std::array<std::size_t, 4> parts{};
    pool.parallel_for(parts.size(), [&](std::size_t i) { parts[i] = loop + i; });
    total += std::accumulate(parts.begin(), parts.end(), std::size_t{0});
  }
  EXPECT_EQ(total, 4 * (5000 * 4999 / 2) + 5000 * 6);
}

TEST_P(ThreadPoolOfSize, TakesLoopsFromSeveralThreads) {
  ThreadPool pool(GetParam());
  std::vector<std::vector<int>> calls(4, std::vector<int>(500, 0));
  std::vector<std::thread> callers;
  for (std::vector<int>& mine : calls) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 20; ++loop) {
        pool.parallel_for(mine.size(), [&](std::size_t i) { ++mine[i]; });
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(calls, std::vector(4, std::vector(500, 20)));
}

TEST_P(ThreadPoolOfSize, ComesAndGoes) {
  for (int i = 0; i < 100; ++i) {
    ThreadPool unused(GetParam());
    ThreadPool used(GetParam());
    std::atomic<int> calls = 0;
    used.parallel_for(3, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolOfSize, testing::Values(1, 2, 3, 8));

TEST(ThreadPool, TakesAllCoresByDefault) {
  const ThreadPool pool;
  EXPECT_EQ(pool.num_threads(), std::max(1U, std::thread::hardware_concurrency()));
}

// Four bodies that each wait until all four have begun: only four threads can end this.
TEST(ThreadPool, ReallyRunsAtTheSameTime) {
  ThreadPool pool(4);
  std::atomic<int> begun = 0;
  std::atomic<bool> met = true;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  pool.parallel_for(4, [&](std::size_t) {
    ++begun;
    while (begun < 4) {
      if (std::chrono::steady_clock::now() > deadline) {
        met = false;
        return;
      }
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(met);
}

}  // namespace
}  // namespace skein
