#include <libpq-fe.h>

#include <array>
#include <vector>

#include "bench/store_writer.h"

namespace hookonce {
namespace {

enum Type : std::uint32_t { kBytea = 17, kBigint = 20, kUuid = 2950 };  // numbers of the server's catalogue

// Everything in one statement, prepared once: one round trip, one transaction, no planning.
constexpr const char* kWriteBatch = R"sql(
WITH n AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bytea[], $6::bytea[], $7::bytea[])
    AS n (seq, key, id, body_hash, provider_id, headers, body)
), taken AS (
  INSERT INTO dedup (seq, expires_at, key, source) SELECT seq, now() + interval '30 days', key, 'stripe' FROM n
  ON CONFLICT (key, source) DO NOTHING RETURNING seq
), new_events AS (
  INSERT INTO events (seq, received_at, keys_until, size, arrived_at, provider_time, secret, forwarded_trusted, id,
    body_hash, source, type, key, keys, remote)
  SELECT seq, now(), now() + interval '30 days', length(body), now(), now(), 0, false, id, body_hash,
    'stripe', 'invoice.paid', provider_id, uuid_send(key), '127.0.0.1'
  FROM n JOIN taken USING (seq)
), new_contents AS (
  INSERT INTO contents (seq, headers, body) SELECT seq, headers, body FROM n JOIN taken USING (seq)
), new_deliveries AS (
  INSERT INTO deliveries (seq, due_at, armed_at, claimed_at, ended_at, state, attempt, counted, new_key, new_keys,
    unsettled, replay, destination)
  SELECT seq, now(), now(), '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00', 0, 0, 0, 0, 0, false, false, 'backend'
  FROM taken
) SELECT count(*) FROM taken)sql";

void append_big_endian(std::string& out, std::uint64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
}

// An array of one dimension in the server's binary form.
class Array {
 public:
  Array(Type type, std::size_t size) {
    append_big_endian(bytes_, 1, 4);  // dimensions
    append_big_endian(bytes_, 0, 4);  // no NULL in it
    append_big_endian(bytes_, type, 4);
    append_big_endian(bytes_, size, 4);
    append_big_endian(bytes_, 1, 4);  // the first index
  }
  void add(std::string_view bytes) {
    append_big_endian(bytes_, bytes.size(), 4);
    bytes_.append(bytes);
  }
  void add(const std::array<std::uint8_t, 16>& uuid) {
    add(std::string_view(reinterpret_cast<const char*>(uuid.data()), uuid.size()));
  }
  void add(std::int64_t number) {
    append_big_endian(bytes_, sizeof number, 4);
    append_big_endian(bytes_, static_cast<std::uint64_t>(number), sizeof number);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class PostgresWriter final : public StoreWriter {
 public:
  explicit PostgresWriter(PGconn* connection) : connection_(connection), headers_(StoreRows::headers()) {}
  ~PostgresWriter() override { PQfinish(connection_); }

  Status prepare(const std::string& schema) {
    HK_TRY(expect(PQexec(connection_, ("SET search_path = " + schema).c_str()), PGRES_COMMAND_OK));
    HK_TRY(expect(PQexec(connection_, "SET synchronous_commit = on"), PGRES_COMMAND_OK));
    // The arrays' sizes change nothing about the plan, so it need not be made five times to find that out.
    HK_TRY(expect(PQexec(connection_, "SET plan_cache_mode = force_generic_plan"), PGRES_COMMAND_OK));
    return expect(PQprepare(connection_, "write", kWriteBatch, 0, nullptr), PGRES_COMMAND_OK);
  }

  Result<std::int64_t> write(std::span<const StoreRow> rows, Time) override {
    Array seq(kBigint, rows.size()), key(kUuid, rows.size()), id(kUuid, rows.size()), body_hash(kUuid, rows.size());
    Array provider_id(kBytea, rows.size()), headers(kBytea, rows.size()), body(kBytea, rows.size());
    for (const StoreRow& row : rows) {
      seq.add(++last_seq_);
      key.add(row.key);
      id.add(row.id);
      body_hash.add(row.body_hash);
      provider_id.add(row.provider_id);
      headers.add(headers_);
      body.add(row.body);
    }
    std::vector<const char*> values;
    std::vector<int> lengths, formats;
    for (const Array* array : {&seq, &key, &id, &body_hash, &provider_id, &headers, &body}) {
      values.push_back(array->bytes().data());
      lengths.push_back(static_cast<int>(array->bytes().size()));
      formats.push_back(1);
    }
    std::int64_t taken = 0;
    HK_TRY(expect(PQexecPrepared(connection_, "write", static_cast<int>(values.size()), values.data(), lengths.data(),
                                 formats.data(), 0),
                  PGRES_TUPLES_OK, &taken));
    return taken;
  }

 private:
  Status expect(PGresult* result, ExecStatusType wanted, std::int64_t* number = nullptr) {
    const bool good = PQresultStatus(result) == wanted;
    if (good && number != nullptr) *number = std::stoll(PQgetvalue(result, 0, 0));
    PQclear(result);
    return good ? Status() : unavailable(PQerrorMessage(connection_));
  }

  PGconn* const connection_;
  const std::string headers_;
  std::int64_t last_seq_ = 0;
};

}  // namespace

Result<std::unique_ptr<StoreWriter>> open_postgres_writer(const std::string& url, const std::string& schema) {
  PGconn* const connection = PQconnectdb(url.c_str());
  auto writer = std::make_unique<PostgresWriter>(connection);
  if (PQstatus(connection) != CONNECTION_OK) return unavailable(PQerrorMessage(connection));
  HK_TRY(writer->prepare(schema));
  return std::unique_ptr<StoreWriter>(std::move(writer));
}

}  // namespace hookonce
