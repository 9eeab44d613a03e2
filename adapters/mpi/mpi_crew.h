// The processes that mpirun or srun has started, as a crew.
//
// A process that fails tells the first one, which prints the fault and lets all of them go; so there is one
// message, and nobody waits for someone who has left. A process that is killed is MPI's business: mpirun ends
// the others.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "skein/base/crew.h"

namespace skein {

// Whether this process was started as one of several; without MPI being touched.
bool started_by_mpi();

class MpiCrew final : public Crew {
 public:
  // Throws InputError where processes were started together but cannot talk.
  MpiCrew(int& argc, char**& argv);
  ~MpiCrew() override;

  [[nodiscard]] std::size_t rank() const override { return rank_; }
  [[nodiscard]] std::size_t size() const override { return size_; }
  void send(std::size_t to, std::string_view bytes) override;
  std::string receive(std::size_t from) override;
  std::optional<Message> poll() override;

  // The last call of every process: all leave together. With what it has failed with, if so; true if that
  // remains to be told, which is for the first process. `exit_code` is for those who don't listen any more.
  bool leave(const std::exception_ptr& failure, int exit_code);

 private:
  std::size_t rank_ = 0;
  std::size_t size_ = 1;
};

}  // namespace skein
