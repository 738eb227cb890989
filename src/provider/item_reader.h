// Reads the items of a batch: the elements of one array in the body, and the dedup key of each.
#pragma once

#include <string>
#include <vector>

#include "core/fields.h"
#include "provider/provider.h"

namespace hookonce {

// Immutable; read() may run on several threads.
class ItemReader {
 public:
  // `pointer` leads to the array; `key` is what identifies an item, read within each (empty: nothing does).
  // REQUIRES: every spec of `key` is a kJson.
  ItemReader(std::string pointer, const std::vector<FieldSpec>& key);

  // Fills identity.items. A body that is not JSON, or has more than kItemsMax items, goes into identity.body.
  void read(const HttpRequest& request, Identity& identity) const;

 private:
  const std::string pointer_;
  const std::size_t key_parts_;
  const JsonScanner whole_;
  const JsonScanner key_;
};

}  // namespace hookonce
