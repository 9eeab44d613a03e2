#include "skein/base/crew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "tests/thread_crew.h"

namespace skein {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

SharedLoop squares(std::vector<double>& values, std::atomic<std::size_t>& calls, bool for_all) {
  return {.body =
              [&](std::size_t i) {
                values[i] = static_cast<double>(i * i);
                ++calls;
              },
          .write = [&](std::size_t i, ByteWriter& bytes) { bytes.put(values[i]); },
          .read = [&](std::size_t i, ByteCursor& bytes) { values[i] = bytes.get<double>(); },
          .for_all = for_all};
}

TEST(Crew, SharedLoopsAreDoneOnceAndKnownToWhoeverWantsThem) {
  for (const std::size_t size : {1U, 2U, 3U, 5U}) {
    for (const std::size_t count : {0U, 1U, 4U, 17U}) {
      for (const bool for_all : {true, false}) {
        std::vector<double> expected(count);
        for (std::size_t i = 0; i < count; ++i) {
          expected[i] = static_cast<double>(i * i);
        }
        std::atomic<std::size_t> calls = 0;
        run_crew(size, [&](Crew& crew) {
          ThreadPool pool(2);
          std::vector<double> values(count, -1.0);
          shared_for(crew, pool, count, squares(values, calls, for_all));
          if (for_all || crew.is_first()) {
            EXPECT_EQ(values, expected) << crew.rank() << " of " << size;
          }
        });
        EXPECT_EQ(calls, count);
      }
    }
  }
}

TEST(Crew, EverybodyHearsWhatIsSaid) {
  run_crew(3, [](Crew& crew) {
    EXPECT_EQ(said_by_first(crew, crew.is_first() ? "hello" : "nobody hears this"), "hello");
    EXPECT_THAT(said_by_all(crew, std::to_string(crew.rank())), ElementsAre("0", "1", "2"));
  });
  EXPECT_THAT(said_by_all(alone(), "me"), ElementsAre("me"));
}

TEST(Crew, WorkIsDealtOnceToWhoIsFree) {
  for (const std::size_t size : {1U, 2U, 4U}) {
    for (const std::size_t count : {0U, 1U, 3U, 40U}) {
      std::vector<std::atomic<int>> times(count);
      std::vector<std::string> results;
      run_crew(size, [&](Crew& crew) {
        std::vector<std::string> own = deal(crew, count, [&](std::size_t i) {
          ++times[i];
          return "result " + std::to_string(i);
        });
        if (crew.is_first()) {
          results = std::move(own);
        } else {
          EXPECT_THAT(own, IsEmpty());
        }
      });
      EXPECT_THAT(std::vector<int>(times.begin(), times.end()), Each(1));
      ASSERT_EQ(results.size(), count);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(results[i], "result " + std::to_string(i));
      }
    }
  }
}

TEST(Crew, ABusyProcessGetsLess) {
  // Whoever has the long piece gets no other: they are gone when it is done.
  std::vector<std::size_t> who(20);
  run_crew(2, [&](Crew& crew) {
    deal(crew, who.size(), [&](std::size_t i) {
      who[i] = crew.rank();
      std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 500 : 1));
      return std::string();
    });
  });
  EXPECT_EQ(std::count(who.begin(), who.end(), who[0]), 1);
}

TEST(Crew, AFailureOfTheFirstIsThrown) {
  EXPECT_THROW(deal(alone(), 3, [](std::size_t) -> std::string { throw std::runtime_error("no"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace skein
