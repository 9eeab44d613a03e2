#include "skein/learning/evaluation.h"

#include <gtest/gtest.h>

#include "skein/base/expect.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

class EvaluationTest : public ::testing::Test {
 protected:
  Evaluation on(const LabelMix& mix) {
    return evaluate(*model_, problem_.data.test, mix, pools_, workspaces_, pool_);
  }
  Evaluation on_class(std::size_t label) {
    return evaluate(*model_, problem_.data.test, pools_.of(label), workspaces_, pool_);
  }

  SmallProblem problem_;
  std::shared_ptr<const Model> model_ = problem_.initial();
  ClassPools pools_{problem_.data.test};
  Workspaces workspaces_{problem_.network};
  ThreadPool pool_{2};
};

// Classes have 20 samples each.
TEST_F(EvaluationTest, AnEqualMixOfEqualClassesIsTheMeanOverTheirSamples) {
  const Evaluation all = evaluate(*model_, problem_.data.test, pools_.all(), workspaces_, pool_);
  const Evaluation mixed = on({0.25, 0.25, 0.25, 0.25});
  EXPECT_NEAR(mixed.accuracy, all.accuracy, 1e-12);
  EXPECT_NEAR(mixed.loss, all.loss, 1e-6);
  EXPECT_NEAR(on({0.5, 0.0, 0.5, 0.0}).loss, (on_class(0).loss + on_class(2).loss) / 2, 1e-12);
}

TEST_F(EvaluationTest, ClassesWeighAsInTheMix) {
  const Evaluation mixed = on({0.9, 0.0, 0.1, 0.0});
  EXPECT_NEAR(mixed.accuracy, 0.9 * on_class(0).accuracy + 0.1 * on_class(2).accuracy, 1e-12);
  EXPECT_NEAR(mixed.loss, 0.9 * on_class(0).loss + 0.1 * on_class(2).loss, 1e-12);
  EXPECT_NE(on_class(0).loss, on_class(2).loss) << "else weights would not show";
}

TEST_F(EvaluationTest, ClassesWithoutSamplesAreLeftOut) {
  const Evaluation expected = on({0.25, 0.75, 0.0, 0.0});
  for (std::uint8_t& label : problem_.data.test.labels) {
    label = label == 3 ? 2 : label;
  }
  pools_ = ClassPools(problem_.data.test);
  const Evaluation mixed = on({0.1, 0.3, 0.0, 0.6});
  EXPECT_NEAR(mixed.accuracy, expected.accuracy, 1e-12);
  EXPECT_NEAR(mixed.loss, expected.loss, 1e-12);
  EXPECT_THROW(on({0.0, 0.0, 0.0, 1.0}), ProgrammingError);
}

}  // namespace
}  // namespace skein
