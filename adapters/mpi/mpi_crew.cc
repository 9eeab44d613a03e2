#include "adapters/mpi/mpi_crew.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "skein/base/bytes.h"
#include "skein/base/expect.h"
#include "skein/base/input_fault.h"
#include "skein/learning/trainer.h"
#include "skein/simulation/fleet_bytes.h"

namespace skein {
namespace {

using Clock = std::chrono::steady_clock;

// What a message is: part of the work, "I have failed", "leave", "I have left".
enum Tag { work = 1, failed, go, gone };

// Counts of MPI are ints: longer messages go in pieces.
constexpr std::size_t largest_piece = std::size_t{1} << 28U;
// For those who are told to leave while they compute.
constexpr auto patience_with_others = std::chrono::seconds(5);

// Thrown in a process that was told to leave.
struct ToldToLeave {};

// Waiting without taking a core from those who work: MPI's own calls would spin.
class Waiting {
 public:
  void operator()() {
    if (++rounds_ < 200) {
      ::sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(rounds_ < 2000 ? 20 : 200));
    }
  }

 private:
  int rounds_ = 0;
};

void wait(MPI_Request& request) {
  Waiting waiting;
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;) {
    waiting();
  }
}

void send_message(std::size_t to, Tag tag, std::string_view bytes) {
  std::uint64_t size = bytes.size();
  MPI_Request request{};
  MPI_Isend(&size, sizeof(size), MPI_BYTE, static_cast<int>(to), tag, MPI_COMM_WORLD, &request);
  wait(request);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, largest_piece);
    MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, static_cast<int>(to), tag,
              MPI_COMM_WORLD, &request);
    wait(request);
    bytes.remove_prefix(piece.size());
  }
}

struct Arrival {
  std::size_t from = 0;
  Tag tag = work;
};

std::optional<Arrival> waiting_message(int from, int tag) {
  int there = 0;
  MPI_Status status{};
  MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) {
    return std::nullopt;
  }
  return Arrival{static_cast<std::size_t>(status.MPI_SOURCE), static_cast<Tag>(status.MPI_TAG)};
}

std::string read_message(const Arrival& arrival) {
  std::uint64_t size = 0;
  const auto read = [&](void* to, std::size_t count) {
    MPI_Request request{};
    MPI_Irecv(to, static_cast<int>(count), MPI_BYTE, static_cast<int>(arrival.from), arrival.tag,
              MPI_COMM_WORLD, &request);
    wait(request);
  };
  read(&size, sizeof(size));
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size; at += largest_piece) {
    read(bytes.data() + at, std::min(largest_piece, size - at));
  }
  return bytes;
}

std::string host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

enum class Failure : std::uint8_t { input, divergence, other };

std::string failure_bytes(const std::exception_ptr& failure) {
  ByteWriter bytes;
  try {
    std::rethrow_exception(failure);
  } catch (const InputError& error) {
    bytes.put(Failure::input);
    bytes.put_text(host());
    bytes.put<std::uint64_t>(error.faults().size());
    for (const InputFault& fault : error.faults()) {
      for (const std::string& part : {fault.file, fault.key, fault.value, fault.message}) {
        bytes.put_text(part);
      }
    }
  } catch (const Divergence& error) {
    bytes.put(Failure::divergence);
    bytes.put_text(host());
    put_divergence(bytes, error.place());
  } catch (const std::exception& error) {
    bytes.put(Failure::other);
    bytes.put_text(host());
    bytes.put_text(error.what());
  }
  return bytes.take();
}

[[noreturn]] void throw_failure(std::size_t rank, const std::string& text) {
  ByteCursor bytes(text);
  const auto failure = bytes.get<Failure>();
  const std::string whose = fmt::format("process {} on {}", rank, bytes.get_text());
  if (failure == Failure::input) {
    std::vector<InputFault> faults(bytes.get<std::uint64_t>());
    for (InputFault& fault : faults) {
      for (std::string* part : {&fault.file, &fault.key, &fault.value, &fault.message}) {
        *part = bytes.get_text();
      }
      fault.message += fmt::format(" ({})", whose);
    }
    throw InputError(std::move(faults));
  }
  if (failure == Failure::divergence) {
    throw Divergence(get_divergence(bytes));
  }
  throw std::runtime_error(fmt::format("{}: {}", whose, bytes.get_text()));
}

bool told_to_leave(const std::exception_ptr& failure) {
  try {
    if (failure) {
      std::rethrow_exception(failure);
    }
  } catch (const ToldToLeave&) {
    return true;
  } catch (...) {
  }
  return false;
}

}  // namespace

bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && std::atoi(value) > 1) {
      return true;
    }
  }
  return false;
}

MpiCrew::MpiCrew(int& argc, char**& argv) {
  // A thread of the first process may hand out work while another computes; they don't call at once.
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank_ = static_cast<std::size_t>(rank);
  size_ = static_cast<std::size_t>(size);
  if (size == 1 || provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    throw InputError(InputFault{.key = "MPI",
                                .message =
                                    "several processes were started together, but this MPI library does not "
                                    "connect them: start them with its own mpirun, or with srun --mpi=pmix"});
  }
}

MpiCrew::~MpiCrew() = default;

void MpiCrew::send(std::size_t to, std::string_view bytes) {
  expect(to < size_ && to != rank_ && (to == 0 || rank_ == 0), "messages go from or to the first process");
  send_message(to, work, bytes);
}

std::string MpiCrew::receive(std::size_t from) {
  Waiting waiting;
  while (true) {
    if (is_first()) {
      if (const auto arrival = waiting_message(MPI_ANY_SOURCE, failed)) {
        throw_failure(arrival->from, read_message(*arrival));
      }
    } else if (waiting_message(0, go)) {
      throw ToldToLeave();
    }
    if (const auto arrival = waiting_message(static_cast<int>(from), work)) {
      return read_message(*arrival);
    }
    waiting();
  }
}

std::optional<Crew::Message> MpiCrew::poll() {
  if (const auto arrival = waiting_message(MPI_ANY_SOURCE, failed)) {
    throw_failure(arrival->from, read_message(*arrival));
  }
  if (const auto arrival = waiting_message(MPI_ANY_SOURCE, work)) {
    return Message{arrival->from, read_message(*arrival)};
  }
  return std::nullopt;
}

bool MpiCrew::leave(const std::exception_ptr& failure, int exit_code) {
  const bool sent_away = told_to_leave(failure);
  if (!is_first()) {
    if (failure && !sent_away) {
      send_message(0, failed, failure_bytes(failure));
    }
    // Whatever is still sent is read, so that its sender gets on.
    Waiting waiting;
    for (bool left = false; !left; waiting()) {
      if (const auto arrival = waiting_message(0, MPI_ANY_TAG)) {
        read_message(*arrival);
        left = arrival->tag == go;
      }
    }
    send_message(0, gone, "");
    MPI_Finalize();
    return false;
  }
  for (std::size_t rank = 1; rank < size_; ++rank) {
    send_message(rank, go, "");
  }
  const Clock::time_point start = Clock::now();
  Waiting waiting;
  for (std::size_t left = size_ - 1; left > 0; waiting()) {
    if (const auto arrival = waiting_message(MPI_ANY_SOURCE, MPI_ANY_TAG)) {
      read_message(*arrival);
      left -= arrival->tag == gone ? 1 : 0;
    } else if (failure && Clock::now() - start > patience_with_others) {
      MPI_Abort(MPI_COMM_WORLD, exit_code);
    }
  }
  MPI_Finalize();
  return failure != nullptr;
}

}  // namespace skein
