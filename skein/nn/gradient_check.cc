#include "skein/nn/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "skein/base/expect.h"

namespace skein::nn {
namespace {

// Of the loss along one direction; of vectors, which need a second difference.
constexpr double gradient_tolerance = 1e-6;
constexpr double vector_tolerance = 1e-5;
// Of the same sums in another order.
constexpr double algebra_tolerance = 1e-10;

// Lengths of a difference, tried in this order: short ones step over fewer kinks, long ones round less.
constexpr std::array difference_lengths{1e-4, 1e-5, 1e-6, 1e-7, 1e-3, 1e-2};

Vector<double> sum(const Vector<double>& a, double factor, const Vector<double>& b) {
  Vector<double> result = a;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] += factor * b[i];
  }
  return result;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

std::span<const double> part(const Vector<double>& a, const Tensor& tensor) {
  return a.span().subspan(tensor.offset, tensor.size);
}

// An error relative to `scale`; not a number counts as infinite.
double relative(double difference, double scale) {
  if (difference == 0.0) {
    return 0.0;
  }
  const double error = std::abs(difference) / scale;
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

// The smallest of error(length) over the lengths of a difference, which it stops trying when one is good.
double best_error(double tolerance, const std::function<double(double)>& error) {
  double best = std::numeric_limits<double>::infinity();
  for (const double length : difference_lengths) {
    best = std::min(best, error(length));
    if (best <= 0.1 * tolerance) {
      break;
    }
  }
  return best;
}

// A direction that is zero but for the places from `offset` on.
struct Direction {
  std::size_t offset = 0;
  std::vector<double> values;
};

// Random, of this length, within one tensor.
Direction direction_in(const Tensor& tensor, double length, RandomStream& stream) {
  Direction u{tensor.offset, std::vector<double>(tensor.size)};
  std::ranges::generate(u.values, [&] { return stream.normal(); });
  const double factor = length / norm(u.values);
  for (double& value : u.values) {
    value *= factor;
  }
  return u;
}

// Random, of length 1, and equally long in every tensor: small ones count as much as large ones.
Vector<double> direction_in_all(const std::vector<Tensor>& tensors, std::size_t size, RandomStream& stream) {
  Vector<double> u(size);
  for (const Tensor& tensor : tensors) {
    const Direction part_of_u =
        direction_in(tensor, 1.0 / std::sqrt(static_cast<double>(tensors.size())), stream);
    std::ranges::copy(part_of_u.values, u.begin() + tensor.offset);
  }
  return u;
}

class Round {
 public:
  Round(Derivatives& derivatives, const Vector<double>& w, const std::vector<Tensor>& tensors,
        RandomStream& stream)

      : derivatives_(derivatives), w_(w), shifted_(w), tensors_(tensors), stream_(stream) {}

  std::vector<CheckedError> run(const MetaOptions& meta) {
    check_gradient();
    check_hessian_vector();
    check_meta_gradient(meta);
    return std::move(errors_);
  }

 private:
  void add(std::string what, std::string of, double error, double tolerance) {
    errors_.push_back({std::move(what), std::move(of), error, tolerance});
  }

  // The error of `slope` as the derivative of f along u at 0; `typical` is the slope's usual size.
  static double slope_error(const std::function<double(double)>& f, double slope, double typical) {
    return best_error(gradient_tolerance, [&](double length) {
      const double difference = (f(length) - f(-length)) / (2.0 * length);
      return relative(difference - slope, std::max({std::abs(difference), std::abs(slope), typical}));
    });
  }

  double gradient_error(const Vector<double>& g, const Direction& u, double typical) {
    const std::size_t size = u.values.size();
    const auto loss = [&](double e) {
      for (std::size_t i = 0; i < size; ++i) {
        shifted_[u.offset + i] = w_[u.offset + i] + e * u.values[i];
      }
      return derivatives_.loss(0, shifted_);
    };
    const double error = slope_error(loss, dot(g.span().subspan(u.offset, size), u.values), typical);
    std::copy_n(w_.begin() + u.offset, size, shifted_.begin() + u.offset);
    return error;
  }

  void check_gradient() {
    const Vector<double> g = derivatives_.gradient(0, w_);
    const Vector<double> u = direction_in_all(tensors_, w_.size(), stream_);
    add("gradient along a direction", "all", gradient_error(g, {0, {u.begin(), u.end()}}, 0.0),
        gradient_tolerance);
    for (const Tensor& tensor : tensors_) {
      // A slope's usual size along a direction of length 1.
      const double typical = norm(part(g, tensor)) / std::sqrt(static_cast<double>(tensor.size));
      add("gradient along a direction", tensor.name,
          gradient_error(g, direction_in(tensor, 1.0, stream_), typical), gradient_tolerance);
      const Direction coordinate{tensor.offset + stream_.below(tensor.size), {1.0}};
      add("gradient along a coordinate", tensor.name, gradient_error(g, coordinate, typical),
          gradient_tolerance);
    }
  }

  // H(w) v by a difference of gradients.
  Vector<double> curvature(std::size_t batch, const Vector<double>& v, double length) {
    const Vector<double> ahead = derivatives_.gradient(batch, sum(w_, length, v));
    const Vector<double> behind = derivatives_.gradient(batch, sum(w_, -length, v));
    Vector<double> difference = sum(ahead, -1.0, behind);
    for (double& value : difference) {
      value /= 2.0 * length;
    }
    return difference;
  }

  void check_hessian_vector() {
    const Vector<double> v = direction_in_all(tensors_, w_.size(), stream_);
    const Vector<double> product = derivatives_.hessian_vector(0, w_, v);
    const double all = norm(product.span());
    // One difference serves all tensors, so each length is tried for all of them.
    std::vector<double> best(tensors_.size(), std::numeric_limits<double>::infinity());
    best_error(vector_tolerance, [&](double length) {
      const Vector<double> error = sum(curvature(0, v, length), -1.0, product);
      for (std::size_t i = 0; i < tensors_.size(); ++i) {
        // What a tensor adds next to nothing to is drowned in the others' rounding.
        const double scale = std::max(norm(part(product, tensors_[i])), 1e-3 * all);
        best[i] = std::min(best[i], relative(norm(part(error, tensors_[i])), scale));
      }
      return std::ranges::max(best);
    });
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      add("Hessian-vector product", tensors_[i].name, best[i], vector_tolerance);
    }
  }

  void check_meta_gradient(MetaOptions options) {
    const double step = options.inner_step;
    const auto meta_gradient = [&](MetaGradient kind) {
      options.kind = kind;
      return derivatives_.meta_gradient(w_, options);
    };
    const Vector<double> inner = sum(w_, -step, derivatives_.gradient(0, w_));
    const Vector<double> outer = derivatives_.gradient(1, inner);
    const Vector<double> first_order = meta_gradient(MetaGradient::first_order);
    add("first-order meta-gradient, by two gradients", "all",
        relative(norm(sum(first_order, -1.0, outer).span()), norm(outer.span())), algebra_tolerance);

    // The meta-loss F(w) = f(w - step g(w)), whose slope along u is what the exact meta-gradient says. The
    // inner gradient is taken on the first batch and its change on the third: then the slope along u of
    //   f(w + e u - step (g(w | first) + g(w + e u | third) - g(w | third)) | second)
    // at e = 0 has the Hessian of the third batch, as the meta-gradient on three batches does.
    const Vector<double> exact = meta_gradient(MetaGradient::exact);
    const Vector<double> u = direction_in_all(tensors_, w_.size(), stream_);
    const Vector<double> third = derivatives_.gradient(2, w_);
    const auto meta_loss = [&](double e) {
      const Vector<double> change = sum(derivatives_.gradient(2, sum(w_, e, u)), -1.0, third);
      return derivatives_.loss(1, sum(sum(inner, e, u), -step, change));
    };
    add("exact meta-gradient along a direction", "all",
        slope_error(meta_loss, dot(exact.span(), u.span()), 0.0), vector_tolerance);

    // The Hessian's part is small next to the rest; by itself: H(w | third) g, g being the first-order one.
    const auto hessian_part = [&](const Vector<double>& form) {
      Vector<double> difference = sum(first_order, -1.0, form);
      for (double& value : difference) {
        value /= step;
      }
      return difference;
    };
    const Vector<double> exact_part = hessian_part(exact);
    const double scale = norm(exact_part.span());
    const double length_of_outer = std::max(norm(outer.span()), std::numeric_limits<double>::min());
    add("exact meta-gradient, Hessian's part", "all",
        best_error(vector_tolerance,
                   [&](double length) {
                     const Vector<double> by_differences = curvature(2, outer, length / length_of_outer);
                     return relative(norm(sum(by_differences, -1.0, exact_part).span()), scale);
                   }),
        vector_tolerance);
    const auto hessian_free_error = [&](double difference_step) {
      options.difference_step = difference_step;
      const Vector<double> free_part = hessian_part(meta_gradient(MetaGradient::hessian_free));
      return relative(norm(sum(free_part, -1.0, exact_part).span()), scale);
    };
    const double difference_step = options.difference_step;
    add("Hessian-free meta-gradient, Hessian's part", "all",
        best_error(vector_tolerance,
                   [&](double length) { return hessian_free_error(length / length_of_outer); }),
        vector_tolerance);
    add("  the same at the scenario's difference_step", "all", hessian_free_error(difference_step), 0.0);
    add("first-order meta-gradient, what it leaves out", "all",
        relative(norm(sum(exact, -1.0, first_order).span()), norm(exact.span())), 0.0);
  }

  Derivatives& derivatives_;
  const Vector<double>& w_;
  Vector<double> shifted_;  // w, but while a direction is tried
  const std::vector<Tensor>& tensors_;
  RandomStream& stream_;
  std::vector<CheckedError> errors_;
};

}  // namespace

EngineDerivatives::EngineDerivatives(const Network<double>& network,
                                     const std::array<Batch<double>, 3>& batches, const RandomStream& dropout)
    : engine_(network),
      batches_(batches),
      has_dropout_(std::ranges::any_of(network.architecture().layers, [](const Layer& layer) {
        return std::holds_alternative<Dropout>(layer);
      })) {
  RandomStream stream = dropout;
  const Vector<double> w(network.num_parameters());
  Vector<double> unused(w.size());
  for (const Batch<double>& batch : batches_) {
    streams_.push_back(stream);
    engine_.gradient(w, batch, &stream, unused);
  }
}

double EngineDerivatives::loss(std::size_t batch, const Vector<double>& w) {
  if (!has_dropout_) {
    return engine_.score(w, batches_[batch]).loss_sum / static_cast<double>(batches_[batch].size);
  }
  RandomStream stream = streams_[batch];
  Vector<double> unused(w.size());
  return engine_.gradient(w, batches_[batch], &stream, unused);
}

Vector<double> EngineDerivatives::gradient(std::size_t batch, const Vector<double>& w) {
  RandomStream stream = streams_[batch];
  Vector<double> out(w.size());
  engine_.gradient(w, batches_[batch], &stream, out);
  return out;
}

Vector<double> EngineDerivatives::hessian_vector(std::size_t batch, const Vector<double>& w,
                                                 const Vector<double>& v) {
  RandomStream stream = streams_[batch];
  Vector<double> out(w.size());
  engine_.hessian_vector(w, v, batches_[batch], &stream, out);
  return out;
}

Vector<double> EngineDerivatives::meta_gradient(const Vector<double>& w, const MetaOptions& options) {
  RandomStream stream = streams_[0];
  Vector<double> out(w.size());
  engine_.meta_gradient(w, batches_, options, &stream, out);
  return out;
}

std::vector<CheckedError> check_derivatives(Derivatives& derivatives, const Vector<double>& w,
                                            const std::vector<Tensor>& tensors, const MetaOptions& meta,
                                            RandomStream& stream) {
  return Round(derivatives, w, tensors, stream).run(meta);
}

std::vector<CheckedRow> summarise(const std::vector<std::vector<CheckedError>>& rounds) {
  expect(!rounds.empty(), "at least one round");
  std::vector<CheckedRow> rows;
  for (std::size_t i = 0; i < rounds[0].size(); ++i) {
    std::vector<double> errors;
    for (const std::vector<CheckedError>& round : rounds) {
      expect(round[i].what == rounds[0][i].what && round[i].of == rounds[0][i].of,
             "rounds have the same rows");
      errors.push_back(round[i].error);
    }
    std::ranges::sort(errors);
    // Of an even number, the larger of the two in the middle.
    rows.push_back({rounds[0][i].what, rounds[0][i].of, errors[errors.size() / 2], errors.back(),
                    rounds[0][i].tolerance});
  }
  return rows;
}

}  // namespace skein::nn
