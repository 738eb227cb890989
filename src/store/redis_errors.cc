#include "store/redis_errors.h"

#include <string>

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

struct Meaning {
  std::string_view word;
  Code code;
  std::string_view mend;
};

constexpr Meaning kMeanings[] = {
    {"OOM", Code::kUnavailable, "the server's memory is full; raise its maxmemory, or shorten store.retention"},
    {"MISCONF", Code::kUnavailable, "the server cannot write to its disk; free space there and look into its log"},
    {"READONLY", Code::kPrecondition, "this is a replica; let store.url name the primary"},
    {"MASTERDOWN", Code::kPrecondition, "this is a replica; let store.url name the primary"},
    {"NOREPLICAS", Code::kUnavailable, "the server waits for replicas (min-replicas-to-write); bring them back"},
    {"LOADING", Code::kUnavailable, "the server is reading its data from disk; it will serve in a moment"},
    {"BUSY", Code::kUnavailable, "a foreign script keeps the server busy; end it with SCRIPT KILL"},
    {"NOAUTH", Code::kPrecondition, "store.url needs a password: redis://:PASSWORD@HOST:PORT"},
    {"WRONGPASS", Code::kPrecondition, "correct user and password in store.url"},
    {"NOPERM", Code::kPrecondition, "let the user of store.url run scripts and all commands on keys of the prefix"},
    {"MOVED", Code::kPrecondition,
     "this is a Redis Cluster, which is not supported; give the inbox a server of its own"},
    {"CROSSSLOT", Code::kPrecondition,
     "this is a Redis Cluster, which is not supported; give the inbox a server of its own"},
    {"WRONGTYPE", Code::kPrecondition, "something else lies under a key of the inbox; choose another ?prefix="},
    {"HKGONE", Code::kUnavailable, "was the database flushed, or exchanged for another one?"},
    {"HKEXISTS", Code::kInternal, ""},
};

// Redis names these two errors no more closely.
bool is_about_password(std::string_view text) {
  return text.find("invalid password") != std::string_view::npos ||
         text.find("without any password configured") != std::string_view::npos;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos;
}

}  // namespace

std::string_view error_word(std::string_view text) {
  const std::string_view first = text.substr(0, text.find(' '));
  // Before Redis 7 a script's error has the word in its middle: "ERR Error running script (...): -OOM command not ...".
  if (first == "ERR") {
    for (std::size_t at = text.find(": -"); at != std::string_view::npos; at = text.find(": -", at + 1)) {
      const std::string_view rest = text.substr(at + 3);
      const std::string_view word = rest.substr(0, rest.find(' '));
      if (is_word(word)) return word;
    }
  }
  return first;
}

Status error_of(RedisReply reply) {
  if (!reply.is_error()) return {};
  const std::string text = to_utf8(reply.text());
  const std::string_view word = error_word(text);
  for (const Meaning& meaning : kMeanings) {
    if (meaning.word != word) continue;
    return {meaning.code, meaning.mend.empty() ? text : fmt::format("{} ({})", meaning.mend, text)};
  }
  if (is_about_password(text)) return precondition(fmt::format("correct user and password in store.url ({})", text));
  if (text.find("DB index") != std::string::npos) {
    return precondition(fmt::format("let store.url name a database that the server has ({})", text));
  }
  return internal("redis: " + text);
}

bool concerns_one_call(std::string_view word) {
  return word == "BUSY" || word == "HKEXISTS" || word == "ERR";
}

}  // namespace hookonce
