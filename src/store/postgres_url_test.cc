#include "store/postgres_url.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

std::string value_of(const PostgresTarget& target, const std::string& keyword) {
  for (const auto& [name, value] : target.parameters) {
    if (name == keyword) return value;
  }
  return "";
}

TEST(PostgresUrl, ItsPartsGoToLibpqAndTheSchemaIsOurs) {
  for (const std::string scheme : {"postgres", "postgresql"}) {
    const auto target =
        parse_postgres_url(scheme + "://app:s%40cret@db.example.com:5433/hooks?sslmode=require&schema=inbox_2");
    ASSERT_OK(target);
    EXPECT_EQ(value_of(*target, "host"), "db.example.com");
    EXPECT_EQ(value_of(*target, "port"), "5433");
    EXPECT_EQ(value_of(*target, "user"), "app");
    EXPECT_EQ(value_of(*target, "password"), "s@cret");
    EXPECT_EQ(value_of(*target, "dbname"), "hooks");
    EXPECT_EQ(value_of(*target, "sslmode"), "require");
    EXPECT_EQ(target.value().schema, "inbox_2");
    EXPECT_EQ(target.value().shown, "postgres://db.example.com:5433/hooks?schema=inbox_2");
  }
}

TEST(PostgresUrl, APasswordWithAQuestionMarkIsOneAndIsNotShown) {
  const auto target = parse_postgres_url("postgres://u:12?sekret@h/d");
  ASSERT_OK(target);
  EXPECT_EQ(value_of(*target, "password"), "12?sekret");
  EXPECT_EQ(target.value().shown, "postgres://h/d?schema=hookonce");
}

TEST(PostgresUrl, WithoutASchemaItIsHookonce) {
  EXPECT_EQ(parse_postgres_url("postgres://localhost/hooks").value().schema, "hookonce");
}

TEST(PostgresUrl, ASchemaThatNeedsQuotesIsRefused) {
  for (const char* name : {"", "Inbox", "a b", "a;drop", "1a", "pg_own", "a\"b"}) {
    EXPECT_EQ(parse_postgres_url(std::string("postgres://localhost/hooks?schema=") + name).code(), Code::kInvalid)
        << name;
  }
}

TEST(PostgresUrl, WhatIsNotOneIsRefusedWithoutBeingQuoted) {
  for (const char* url : {"postgres://u:sekret%zz@h/d", "postgres://u:p@sekret@h/d", "postgres://u:sek/ret@h/d",
                          "postgres://u:sekret@h/d?nonsense=1", "postgres:u:sekret@h", "postgres://h/password=sekret",
                          "postgres://u:12/d?host=sekret@h", "host=h password=sekret"}) {
    const auto target = parse_postgres_url(url);
    ASSERT_EQ(target.code(), Code::kInvalid) << url;
    EXPECT_EQ(target.status().message().find("sek"), std::string::npos) << target.status().message();
    EXPECT_EQ(target.status().message().find("ret"), std::string::npos) << target.status().message();
  }
}

}  // namespace
}  // namespace hookonce
