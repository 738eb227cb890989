#include "store/rejected_record.h"

#include <array>
#include <utility>

#include "store/headers_codec.h"

namespace hookonce {

namespace {

constexpr char kVersion = 1;

void put_number(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift & 0xff));
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

// Reads in the same order; what is not there reads as nothing, and whole() says so at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (const char c : take(8)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      short_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  std::string text() { return std::string(take(number())); }
  bool whole() const { return !short_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool short_ = false;
};

}  // namespace

std::string encode_rejected(const RejectedRequest& request) {
  std::string out(1, kVersion);
  out.reserve(static_cast<std::size_t>(request.size()) + 256);
  out.append(reinterpret_cast<const char*>(request.id.bytes().data()), request.id.bytes().size());
  put_number(out, static_cast<std::uint64_t>(request.first_at.time_since_epoch().count()));
  out.push_back(request.tls ? 1 : 0);
  for (const std::string* text : {&request.source, &request.code, &request.reason, &request.remote, &request.peer,
                                  &request.path, &request.query}) {
    put_text(out, *text);
  }
  put_text(out, encode_headers(request.headers));
  put_text(out, request.body);
  return out;
}

Result<RejectedRequest> decode_rejected(std::string_view bytes) {
  const Status broken = internal("a rejected request is not as it was written");
  if (bytes.empty() || bytes.front() != kVersion) return broken;
  Reader reader(bytes.substr(1));
  RejectedRequest request;
  EventId::Bytes id{};
  reader.take(id.size()).copy(reinterpret_cast<char*>(id.data()), id.size());
  request.id = EventId(id);
  request.first_at = Time(Duration(static_cast<std::int64_t>(reader.number())));
  request.last_at = request.first_at;
  request.tls = reader.take(1) == std::string_view("\x01", 1);
  for (std::string* text : {&request.source, &request.code, &request.reason, &request.remote, &request.peer,
                            &request.path, &request.query}) {
    *text = reader.text();
  }
  const std::string headers = reader.text();
  request.body = reader.text();
  if (!reader.whole()) return broken;
  HK_ASSIGN(request.headers, decode_headers(headers));
  return request;
}

}  // namespace hookonce
