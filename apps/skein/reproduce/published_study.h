// The runs of the learning study: HN-PFL, H-FL and the control, for all periods and seeds, in the published
// setting or in that of the paper's text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/skein/reproduce/reproduce.h"
#include "skein/learning/curve.h"

namespace skein::app {

struct Periods {
  std::size_t local = 1;   // tau_L
  std::size_t global = 1;  // tau_G
};
std::vector<Periods> wanted_periods(const ReproduceOptions& options);

struct Method {
  std::string name;       // of its runs
  std::string title;      // of its curves
  std::string published;  // the published curves' name for it
  std::string colour;
  std::vector<std::string> settings;
};

const Method& hn_pfl();
const Method& h_fl();
// What the paper's comparison lacks: H-FL with the step size that HN-PFL has.
Method control(const Scenario& base);

struct Runs {
  std::vector<std::filesystem::path> places{};  // one per seed, without those that diverged
  std::size_t seeds = 0;                        // of all

  void add(const std::filesystem::path& place);
  [[nodiscard]] bool diverged() const { return places.empty(); }
  [[nodiscard]] std::vector<Curve> curves(std::string_view column) const;
  // Empty if all have diverged.
  [[nodiscard]] Curve mean(std::string_view column) const;
  [[nodiscard]] std::vector<double> last(std::string_view column) const;
};

class PublishedStudy {
 public:
  // kind: published, or text
  PublishedStudy(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& kept,
                 std::string kind);

  // level: each run ends where it reaches that of the energy table, but is whole where a whole one is kept.
  enum class Until { end, level };
  [[nodiscard]] Runs run(const Method& method, const Periods& periods, std::size_t seeds,
                         Until until = Until::end) const;
  [[nodiscard]] std::size_t seeds_at(const Periods& periods) const;

  [[nodiscard]] std::optional<Curve> published(const Method& method, const Periods& periods,
                                               const std::string& quantity,
                                               const std::string& metric = "global") const;

  [[nodiscard]] bool is_published() const { return kind_ == "published"; }
  [[nodiscard]] const Scenario& base() const { return base_; }
  [[nodiscard]] const LearningStudy& study() const { return study_; }
  [[nodiscard]] KeptRuns& kept() const { return kept_; }

 private:
  [[nodiscard]] Scenario load(const Periods& periods, const std::vector<std::string>& settings,
                              std::size_t seed) const;
  [[nodiscard]] Scenario scenario(const Method& method, const Periods& periods, std::size_t seed) const;
  // The model that the published runs start from, where it is not PyTorch's default; trained once for each
  // seed. Its place names its scenario, so that runs from another starter are other runs.
  [[nodiscard]] std::filesystem::path starter(std::size_t seed) const;

  const LearningStudy& study_;
  const ReproduceOptions& options_;
  KeptRuns& kept_;
  std::string kind_;
  std::filesystem::path file_;
  std::filesystem::path starter_file_;
  Scenario base_;
  PublishedCurves published_;
};

}  // namespace skein::app
