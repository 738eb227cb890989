#include "store/redis_server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/random.h"
#include "store/redis_codec.h"
#include "store/redis_errors.h"
#include "store/redis_standing.h"

namespace hookonce {

namespace {

// Of the layout that redis_scripts.h describes. A change of it needs a script that changes what lies there.
constexpr std::string_view kVersion = "1";
constexpr std::string_view kUnfinished = "1-copy";  // the same layout, and not whole yet
// For a page of a copy: nobody waits for it, and a server that is busy with others need not end it.
constexpr std::chrono::seconds kCopyPatience{60};
constexpr Duration kCheckEvery = std::chrono::minutes(1);
// The committer, the dispatcher, the admin API and whom they wait for; more would only queue inside the server.
constexpr int kConnectionsMax = 8;

std::string new_marker() {
  std::array<std::uint8_t, 16> id{};
  fill_random(id);
  return fmt::format("{} {}", kVersion, to_hex(std::string_view(reinterpret_cast<const char*>(id.data()), id.size())));
}

std::string_view version_of(std::string_view marker) {
  return marker.substr(0, marker.find(' '));
}

}  // namespace

Status RedisServer::open() {
  HK_ASSIGN(Connection connection, open_connection());
  HK_ASSIGN(std::vector<std::string> weaknesses, check_server(*connection, target_.relaxed));
  HK_TRY(load_scripts(*connection));
  HK_ASSIGN(std::string marker, find_or_make_inbox(*connection));
  MutexLock lock(mutex_);
  marker_ = std::move(marker);
  weaknesses_ = std::move(weaknesses);
  checked_at_ = steady_now();
  health_ = {};
  idle_.push_back(std::move(connection));
  return {};
}

Status RedisServer::recover() {
  {
    MutexLock lock(mutex_);
    if (health_.ok()) return {};
    idle_.clear();
  }
  Result<Connection> connection = connect();
  if (!connection.ok()) {
    // A setting can be mended while the gateway waits, a password too, and the append-only file be put back. An end of
    // the process would have it started anew, with an empty inbox and nobody asked.
    const bool is_lost = connection.code() == Code::kNotFound;
    if (is_lost) complain_of_loss(connection.status());
    return unavailable(connection.status().message());
  }
  // Memory that is full, a disk that cannot be written: only a write shows whether that is over.
  const std::string probe = target_.prefix + ":probe";
  const Result<RedisAnswer> written = (*connection)->call({"SET", probe, "", "PX", "1"});
  if (!written.ok()) return unavailable(written.status().message());
  const Status status = error_of(**written);
  if (!status.ok()) {
    fall_ill(status, false);
    return unavailable(status.message());
  }
  MutexLock lock(mutex_);
  health_ = {};
  away_ = false;
  lost_ = false;
  idle_.push_back(*std::move(connection));
  return {};
}

void RedisServer::complain_of_loss(const Status& why) {
  {
    MutexLock lock(mutex_);
    if (std::exchange(lost_, true)) return;
  }
  log_error("store.lost", {{"reason", why.message()}});
}

Status RedisServer::health() {
  MutexLock lock(mutex_);
  return health_;
}

std::vector<std::string> RedisServer::weaknesses() {
  MutexLock lock(mutex_);
  return weaknesses_;
}

RedisCommand RedisServer::new_call(RedisScript script, Time now) {
  RedisCommand call({"EVALSHA", hashes_[static_cast<std::size_t>(script)], "1"});
  call.add_own(target_.prefix + ":inbox");
  {
    MutexLock lock(mutex_);
    call.add_own(marker_);
  }
  if (clock_ == RedisClock::kCaller) {
    call.add_integer(now.time_since_epoch().count());
  } else {
    call.add("");
  }
  return call;
}

Result<RedisAnswer> RedisServer::run(const RedisCommand& call, Use use) {
  Result<RedisAnswer> answer = run_once(call, use);
  // What only reads may be asked twice: a connection that the server closed meanwhile is no trouble of the server.
  if (use == Use::kRead && answer.code() == Code::kUnknown) answer = run_once(call, use);
  if (answer.ok() || answer.code() == Code::kInternal) return answer;
  if (answer.code() == Code::kUnknown && use == Use::kWrite) return answer;
  return unavailable(answer.status().message());
}

Result<RedisAnswer> RedisServer::run_once(const RedisCommand& call, Use use) {
  HK_ASSIGN(Connection connection, take(use));
  Result<RedisAnswer> answer = run_on(*connection, call);
  if (connection->broken()) {
    give_back(nullptr);
    if (use == Use::kRead && answer.code() == Code::kUnknown) return answer;
    fall_ill(answer.status(), true);
    return answer;
  }
  give_back(std::move(connection));
  if (!answer.ok()) return answer;
  const Status status = error_of(**answer);
  if (status.ok()) return answer;
  if (!concerns_one_call(error_word((**answer).text()))) fall_ill(status, false);
  return status;
}

Result<RedisAnswer> RedisServer::run_on(RedisConnection& connection, const RedisCommand& call) const {
  HK_ASSIGN(RedisAnswer answer, connection.call(call));
  if (!(*answer).is_error() || error_word((*answer).text()) != "NOSCRIPT") return answer;
  // The server was restarted, or somebody flushed the scripts; nothing was done.
  for (std::size_t i = 0; i < kRedisScripts; ++i) {
    const std::string text = redis_script_text(static_cast<RedisScript>(i));
    const Result<RedisAnswer> loaded = connection.call({"SCRIPT", "LOAD", text});
    if (!loaded.ok()) return unavailable(loaded.status().message());
  }
  return connection.call(call);
}

Result<std::vector<RedisAnswer>> RedisServer::read(std::span<const RedisCommand> commands) {
  HK_ASSIGN(Connection connection, take(Use::kRead));
  Result<std::vector<RedisAnswer>> answers = connection->call_all(commands);
  if (connection->broken()) {
    give_back(nullptr);
    fall_ill(answers.status(), true);
    return unavailable(answers.status().message());
  }
  give_back(std::move(connection));
  return answers;
}

std::string RedisServer::event_name(std::string_view source, std::string_view id) const {
  return fmt::format("{}:{{{}}}:e:{}", target_.prefix, source, id);
}

std::string RedisServer::line_name(std::string_view source, std::string_view destination,
                                   std::string_view ordering_key) const {
  return fmt::format("{}:{{{}}}:w:{}:{}", target_.prefix, source, destination, ordering_key);
}

Result<RedisServer::Connection> RedisServer::take(Use use) {
  Connection connection;
  {
    MutexLock lock(mutex_);
    while (lent_ >= kConnectionsMax) returned_.wait(mutex_);
    if (away_ || (use == Use::kWrite && !health_.ok())) return unavailable(health_.message());
    ++lent_;
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (connection != nullptr && connection->alive()) {
    if (!check_due()) return connection;
    const Status status = check(*connection);
    if (status.ok()) return connection;
    give_back(nullptr);
    fall_ill(status, connection->broken());
    return unavailable(status.message());
  }
  Result<Connection> made = connect();
  if (!made.ok()) {
    give_back(nullptr);
    return unavailable(made.status().message());
  }
  return made;
}

void RedisServer::give_back(Connection connection) {
  MutexLock lock(mutex_);
  --lent_;
  if (connection != nullptr && !away_) idle_.push_back(std::move(connection));
  returned_.notify_one();
}

Result<RedisServer::Connection> RedisServer::connect() {
  Result<Connection> connection = open_connection();
  const Status status = connection.ok() ? check(**connection) : connection.status();
  if (status.ok()) return connection;
  fall_ill(status, !connection.ok() || (*connection)->broken());
  return status;
}

Result<RedisServer::Connection> RedisServer::open_connection() const {
  return RedisConnection::open(target_, use_ == OpenFor::kServing ? RedisConnection::kPatience : kCopyPatience);
}

Status RedisServer::check(RedisConnection& connection) {
  HK_ASSIGN(std::vector<std::string> weaknesses, check_server(connection, target_.relaxed));
  HK_TRY(check_inbox(connection));
  std::vector<std::string> new_ones;
  {
    MutexLock lock(mutex_);
    for (const std::string& weakness : weaknesses) {
      if (std::find(weaknesses_.begin(), weaknesses_.end(), weakness) == weaknesses_.end())
        new_ones.push_back(weakness);
    }
    weaknesses_ = std::move(weaknesses);
    checked_at_ = steady_now();
  }
  for (const std::string& weakness : new_ones) log_warn("store.weak", {{"why", weakness}});
  return {};
}

bool RedisServer::check_due() {
  MutexLock lock(mutex_);
  if (steady_now() - checked_at_ < kCheckEvery) return false;
  checked_at_ = steady_now();  // Others need not wait for the one that checks.
  return true;
}

Status RedisServer::check_inbox(RedisConnection& connection) {
  const std::string name = target_.prefix + ":inbox";
  HK_ASSIGN(const RedisAnswer answer, connection.call({"GET", name}));
  HK_TRY(error_of(*answer));
  {
    MutexLock lock(mutex_);
    if ((*answer).text() == marker_) return {};
  }
  // It is served when it is whole; nothing is lost until then.
  if (version_of((*answer).text()) == kUnfinished) return check_marker(connection, (*answer).text());
  if (!target_.relaxed || use_ != OpenFor::kServing) {
    return not_found(
        fmt::format("{}: the inbox that was opened is gone; restore the server's append-only file, or "
                    "start the gateway anew for an empty inbox",
                    target_.shown));
  }
  // Whoever relaxed the promise chose to go on with an empty inbox.
  HK_ASSIGN(std::string marker, find_or_make_inbox(connection));
  log_error("store.emptied",
            {{"store", target_.shown}, {"why", "the server lost the inbox; everything in it is gone"}});
  MutexLock lock(mutex_);
  marker_ = std::move(marker);
  return {};
}

Result<std::string> RedisServer::find_or_make_inbox(RedisConnection& connection) const {
  const std::string name = target_.prefix + ":inbox";
  const std::string made = new_marker();
  HK_ASSIGN(RedisAnswer answer, connection.call({"GET", name}));
  // Only where there is none: a server without memory takes no write, and what is there can be served all the same.
  if ((*answer).is_nil() && use_ != OpenFor::kCopyingFrom) {
    // NX: of several gateways that start at once, one makes the inbox, and all use it.
    HK_ASSIGN(const RedisAnswer set, connection.call({"SET", name, made, "NX"}));
    if (const Status refused = error_of(*set); !refused.ok()) return precondition(refused.message());
    HK_ASSIGN(answer, connection.call({"GET", name}));
  }
  HK_TRY(error_of(*answer));
  if ((*answer).is_nil()) {
    return precondition(
        fmt::format("{}: there is no inbox with the prefix {}; correct the URL", target_.shown, target_.prefix));
  }
  const std::string marker((*answer).text());
  HK_TRY(check_marker(connection, marker));
  if (marker == made) log_info("store.created", {{"store", target_.shown}});
  return marker;
}

Status RedisServer::check_marker(RedisConnection& connection, std::string_view marker) const {
  const std::string_view version = version_of(marker);
  if (version == kVersion || (version == kUnfinished && use_ != OpenFor::kServing)) return {};
  if (version != kUnfinished) {
    const auto number = parse_digits(version);
    return precondition(
        number ? fmt::format("{}: the inbox there is of version {}, this program knows {}; use a{} hookonce",
                             target_.shown, *number, kVersion, *number > parse_digits(kVersion) ? " newer" : "n older")
               : fmt::format("{}: what lies under {}:inbox is no inbox of hookonce; choose another ?prefix=",
                             target_.shown, target_.prefix));
  }
  HK_ASSIGN(const RedisAnswer answer, connection.call({"GET", copy_mark_name()}));
  const auto mark = decode_mark((*answer).text());
  return precondition(
      fmt::format("{}: a copy of {} that was not finished; repeat `hookonce store copy`, or remove the keys {}:*",
                  target_.shown, mark.ok() ? mark->from : "another store", target_.prefix));
}

std::string RedisServer::marker(bool unfinished) {
  MutexLock lock(mutex_);
  return fmt::format("{}{}", unfinished ? kUnfinished : kVersion, marker_.substr(version_of(marker_).size()));
}

void RedisServer::set_marker(std::string marker) {
  MutexLock lock(mutex_);
  marker_ = std::move(marker);
}

Status RedisServer::load_scripts(RedisConnection& connection) {
  for (std::size_t i = 0; i < kRedisScripts; ++i) {
    const std::string text = redis_script_text(static_cast<RedisScript>(i));
    HK_ASSIGN(const RedisAnswer answer, connection.call({"SCRIPT", "LOAD", text}));
    HK_TRY(error_of(*answer));
    hashes_[i] = (*answer).text();
  }
  return {};
}

void RedisServer::fall_ill(const Status& trouble, bool away) {
  MutexLock lock(mutex_);
  health_ = unavailable(trouble.message());
  away_ = away_ || away;
  if (away) idle_.clear();
}

}  // namespace hookonce
