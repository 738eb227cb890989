#include "ingest/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "ingest/rewriting.h"

namespace hookonce {

namespace {

constexpr std::size_t kOfOneTry = 512;  // what a try costs beside hashing the body, in bytes

// So many time stamps of a source say which clock is wrong; a few may all be of one old request.
constexpr std::size_t kStampsMin = 5;

class Allowance {
 public:
  // Whether the body may be verified once more.
  bool take(const IngestSource& source, std::size_t body) {
    const std::size_t cost = (body + kOfOneTry) * std::max<std::size_t>(source.config->secrets.size(), 1);
    if (cost > left_) return false;
    left_ -= cost;
    return true;
  }

 private:
  std::size_t left_ = kDiagnosisBytesMax;
};

bool verifies(const IngestSource& source, const HttpRequest& request) {
  return is_signed_rightly(source.provider->verify(request, request.wall_at).reason);
}

std::optional<std::string> of_other_source(const SourceTable& table, const IngestSource& source,
                                           const HttpRequest& request, Allowance& allowance) {
  for (const auto& [path, other] : table.all()) {
    // Without secrets anything verifies, which proves nothing.
    if (&other == &source || other.config->secrets.empty()) continue;
    if (!allowance.take(other, request.body.size())) return std::nullopt;
    if (!verifies(other, request)) continue;
    return fmt::format(
        "it verifies with the secret of source \"{0}\": either the sender has the URL of this source in place of {1}, "
        "or the two secrets are mixed up in the configuration",
        other.config->name, to_utf8(other.config->path));
  }
  return std::nullopt;
}

std::optional<std::string> of_rewriting(const IngestSource& source, HttpRequest request, Allowance& allowance) {
  std::optional<std::string> found;
  const std::string body = std::move(request.body);
  for_each_rewriting(body, [&](const Rewriting& rewriting) {
    if (!allowance.take(source, rewriting.body.size())) return false;
    request.body = rewriting.body;
    if (!verifies(source, request)) return true;
    found = fmt::format(
        "the body was changed after signing: the signature fits {}. Something on the way (a proxy, a middleware) wrote "
        "it anew; let it pass the raw bytes on, and the sender send it again",
        rewriting.how);
    return false;
  });
  return found;
}

std::string distance_text(Duration distance) {
  return fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(std::chrono::abs(distance)).count());
}

// Of a right signature whose time stamp is out of tolerance.
std::optional<std::string> of_clocks(const IngestSource& source, const HttpRequest& request, Time stamp) {
  const Duration ahead = request.wall_at - stamp;  // this machine's clock
  const std::string own = fmt::format("the signature is right, and this machine's clock is {} {} its time stamp",
                                      distance_text(ahead), ahead < Duration::zero() ? "behind" : "ahead of");
  const ClockSkew& skew = source.counters->clock_skew;
  const auto median = skew.median();
  if (!median || skew.count() < kStampsMin) return own + "; check the clock, and whether a proxy holds requests back";
  if (std::chrono::abs(*median) > source.config->tolerance) {
    return own +
           "; most of this source's last time stamps are out of tolerance too, so probably this machine's clock "
           "is wrong: set it right";
  }
  return own +
         "; most of this source's last time stamps are not, so probably this request was held back on the way, "
         "or is an old one that was sent again";
}

}  // namespace

std::optional<std::string> diagnose(const SourceTable& table, const IngestSource& source, HttpRequest request) {
  Allowance allowance;
  if (!allowance.take(source, request.body.size())) return std::nullopt;
  const Verification own = source.provider->verify(request, request.wall_at);
  if (own.reason == Reason::kOk) return std::nullopt;
  if (is_signed_rightly(own.reason)) {
    if (!own.provider_time) return std::nullopt;
    return of_clocks(source, request, *own.provider_time);
  }
  if (auto other = of_other_source(table, source, request, allowance)) return other;
  if (own.reason != Reason::kSignatureMismatch) return std::nullopt;
  if (request.body.empty()) return own.message + "; the body arrived empty: perhaps something on the way dropped it";
  return of_rewriting(source, std::move(request), allowance);
}

}  // namespace hookonce
