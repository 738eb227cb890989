#include "store/postgres_values.h"

#include <libpq-fe.h>

#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace hookonce {

namespace {

// PostgreSQL counts microseconds from 2000-01-01.
constexpr Duration kEpoch = std::chrono::seconds(946'684'800);
constexpr std::size_t kArrayHead = 20;  // dimensions, has NULLs, element type, size, lower bound

std::uint32_t array_type(PostgresType element) {
  switch (element) {
    case PostgresType::kBool:
      return 1000;
    case PostgresType::kBytea:
      return 1001;
    case PostgresType::kBigint:
      return 1016;
    case PostgresType::kInteger:
      return 1007;
    case PostgresType::kText:
      return 1009;
    case PostgresType::kTimestamp:
      return 1185;
    case PostgresType::kUuid:
      return 2951;
  }
  HK_CHECK(false);
  return 0;
}

// Network byte order.
void put32(char* at, std::uint32_t number) {
  for (int i = 3; i >= 0; --i, number >>= 8) at[i] = static_cast<char>(number & 0xff);
}
void put64(char* at, std::uint64_t number) {
  for (int i = 7; i >= 0; --i, number >>= 8) at[i] = static_cast<char>(number & 0xff);
}
std::uint64_t read_number(const char* at, int bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | static_cast<std::uint8_t>(at[i]);
  return number;
}

// The end of time is the server's `infinity`.
std::uint64_t micros_of(Time time) {
  const Duration since = time.time_since_epoch();
  return static_cast<std::uint64_t>((time == Time::max() ? since : since - kEpoch).count());
}

std::string_view view_of(const Bytes16& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

PostgresColumn::PostgresColumn(PostgresType type) : type_(type), bytes_(kArrayHead, '\0') {}

void PostgresColumn::add(std::string_view bytes) {
  char length[4];
  put32(length, static_cast<std::uint32_t>(bytes.size()));
  bytes_.append(length, sizeof length);
  bytes_.append(bytes);
  ++size_;
}

void PostgresColumn::add(const std::optional<std::string>& bytes) {
  if (bytes) {
    add(std::string_view(*bytes));
  } else {
    add_null();
  }
}

void PostgresColumn::add(const Bytes16& uuid) {
  add(view_of(uuid));
}

void PostgresColumn::add(std::int64_t number) {
  char bytes[8];
  put64(bytes, static_cast<std::uint64_t>(number));
  add(std::string_view(bytes, sizeof bytes));
}

void PostgresColumn::add(int number) {
  char bytes[4];
  put32(bytes, static_cast<std::uint32_t>(number));
  add(std::string_view(bytes, sizeof bytes));
}

void PostgresColumn::add(bool flag) {
  const char byte = flag ? 1 : 0;
  add(std::string_view(&byte, 1));
}

void PostgresColumn::add(Time time) {
  add(static_cast<std::int64_t>(micros_of(time)));
}

void PostgresColumn::add(std::optional<Time> time) {
  if (time) {
    add(*time);
  } else {
    add_null();
  }
}

void PostgresColumn::add_null() {
  bytes_.append(4, '\xff');
  has_null_ = true;
  ++size_;
}

std::string PostgresColumn::finish() && {
  put32(bytes_.data(), 1);
  put32(bytes_.data() + 4, has_null_ ? 1 : 0);
  put32(bytes_.data() + 8, static_cast<std::uint32_t>(type_));
  put32(bytes_.data() + 12, static_cast<std::uint32_t>(size_));
  put32(bytes_.data() + 16, 1);
  return std::move(bytes_);
}

PostgresParameters& PostgresParameters::add(PostgresType type, std::optional<std::string> bytes) {
  values_.push_back({static_cast<std::uint32_t>(type), std::move(bytes)});
  return *this;
}

PostgresParameters& PostgresParameters::add_bytes(std::string_view bytes) {
  return add(PostgresType::kBytea, std::string(bytes));
}

PostgresParameters& PostgresParameters::add_bytes(const std::optional<std::string>& bytes) {
  return add(PostgresType::kBytea, bytes);
}

PostgresParameters& PostgresParameters::add_text(std::string_view text) {
  return add(PostgresType::kText, std::string(text));
}

PostgresParameters& PostgresParameters::add_uuid(const Bytes16& uuid) {
  return add(PostgresType::kUuid, std::string(view_of(uuid)));
}

PostgresParameters& PostgresParameters::add_bigint(std::int64_t number) {
  std::string bytes(8, '\0');
  put64(bytes.data(), static_cast<std::uint64_t>(number));
  return add(PostgresType::kBigint, std::move(bytes));
}

PostgresParameters& PostgresParameters::add_bigint(std::optional<std::int64_t> number) {
  return number ? add_bigint(*number) : add(PostgresType::kBigint, std::nullopt);
}

PostgresParameters& PostgresParameters::add_time(std::optional<Time> time) {
  if (!time) return add(PostgresType::kTimestamp, std::nullopt);
  std::string bytes(8, '\0');
  put64(bytes.data(), micros_of(*time));
  return add(PostgresType::kTimestamp, std::move(bytes));
}

PostgresParameters& PostgresParameters::add_column(PostgresColumn column) {
  const std::uint32_t type = array_type(column.type_);
  values_.push_back({type, std::move(column).finish()});
  return *this;
}

PostgresParameters& PostgresParameters::add(const PostgresParameters& more) {
  values_.insert(values_.end(), more.values_.begin(), more.values_.end());
  return *this;
}

PostgresResult::PostgresResult(pg_result* result) : result_(result) {}

void PostgresResult::Clear::operator()(pg_result* result) const {
  PQclear(result);
}

int PostgresResult::rows() const {
  return PQntuples(result_.get());
}

bool PostgresResult::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view PostgresResult::bytes(int row, int column) const {
  HK_CHECK(row < rows() && column < PQnfields(result_.get()));
  return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::optional<std::string> PostgresResult::optional_bytes(int row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return std::string(bytes(row, column));
}

Bytes16 PostgresResult::uuid(int row, int column) const {
  const std::string_view value = bytes(row, column);
  Bytes16 uuid{};
  HK_CHECK(value.size() == uuid.size());
  std::memcpy(uuid.data(), value.data(), uuid.size());
  return uuid;
}

std::int64_t PostgresResult::bigint(int row, int column) const {
  const std::string_view value = bytes(row, column);
  HK_CHECK(value.size() == 8);
  return static_cast<std::int64_t>(read_number(value.data(), 8));
}

int PostgresResult::integer(int row, int column) const {
  const std::string_view value = bytes(row, column);
  HK_CHECK(value.size() == 4);
  return static_cast<int>(read_number(value.data(), 4));
}

bool PostgresResult::flag(int row, int column) const {
  const std::string_view value = bytes(row, column);
  HK_CHECK(value.size() == 1);
  return value[0] != 0;
}

Time PostgresResult::time(int row, int column) const {
  const Duration micros(bigint(row, column));
  return micros == Duration::max() ? Time::max() : Time(kEpoch + micros);
}

std::optional<Time> PostgresResult::optional_time(int row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return time(row, column);
}

std::int64_t PostgresResult::rows_changed() const {
  return std::strtoll(PQcmdTuples(result_.get()), nullptr, 10);
}

bool PostgresResult::is_commit() const {
  return std::strcmp(PQcmdStatus(result_.get()), "COMMIT") == 0;
}

}  // namespace hookonce
