// Who wants to know how much of long work is done: anything that can be called with a share from 0 to 1.
// Refers to it, and is handed down while the work lasts, not kept.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

namespace skein {

class FractionListener {
 public:
  FractionListener() = default;  // nobody
  template <class Listener>
  requires(!std::same_as<std::remove_cvref_t<Listener>, FractionListener> &&
           std::invocable<Listener&, double>)
      FractionListener(Listener&& listener)  // NOLINT: a lambda is passed as it is
      : listener_(const_cast<void*>(static_cast<const void*>(std::addressof(listener)))),
        call_([](void* to, double share) { (*static_cast<std::remove_reference_t<Listener>*>(to))(share); }) {
  }

  void operator()(double share) const {
    if (call_ != nullptr) {
      call_(listener_, share);
    }
  }

 private:
  void* listener_ = nullptr;
  void (*call_)(void*, double) = nullptr;
};

}  // namespace skein
