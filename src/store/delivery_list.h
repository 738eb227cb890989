// What the list of deliveries means, for every backend: filter, rows, and the cursor.
//
// Deliveries go by their events, newest first, and within an event by name. A backend walks events downwards, hands
// each with its deliveries to add_rows(), and stops when the page is full.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/delivery_record.h"
#include "store/store.h"

namespace hookonce {

// Where a list goes on: behind the delivery `after` of the event `seq`, or below `seq` where it names none.
struct DeliveryPlaceInList {
  std::int64_t seq = 0;
  std::optional<std::string> after;

  // Events below this may have rows.
  std::int64_t below() const { return after ? seq + 1 : seq; }
  bool is_behind(std::int64_t of_seq, const std::string& destination) const {
    return of_seq < seq || (after && of_seq == seq && *after < destination);
  }
};

std::string format_delivery_cursor(const DeliveryPlaceInList& place);
// The newest end without a cursor. kInvalid for text that is none.
Result<DeliveryPlaceInList> parse_delivery_cursor(const std::optional<std::string>& cursor);

struct ListedDelivery {
  std::int64_t seq = 0;
  DeliverySummary row;
};

// A page that is being filled, by one delivery more than is asked for: that one shows whether there is a next page.
struct DeliveryList {
  DeliveryFilter filter;
  std::size_t limit = 0;
  DeliveryPlaceInList place;         // moves on
  std::optional<Time> looked_until;  // DeliveryPage::searched_until where the page is neither full nor the last

  std::vector<ListedDelivery> found;
  bool is_full() const { return found.size() > limit; }
};

// Without what its last attempt said. Of the summary, the state does not matter.
DeliverySummary row_of(const EventSummary& event, const std::string& destination, const DeliveryRecord& record);
// All but the source.
bool matches(const DeliveryFilter& filter, const std::string& destination, DeliveryState state);

// Adds the rows of one event that match, and moves the place behind it, or behind the row that filled the page. What
// the last attempts said is the caller's to add.
void add_rows(DeliveryList& list, std::int64_t seq, const EventSummary& event,
              std::vector<std::pair<std::string, DeliveryRecord>> deliveries);

// `exhausted`: nothing further is there, full or not.
DeliveryPage page_of(DeliveryList list, bool exhausted);

}  // namespace hookonce
