// Deliveries and attempts as rows: reading and writing DeliveryRecords, no decisions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/delivery_record.h"
#include "store/sqlite_database.h"

namespace hookonce {

// Which delivery: sequence number of its event, number of its destination's name.
struct DeliveryPlace {
  std::int64_t seq = 0;
  std::int64_t destination = 0;
};

struct PlacedDelivery {
  DeliveryPlace place;
  DeliveryRecord record;
};

class SqliteDeliveries {
 public:
  Status prepare(Database& database);

  Result<std::optional<DeliveryRecord>> find(DeliveryPlace place);
  Result<std::vector<PlacedDelivery>> of_event(std::int64_t seq);
  Result<EventState> event_state(std::int64_t seq);
  Result<std::vector<Attempt>> attempts(DeliveryPlace place);  // oldest first

  // Does nothing where the event has a delivery there. REQUIRES, as for all below: within a write transaction.
  Status insert(DeliveryPlace place, const DeliveryRecord& record);
  Status save(DeliveryPlace place, const DeliveryRecord& record);
  // Replaces an attempt of the same number; the newest kAttemptsShown stay.
  Status record_attempt(DeliveryPlace place, const Attempt& attempt);
  // Only where the attempt is shown with the outcome unknown.
  Status correct_unknown(DeliveryPlace place, const Attempt& attempt);
  Status remove_of_event(std::int64_t seq);

 private:
  Statement find_;
  Statement of_event_;
  Statement event_state_;
  Statement attempts_;
  Statement insert_;
  Statement save_;
  Statement record_attempt_;
  Statement trim_attempts_;
  Statement correct_unknown_;
  Statement remove_deliveries_;
  Statement remove_attempts_;
};

}  // namespace hookonce
