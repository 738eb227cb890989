// What ingest and dispatch tell as it happens, told on to the live stream and to whoever else observes.
#pragma once

#include <optional>
#include <string>

#include "admin/live_hub.h"
#include "app/rejected_keeper.h"
#include "dispatch/pool.h"
#include "ingest/ingest.h"

namespace hookonce {

class LiveFeed final : public Ingest::Observer, public DeliveryPool::Observer {
 public:
  // REQUIRES: all outlive this. The observers may be null.
  LiveFeed(LiveHub& hub, Ingest::Observer* ingest, DeliveryPool::Observer* delivery)
      : hub_(hub), ingest_(ingest), delivery_(delivery) {}

  // Where rejected requests go; null, as at first: nowhere. Before ingest begins.
  void set_keeper(RejectedKeeper* keeper) { keeper_ = keeper; }

  void arrived(const Ingest::Arrived& arrived) override;
  void rejected(const std::string& source, const std::string& code, const std::string& message) override;
  void explained(const std::string& source, const std::string& reason) override;
  void misdirected(const std::string& method, const std::string& path) override;
  void keep(RejectedRequest request) override;
  void settled(const Lease& lease, const Settlement& settlement, const SettleFacts& facts) override;
  void buried(const DeadDelivery& dead) override;

 private:
  LiveHub& hub_;
  Ingest::Observer* const ingest_;
  DeliveryPool::Observer* const delivery_;
  RejectedKeeper* keeper_ = nullptr;
};

}  // namespace hookonce
