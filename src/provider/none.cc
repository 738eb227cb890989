// No verification at all: for senders that sign nothing, behind something else that keeps strangers out.
#include <utility>

#include "provider/plain_identity.h"
#include "provider/provider.h"
#include "provider/sample_text.h"

namespace hookonce {
namespace {

class BoundNone final : public BoundProvider {
 public:
  explicit BoundNone(const BindSettings& settings) : identity_(settings) {}
  Verification verify(const HttpRequest&, Time) const override { return {}; }
  Identity identify(const HttpRequest& request) const override { return identity_.read(request); }

 private:
  PlainIdentity identity_;
};

class None final : public Provider {
 public:
  const ProviderTraits& traits() const override {
    static const ProviderTraits traits = [] {
      ProviderTraits t;
      t.name = "none";
      t.ack_deadline = std::chrono::seconds(2);
      t.needs_secret = false;
      t.takes_items = true;
      return t;
    }();
    return traits;
  }

  Result<std::unique_ptr<const BoundProvider>> bind(const BindSettings& settings) const override {
    return std::unique_ptr<const BoundProvider>(std::make_unique<BoundNone>(settings));
  }

  std::string sample_id(std::string_view seed) const override { return "evt_" + seeded_text(seed, 24); }

  Result<SampleMessage> sample(const SampleRequest&, std::string_view, Time) const override {
    return invalid("nothing is signed here; send such requests with any HTTP client");
  }

  std::optional<std::string> event_id(const HttpRequest&) const override { return std::nullopt; }
};

}  // namespace

const Provider& none_provider() {
  static const None provider;
  return provider;
}

}  // namespace hookonce
