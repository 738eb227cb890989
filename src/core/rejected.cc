#include "core/rejected.h"

#include "core/dedup.h"

namespace hookonce {

std::int64_t RejectedRequest::size() const {
  std::size_t bytes = body.size() + path.size() + query.size() + reason.size();
  for (const Header& header : headers.items()) bytes += header.name.size() + header.value.size();
  return static_cast<std::int64_t>(bytes);
}

KeyHash digest_of(const RejectedRequest& request) {
  std::vector<std::string> parts{request.source, request.code, request.path, request.query, request.body};
  for (const Header& header : request.headers.items()) {
    parts.push_back(header.name);
    parts.push_back(header.value);
  }
  return key_hash("rejected", parts);
}

}  // namespace hookonce
