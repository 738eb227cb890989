// Values on their way to and from PostgreSQL in its binary form: parameters, arrays of them, and the fields of a
// result.
//
//   PostgresColumn keys(PostgresType::kUuid);
//   for (const KeyHash& key : event.keys) keys.add(key);
//   PostgresParameters parameters;
//   parameters.add_column(std::move(keys)).add_time(now);
//
// Binary, because bodies, keys and names are bytes: nothing is quoted, escaped or parsed on the way, and a batch is one
// array per column.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

struct pg_result;

namespace hookonce {

using Bytes16 = std::array<std::uint8_t, 16>;

// The numbers are those of the server's catalogue (pg_type), the same in every version.
enum class PostgresType : std::uint32_t {
  kBool = 16,
  kBytea = 17,
  kBigint = 20,
  kInteger = 23,
  kText = 25,
  kTimestamp = 1184,  // with time zone
  kUuid = 2950,
};

// One column of a batch: an array of one type, in which NULL may stand.
class PostgresColumn {
 public:
  explicit PostgresColumn(PostgresType type);

  // Each appends one element. REQUIRES: of the column's type.
  void add(std::string_view bytes);
  void add(const std::optional<std::string>& bytes);
  void add(const Bytes16& uuid);
  void add(std::int64_t number);  // bigint
  void add(int number);           // integer
  void add(bool flag);
  void add(Time time);
  void add(std::optional<Time> time);
  void add_null();

  std::size_t size() const { return size_; }

 private:
  friend class PostgresParameters;
  std::string finish() &&;

  PostgresType type_;
  std::int32_t size_ = 0;
  bool has_null_ = false;
  std::string bytes_;  // the array's head, then the elements
};

class PostgresParameters {
 public:
  PostgresParameters& add_bytes(std::string_view bytes);
  PostgresParameters& add_bytes(const std::optional<std::string>& bytes);
  PostgresParameters& add_text(std::string_view text);  // REQUIRES: ASCII
  PostgresParameters& add_uuid(const Bytes16& uuid);
  PostgresParameters& add_bigint(std::int64_t number);
  PostgresParameters& add_bigint(std::optional<std::int64_t> number);
  PostgresParameters& add_time(std::optional<Time> time);
  PostgresParameters& add_column(PostgresColumn column);
  PostgresParameters& add(const PostgresParameters& more);

  struct Value {
    std::uint32_t type = 0;
    std::optional<std::string> bytes;
  };
  const std::vector<Value>& values() const { return values_; }

 private:
  PostgresParameters& add(PostgresType type, std::optional<std::string> bytes);
  std::vector<Value> values_;
};

// What one statement answered. REQUIRES, for every reading: the row and the column exist, the column is of that type
// and (but for the optional ones) not NULL.
class PostgresResult {
 public:
  PostgresResult() = default;
  explicit PostgresResult(pg_result* result);  // takes it over

  int rows() const;
  bool is_null(int row, int column) const;
  std::string_view bytes(int row, int column) const;  // valid while this lives
  std::optional<std::string> optional_bytes(int row, int column) const;
  Bytes16 uuid(int row, int column) const;
  std::int64_t bigint(int row, int column) const;
  int integer(int row, int column) const;
  bool flag(int row, int column) const;
  Time time(int row, int column) const;
  std::optional<Time> optional_time(int row, int column) const;
  std::int64_t rows_changed() const;  // by an INSERT, UPDATE or DELETE
  bool is_commit() const;             // the answer to a COMMIT that committed

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

}  // namespace hookonce
