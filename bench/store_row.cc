#include "bench/store_row.h"

#include "base/random.h"

namespace hookonce {
namespace {

// SplitMix64: neighbours in, unrelated numbers out.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

void put(std::array<std::uint8_t, 16>& bytes, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 8; i-- > 0; value >>= 8) bytes[at + i] = static_cast<std::uint8_t>(value & 0xff);
}

void append_sized(std::string& out, std::string_view text) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>((text.size() >> shift) & 0xff));
  out.append(text);
}

}  // namespace

StoreRows::StoreRows() {
  std::array<std::uint8_t, 8> bytes{};
  fill_random(bytes);
  for (const std::uint8_t byte : bytes) seed_ = seed_ << 8 | byte;
}

std::uint64_t StoreRows::next_random() {
  return mix(seed_ ^ mix(++drawn_));
}

StoreRow StoreRows::make(std::uint64_t number, Time now) {
  StoreRow row;
  put(row.key, 0, mix(seed_ + 2 * number));
  put(row.key, 8, mix(seed_ + 2 * number + 1));
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  constexpr std::uint64_t kVersion7 = 0x7000;
  put(row.id, 0, static_cast<std::uint64_t>(milliseconds) << 16 | kVersion7 | (next_random() & 0xfff));
  put(row.id, 8, (next_random() >> 2) | std::uint64_t{1} << 63);  // the variant's two bits
  put(row.body_hash, 0, next_random());
  put(row.body_hash, 8, next_random());
  row.body = body_.of(number);
  row.provider_id = body_.id();
  return row;
}

std::string StoreRows::headers() {
  std::string out;
  for (const auto& [name, value] :
       {std::pair<std::string_view, std::string_view>{"Host", "127.0.0.1:40000"},
        {"User-Agent", "hookonce-bench"},
        {"Content-Type", "application/json; charset=utf-8"},
        {"Content-Length", "1536"},
        {"Stripe-Signature", "t=1767323045,v1=0000000000000000000000000000000000000000000000000000000000000000"}}) {
    append_sized(out, name);
    append_sized(out, value);
  }
  return out;
}

}  // namespace hookonce
