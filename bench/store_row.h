// What one accepted event leaves in a shared store, as values: what `./x bench stores` has a bare client write.
//
// Sizes and contents are those that a gateway makes of the load generator's requests. Nothing is hashed or signed for
// them: a dedup key is as random as a hash and costs nothing, so that all work left is the store's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "bench/load_event.h"

namespace hookonce {

inline constexpr std::string_view kRowSource = "stripe";
inline constexpr std::string_view kRowType = "invoice.paid";
inline constexpr std::string_view kRowDestination = "backend";
inline constexpr std::string_view kRowRemote = "127.0.0.1";
inline constexpr std::chrono::hours kRowWindow{30 * 24};

struct StoreRow {
  std::array<std::uint8_t, 16> key{};        // the same for every row of an event's number
  std::array<std::uint8_t, 16> id{};         // a UUIDv7, new for every row
  std::array<std::uint8_t, 16> body_hash{};  // likewise random
  std::string provider_id;
  std::string body;
};

class StoreRows {
 public:
  StoreRows();
  // The row of event `number`, accepted `now`.
  StoreRow make(std::uint64_t number, Time now);
  // Headers as they are stored: each name and value with its length before it.
  static std::string headers();

 private:
  std::uint64_t next_random();

  LoadBody body_;
  std::uint64_t seed_ = 0;
  std::uint64_t drawn_ = 0;
};

}  // namespace hookonce
