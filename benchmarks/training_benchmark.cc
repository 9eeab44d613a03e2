// Meta-updates of the paper's networks, for comparison with training_peer.py, and the share of this machine's
// matrix-product peak that they reach.
//
//   training_benchmark [--seconds S] [CELL...]
//
// A cell is NETWORK,BATCH,KIND[,THREADS] as in M,4,first_order,2: threads are independent workers, each with
// an engine and a model of its own. The cell "peak" is OpenBLAS's single-precision product of 2048 x 2048
// matrices on one thread. Without cells they are read from standard input, one a line. Each gives a line of
// JSON, with the operations of an update made densely and with those that are executed.
// scripts/benchmark-training runs this and the peer cell by cell and compares them.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "skein/base/random.h"
#include "skein/nn/engine.h"
#include "skein/nn/kernels.h"
#include "skein/nn/presets.h"

namespace skein::nn {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The paper's MNIST network (M), the same with pools of stride 2 (Ms2), the CIFAR-10 one (C) and the RADIOML
// one (R); without dropout and softmax, as in the peer.
const std::map<std::string, Architecture, std::less<>>& architectures() {
  static const std::map<std::string, Architecture, std::less<>> all{
      {"M", {.input = {28, 28, 1}, .layers = preset("mnist_cnn", 10)}},
      {"Ms2", {.input = {28, 28, 1}, .layers = preset("mnist_cnn_stride2", 10)}},
      {"C", {.input = {32, 32, 3}, .layers = preset("cifar10_cnn", 10)}},
      {"R", {.input = {2, 128, 1}, .layers = preset("radioml_cnn", 4)}}};
  return all;
}

constexpr std::array kind_names{"first_order", "hessian_free", "exact"};

struct Cell {
  std::string network;
  std::size_t batch = 1;
  MetaGradient kind = MetaGradient::first_order;
  std::size_t threads = 1;
};

// Multiplications, each with an addition, of one sample through each layer that has weights.
std::vector<double> layer_products(const Architecture& architecture) {
  std::vector<double> products;
  const std::vector<Shape> outputs = shapes(architecture);
  for (const Tensor& tensor : tensors(architecture)) {
    if (tensor.name.ends_with(".weight")) {
      const Shape& output = outputs[tensor.layer];
      const bool is_linear = std::holds_alternative<Linear>(architecture.layers[tensor.layer]);
      products.push_back(static_cast<double>(tensor.size) *
                         (is_linear ? 1.0 : static_cast<double>(output.height * output.width)));
    }
  }
  return products;
}

// Useful floating-point operations of one sample's gradient: forward, gradient of the weights, and gradient
// of the inputs except the first layer's, two operations to a product each.
double gradient_operations(const Architecture& architecture) {
  const std::vector<double> products = layer_products(architecture);
  double sum = 0.0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    sum += (i == 0 ? 4.0 : 6.0) * products[i];
  }
  return sum;
}

// And of a Hessian-vector product: with the tangent of a layer's input and weights, each of forward, input
// gradient and weight gradient has two tangent products; the plain weight gradient is not needed.
double curvature_operations(const Architecture& architecture) {
  const std::vector<double> products = layer_products(architecture);
  double sum = 0.0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    sum += (i == 0 ? 6.0 : 16.0) * products[i];
  }
  return sum;
}

// The first and the second batch have a gradient each, the third none, two, or a Hessian-vector product.
double update_operations(const Architecture& architecture, MetaGradient kind, std::size_t batch) {
  const double gradient = gradient_operations(architecture);
  const double third = kind == MetaGradient::exact          ? curvature_operations(architecture)
                       : kind == MetaGradient::hessian_free ? 2.0 * gradient
                                                            : 0.0;
  return static_cast<double>(batch) * (2.0 * gradient + third);
}

// A layer's products of one sample as the engine makes them.
struct ExecutedProducts {
  double forward = 0.0;
  double backward = 0.0;  // for the gradient of the weights, and once more for that of the inputs
  double low_rank = 0.0;  // with a step of the weights that is kept as a batch's factors; 0: it is formed
};

// The share of a convolution's products that are made backward. A pool whose windows do not overlap sends
// each window's gradient to one place; the engine leaves the others out where that saves half.
double backward_share(const Architecture& architecture, std::size_t layer, const Shape& output) {
  const std::vector<Layer>& layers = architecture.layers;
  const auto& convolution = std::get<Convolution>(layers[layer]);
  std::size_t next = layer + 1;
  next += next < layers.size() && std::holds_alternative<Relu>(layers[next]) ? 1 : 0;
  if (next >= layers.size() || !std::holds_alternative<MaxPool>(layers[next])) {
    return 1.0;
  }
  const auto& pool = std::get<MaxPool>(layers[next]);
  const Shape pooled = shapes(architecture)[next];
  const std::size_t channels =
      layer == 0 ? architecture.input.channels : shapes(architecture)[layer - 1].channels;
  const std::size_t run = convolution.kernel[1] * channels;
  const bool apart = pool.stride[0] >= pool.kernel[0] && pool.stride[1] >= pool.kernel[1];
  if (!apart || 2 * padded<float>(run) > pool.kernel[0] * pool.kernel[1] * run) {
    return 1.0;
  }
  return static_cast<double>(pooled.height * pooled.width) /
         static_cast<double>(output.height * output.width);
}

std::vector<ExecutedProducts> executed_products(const Architecture& architecture, std::size_t batch) {
  constexpr std::size_t least_low_rank_weights = 16384;
  std::vector<ExecutedProducts> products;
  const std::vector<Shape> outputs = shapes(architecture);
  for (const Tensor& tensor : tensors(architecture)) {
    if (!tensor.name.ends_with(".weight")) {
      continue;
    }
    const Shape& output = outputs[tensor.layer];
    ExecutedProducts& layer = products.emplace_back();
    if (std::holds_alternative<Linear>(architecture.layers[tensor.layer])) {
      layer.forward = layer.backward = static_cast<double>(tensor.size);
      if (output.size() >= 2 * batch && tensor.size >= least_low_rank_weights) {
        layer.low_rank = static_cast<double>(batch * (tensor.size / output.size() + output.size()));
      }
    } else {
      layer.forward = static_cast<double>(tensor.size * output.height * output.width);
      layer.backward = layer.forward * backward_share(architecture, tensor.layer, output);
    }
  }
  return products;
}

// The same updates as update_operations, with the operations that are executed: fewer backward behind some
// pools, and where a linear layer's step stays low-rank, two thin products instead of forming it.
double executed_operations(const Architecture& architecture, MetaGradient kind, std::size_t batch) {
  const std::vector<ExecutedProducts> products = executed_products(architecture, batch);
  double sum = 0.0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const auto& [forward, backward, low_rank] = products[i];
    const bool formed = low_rank == 0.0;
    const double inputs = i == 0 ? 0.0 : 1.0;  // whether they have a gradient, and a tangent
    const double shifted = forward + low_rank + inputs * (backward + low_rank);
    sum += forward + inputs * backward + (formed ? backward : 0.0);
    sum += shifted + (formed || kind == MetaGradient::first_order ? backward : 0.0);
    if (kind == MetaGradient::hessian_free) {
      sum += 2.0 * shifted + (formed ? 2.0 : 3.0) * backward;
    } else if (kind == MetaGradient::exact) {
      sum += (1.0 + inputs) * forward + (formed ? forward : low_rank);
      sum += inputs * (2.0 * backward + (formed ? backward : low_rank));
      sum += (1.0 + inputs) * backward + (formed ? 0.0 : backward);
    }
  }
  return 2.0 * static_cast<double>(batch) * sum;
}

// Of the calling thread: what other programs do on the machine does not count.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Of an update.
struct Seconds {
  double wall = 0.0;
  double processor = 0.0;
};

// One worker's updates for about that long: the medians.
Seconds worker_seconds(const Cell& cell, const Network<float>& network, std::size_t worker, double seconds,
                       std::barrier<>& start) {
  constexpr std::size_t fewest_updates = 3;
  RandomStream stream(1, "training benchmark", worker);
  Engine<float> engine(network);
  Vector<float> w = network.initial_parameters(stream);
  std::array<Vector<float>, 3> features;
  std::array<std::vector<std::uint8_t>, 3> labels;
  std::array<Batch<float>, 3> batches;
  for (std::size_t b = 0; b < 3; ++b) {
    features[b] = Vector<float>(cell.batch * network.num_inputs());
    for (float& value : features[b]) {
      value = static_cast<float>(stream.uniform());
    }
    for (std::size_t i = 0; i < cell.batch; ++i) {
      labels[b].push_back(static_cast<std::uint8_t>(stream.below(network.num_outputs())));
    }
    batches[b] = {features[b].data(), labels[b].data(), cell.batch};
  }
  const MetaOptions options{.kind = cell.kind, .inner_step = 1e-3, .difference_step = 1e-3};
  const auto update = [&] { engine.meta_step(w, batches, options, 1e-3, nullptr); };
  update();  // warm
  start.arrive_and_wait();
  std::vector<double> wall;
  std::vector<double> processor;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point before = Clock::now();
    const double processor_before = processor_seconds();
    update();
    processor.push_back(processor_seconds() - processor_before);
    wall.push_back(seconds_since(before));
  } while (seconds_since(begin) < seconds || wall.size() < fewest_updates);
  return {.wall = median(wall), .processor = median(processor)};
}

// Seconds in which all threads together make one update.
Seconds update_seconds(const Cell& cell, double seconds) {
  const Network<float> network(architectures().find(cell.network)->second);
  std::barrier start(static_cast<std::ptrdiff_t>(cell.threads));
  std::vector<Seconds> medians(cell.threads);
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < cell.threads; ++t) {
    others.emplace_back([&, t] { medians[t] = worker_seconds(cell, network, t, seconds, start); });
  }
  medians[0] = worker_seconds(cell, network, 0, seconds, start);
  others.clear();
  Seconds rates;
  for (const Seconds& each : medians) {
    rates.wall += 1.0 / each.wall;
    rates.processor += 1.0 / each.processor;
  }
  return {.wall = 1.0 / rates.wall, .processor = 1.0 / rates.processor};
}

// Operations a second of OpenBLAS, loaded at run time so that nothing else depends on it; nothing if it is
// not there.
std::optional<double> peak() {
  constexpr int size = 2048;
  constexpr int row_major = 101;
  constexpr int no_transpose = 111;
  using Sgemm =
      void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  static void* const library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) {
    return std::nullopt;
  }
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  if (sgemm == nullptr) {
    return std::nullopt;
  }
  constexpr std::size_t count = std::size_t{size} * size;
  std::vector<float> a(count, 0.5F);
  std::vector<float> b(count, 0.25F);
  std::vector<float> c(count);
  double best = 1e300;
  for (int i = 0; i < 4; ++i) {
    const double start = processor_seconds();
    sgemm(row_major, no_transpose, no_transpose, size, size, size, 1.0F, a.data(), size, b.data(), size, 0.0F,
          c.data(), size);
    best = std::min(best, processor_seconds() - start);
  }
  return 2.0 * size * size * size / best;
}

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0) {
    return std::nullopt;
  }
  return value;
}

std::optional<Cell> parse_cell(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(',');
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (parts.size() < 3 || parts.size() > 4 || !architectures().contains(parts[0])) {
    return std::nullopt;
  }
  const std::optional<std::size_t> batch = whole_number(parts[1]);
  const std::optional<std::size_t> threads = whole_number(parts.size() == 4 ? parts[3] : "1");
  const auto* const kind = std::find(kind_names.begin(), kind_names.end(), parts[2]);
  if (!batch || !threads || kind == kind_names.end()) {
    return std::nullopt;
  }
  return Cell{.network = std::string(parts[0]),
              .batch = *batch,
              .kind = static_cast<MetaGradient>(kind - kind_names.begin()),
              .threads = *threads};
}

// False if there is no such cell.
bool measure(std::string_view text, double seconds) {
  if (text == "peak") {
    const std::optional<double> operations = peak();
    fmt::print("{{\"cell\": \"peak\", \"operations_per_second\": {}}}\n",
               operations ? fmt::format("{:.4g}", *operations) : "null");
  } else {
    const std::optional<Cell> cell = parse_cell(text);
    if (!cell) {
      fmt::print(
          stderr,
          "no such cell: {}; there are M, Ms2, C, R,BATCH,first_order, hessian_free, exact[,THREADS]\n",
          text);
      return false;
    }
    const Architecture& architecture = architectures().find(cell->network)->second;
    const Seconds median = update_seconds(*cell, seconds);
    fmt::print(
        "{{\"cell\": \"{}\", \"seconds\": {:.6g}, \"processor_seconds\": {:.6g}, \"operations_per_update\": "
        "{:.6g}, \"executed_per_update\": {:.6g}}}\n",
        text, median.wall, median.processor, update_operations(architecture, cell->kind, cell->batch),
        executed_operations(architecture, cell->kind, cell->batch));
  }
  std::fflush(stdout);
  return true;
}

}  // namespace
}  // namespace skein::nn

int main(int argc, char** argv) {
  std::vector<std::string> cells(argv + 1, argv + argc);
  double seconds = 1.0;
  if (cells.size() >= 2 && cells[0] == "--seconds") {
    seconds = std::strtod(cells[1].c_str(), nullptr);
    cells.erase(cells.begin(), cells.begin() + 2);
  }
  bool all_known = true;
  for (const std::string& cell : cells) {
    all_known = skein::nn::measure(cell, seconds) && all_known;
  }
  for (std::string line; cells.empty() && std::getline(std::cin, line);) {
    all_known = skein::nn::measure(line, seconds) && all_known;
  }
  return all_known ? 0 : 2;
}
