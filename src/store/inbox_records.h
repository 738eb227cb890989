// The side of a store from which its inbox is copied: whole records out, in the order of acceptance, and whole records
// in. Store::records() gives it.
//
//   HK_ASSIGN(const auto reader, source.records()->read(0, as_of));
//   HK_ASSIGN(const auto records, reader->next());
//   HK_TRY(target.records()->write(records, mark));
//
// For while no gateway runs on either store. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/inbox_record.h"

namespace hookonce {

// What one call hands over is a transaction of the target: enough to make it worth its sync, and no more than fits into
// memory several times.
inline constexpr int kCopiedRecords = 500;
inline constexpr std::size_t kCopiedBytes = 8u << 20;  // of bodies; one record more than that goes alone

// How far a copy into a store has come. It stays in the store until the copy is whole, and no gateway serves a store
// that has one.
struct CopyMark {
  std::string from;           // the store that is copied, without a password
  std::int64_t position = 0;  // of the last record written, in that store
  EventId last;               // its event
  std::int64_t records = 0;   // written so far
};

// What a store is opened for. Serving: a copy that is not finished is refused (kPrecondition). Copying: nothing changes
// by it, deliveries in flight keep their leases, and a store to copy from must exist.
enum class OpenFor { kServing, kCopyingFrom, kCopyingInto };

class InboxReader {
 public:
  virtual ~InboxReader() = default;
  // The next records, at most kCopiedRecords; none at the end.
  virtual Result<std::vector<InboxRecord>> next() = 0;
};

class InboxRecords {
 public:
  virtual ~InboxRecords() = default;

  // The records behind a position (0: all). A key is held where its window lasts beyond `as_of`; a pruned event without
  // such a key is no record. The store outlives the reader.
  virtual Result<std::unique_ptr<InboxReader>> read(std::int64_t after, Time as_of) = 0;

  // Puts the records behind all that are here, in their order, and sets the mark. A record whose event is here already
  // stays as it is. All in one transaction, durable on return; where a backend needs several, the mark is the last of
  // them. REQUIRES: read from another store, 1 <= size.
  virtual Status write(std::span<const InboxRecord> records, const CopyMark& mark) = 0;

  virtual Result<std::optional<CopyMark>> mark() = 0;
  virtual Status remove_mark() = 0;
};

}  // namespace hookonce
