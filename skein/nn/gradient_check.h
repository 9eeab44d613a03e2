// Holds derivatives against finite differences: gradient, Hessian-vector product and the three
// meta-gradients.
//
// Networks with ReLU or max-pool have kinks: where a difference steps over one, it is not the derivative. So
// every number is checked in several rounds, each with its own samples, dropout masks and directions, and
// with several lengths of the difference, of which the one that agrees best counts; a row passes if the
// median over its rounds is within its tolerance. A kink spoils a round, a wrong derivative all of them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "skein/base/random.h"
#include "skein/nn/engine.h"

namespace skein::nn {

// What is checked: functions of the parameters, on three batches (0, 1 and 2) whose dropout masks are fixed.
class Derivatives {
 public:
  Derivatives() = default;
  virtual ~Derivatives() = default;
  Derivatives(const Derivatives&) = delete;
  Derivatives& operator=(const Derivatives&) = delete;
  Derivatives(Derivatives&&) = delete;
  Derivatives& operator=(Derivatives&&) = delete;

  virtual double loss(std::size_t batch, const Vector<double>& w) = 0;
  virtual Vector<double> gradient(std::size_t batch, const Vector<double>& w) = 0;
  virtual Vector<double> hessian_vector(std::size_t batch, const Vector<double>& w,
                                        const Vector<double>& v) = 0;
  virtual Vector<double> meta_gradient(const Vector<double>& w, const MetaOptions& options) = 0;
};

// An engine's. The masks of the batches are drawn one after another, as a meta-gradient draws them.
class EngineDerivatives : public Derivatives {
 public:
  // All must outlive it.
  EngineDerivatives(const Network<double>& network, const std::array<Batch<double>, 3>& batches,
                    const RandomStream& dropout);

  double loss(std::size_t batch, const Vector<double>& w) override;
  Vector<double> gradient(std::size_t batch, const Vector<double>& w) override;
  Vector<double> hessian_vector(std::size_t batch, const Vector<double>& w, const Vector<double>& v) override;
  Vector<double> meta_gradient(const Vector<double>& w, const MetaOptions& options) override;

 private:
  Engine<double> engine_;
  std::array<Batch<double>, 3> batches_;
  bool has_dropout_;
  std::vector<RandomStream> streams_;  // where each batch's masks begin
};

// One number of one round.
struct CheckedError {
  std::string what;  // "gradient along a coordinate"
  std::string of;    // "conv1.weight", "all"
  double error = 0.0;
  double tolerance = 0.0;  // 0: the error is for information
};

// The errors of one round, always the same list. `meta` gives the inner step and the difference step that are
// used in training.
std::vector<CheckedError> check_derivatives(Derivatives& derivatives, const Vector<double>& w,
                                            const std::vector<Tensor>& tensors, const MetaOptions& meta,
                                            RandomStream& stream);

// A row of the answer.
struct CheckedRow {
  std::string what;
  std::string of;
  double median = 0.0;
  double worst = 0.0;
  double tolerance = 0.0;

  [[nodiscard]] bool is_information() const { return tolerance == 0.0; }
  [[nodiscard]] bool passes() const { return is_information() || median <= tolerance; }
};

// At least one round.
std::vector<CheckedRow> summarise(const std::vector<std::vector<CheckedError>>& rounds);

}  // namespace skein::nn
