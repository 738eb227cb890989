// A schema of its own for one test, in the PostgreSQL server that the environment names, gone when the test is.
//
//   PostgresTestSchema schema(PostgresTestServer::kDirect);
//   if (!schema.missing()) open_postgres_store(schema.url(), ...);
//
// tools/test_all.py starts the server and PgBouncer in front of it. Without them their tests are skipped, and fail
// where CI=true says that nothing may be skipped.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/model.h"
#include "test/support/missing_server.h"

namespace hookonce {

enum class PostgresTestServer { kDirect, kPgBouncer };

class PostgresTestSchema {
 public:
  explicit PostgresTestSchema(PostgresTestServer server) {
    const char* name = server == PostgresTestServer::kDirect ? "HOOKONCE_TEST_POSTGRES" : "HOOKONCE_TEST_PGBOUNCER";
    const char* url = std::getenv(name);
    if (url == nullptr || *url == '\0') {
      missing_ = std::string(name) + " names no server";
      return;
    }
    server_ = url;
    for (const char c : EventId::make(Time()).text()) schema_ += c == '-' ? '_' : c;
    schema_ = "test_" + schema_;
  }
  PostgresTestSchema(const PostgresTestSchema&) = delete;
  PostgresTestSchema& operator=(const PostgresTestSchema&) = delete;
  ~PostgresTestSchema() {
    if (missing_.empty()) sql("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }

  const std::string& missing() const { return missing_; }  // why there is no server; empty where there is
  std::string url() const { return server_ + "?schema=" + schema_; }
  const std::string& name() const { return schema_; }

  // Runs statements in the schema; the first field of the last answer.
  std::string sql(const std::string& text) const {
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(server_.c_str()), &PQfinish);
    // In one message, and so in one transaction, behind PgBouncer too.
    const std::string all = "SET LOCAL client_min_messages = error; SET LOCAL search_path = " + schema_ + "; " + text;
    std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), all.c_str()), &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    EXPECT_TRUE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) << PQerrorMessage(connection.get());
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }

 private:
  std::string server_;
  std::string schema_;
  std::string missing_;
};

}  // namespace hookonce
