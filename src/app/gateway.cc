#include "app/gateway.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "admin/api.h"
#include "app/call_worker.h"
#include "app/live_feed.h"
#include "app/overdue.h"
#include "app/process_limits.h"
#include "app/upkeep.h"
#include "base/budget.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/metrics.h"
#include "core/history.h"
#include "dispatch/http_sender.h"
#include "http/server.h"
#include "store/committer.h"
#include "store/open.h"

namespace hookonce {

namespace {

constexpr int kIngestThreadsMax = 4;  // one loop parses far more requests a second than one committer commits
constexpr std::size_t kAdminConnectionsMax = 256;  // people and scrapers, not providers
constexpr std::size_t kIngestConnectionsMax = 16384;
constexpr std::size_t kIngestConnectionsMin = 64;  // what is served at the least, however few files are allowed
// How long requests that came before the drain may still take: enough for a commit, and within the usual grace of 30 s.
constexpr Duration kLastAnswers = std::chrono::seconds(5);
constexpr Duration kLastAnswersMin = std::chrono::seconds(1);
// How long a drain may take beyond `server.drain`, all in all: with its default of 25 s still within those 30 s.
constexpr Duration kBeyondDrain = std::chrono::seconds(4);

// Of a shared store: what another gateway accepted and did not live to deliver, or freed, is found so late at the most.
constexpr Duration kIdlePoll = std::chrono::milliseconds(250);

int ingest_threads() {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min(kIngestThreadsMax, cores / 2));
}

// Half of the open files are for providers' connections; attempts, the inbox and the admin API share the rest.
std::size_t ingest_connections(std::size_t open_files) {
  return std::clamp(open_files / 2, kIngestConnectionsMin, kIngestConnectionsMax);
}

class RunningGateway final : public Gateway {
 public:
  RunningGateway(std::shared_ptr<const Config> config, const Options& options)
      : options_(options), config_(std::move(config)), budget_(config_->server.max_inflight) {}
  ~RunningGateway() override { close(Duration::zero()); }

  Status open();
  Status reload(std::shared_ptr<const Config> config) override;
  void drain() override {
    const Overdue watch(config_->server.drain + kBeyondDrain, options_.overdue);
    close(config_->server.drain);
  }

  const std::vector<std::string>& ingest_addresses() const override { return ingest_server_->addresses(); }
  const std::string& admin_address() const override { return admin_server_->addresses().front(); }

 private:
  Status build();
  void open_rejected_store();
  Status listen();
  Committer::Options committer_options();
  void close(Duration limit);

  const Options options_;
  const Clock& clock_ = system_clock();
  std::shared_ptr<const Config> config_;  // only the owner's thread: start, reload and drain are calls of one thread
  std::atomic<bool> draining_{false};
  std::atomic<bool> given_up_{false};
  bool closed_ = false;

  // Built from top to bottom, and null where the start did not get that far. Each refers only to what stands above it,
  // but for the committer's hooks, which are quiet once close() has stopped it.
  Budget budget_;
  LiveHub live_{clock_};
  History history_{clock_.now(), count_totals()};
  LiveFeed feed_{live_, options_.ingest_observer, options_.delivery_observer};
  std::unique_ptr<Store> store_;
  std::unique_ptr<RejectedStore> rejected_;  // null where it could not be opened
  std::unique_ptr<Upkeep> upkeep_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Sender> sender_;
  std::unique_ptr<DeliveryPool> pool_;
  std::unique_ptr<Ingest> ingest_;
  std::unique_ptr<RejectedKeeper> keeper_;  // looks at requests with ingest_'s secrets, and gets them through feed_
  std::unique_ptr<AdminApi> admin_;
  std::unique_ptr<CallWorker> admin_worker_;
  std::unique_ptr<HttpServer> admin_server_;
  std::unique_ptr<HttpServer> ingest_server_;
};

Status RunningGateway::open() {
  HK_TRY(build());
  // From here on things run. If a step fails, the destructor stops those before it, the last one first.
  committer_->start();
  HK_TRY(listen());
  // The pool is last: it starts to send only when the gateway is known to have its addresses.
  pool_->start(config_);
  return {};
}

Status RunningGateway::build() {
  HK_ASSIGN(store_, open_store(config_->store.url, clock_.now()));
  HK_ASSIGN(sender_, make_http_sender(clock_));
  upkeep_ = std::make_unique<Upkeep>(*store_, clock_, config_, [this] { pool_->nudge(); });
  committer_ = std::make_unique<Committer>(*store_, clock_, committer_options());
  DeliveryPool::Options pool_options;
  pool_options.observer = &feed_;
  if (is_shared_store(config_->store.url)) pool_options.idle_poll = kIdlePoll;
  pool_ = std::make_unique<DeliveryPool>(*store_, *committer_, *sender_, clock_, pool_options);
  ingest_ = std::make_unique<Ingest>(*store_, *committer_, clock_, &feed_, pool_.get());
  HK_TRY(ingest_->configure(config_));
  open_rejected_store();

  AdminApi::Options admin_options;
  admin_options.draining = [this] { return draining_.load(); };
  admin_options.deliveries_pending = [this] { pool_->nudge(); };
  admin_worker_ = std::make_unique<CallWorker>();
  admin_options.worker = admin_worker_.get();
  if (is_shared_store(config_->store.url)) admin_options.clocks = Clocks::kSeveral;
  admin_options.rejected.store = rejected_.get();
  admin_options.rejected.accept = [this](const RejectedRequest& request) { return ingest_->accept_again(request); };
  admin_options.measure = [this] { upkeep_->measure(clock_.now()); };
  for (const std::string& weakness : store_->weaknesses()) log_warn("store.weak", {{"why", weakness}});
  admin_ = std::make_unique<AdminApi>(*store_, live_, history_, clock_, std::move(admin_options));
  admin_->configure(config_);
  return {};
}

// Rejected requests are for people; without a place to keep them everything else works.
void RunningGateway::open_rejected_store() {
  auto opened = open_rejected(config_->store.url);
  if (!opened.ok()) {
    log_warn("rejected.not_kept", {{"reason", opened.status().message()}});
    return;
  }
  rejected_ = *std::move(opened);
  keeper_ = std::make_unique<RejectedKeeper>(
      *rejected_, clock_, *config_, [this](const RejectedRequest& request) { return ingest_->explain(request); });
  feed_.set_keeper(keeper_.get());
}

Status RunningGateway::listen() {
  const std::size_t open_files = raise_open_files_limit();
  HttpServerOptions admin_options;
  admin_options.listen = {config_->server.admin};
  admin_options.threads = 1;
  admin_options.connections_max = kAdminConnectionsMax;
  HK_ASSIGN(admin_server_, HttpServer::start(admin_options, *admin_, clock_));

  HttpServerOptions ingest_options;
  ingest_options.listen = config_->server.listen;
  ingest_options.threads = ingest_threads();
  ingest_options.budget = &budget_;
  ingest_options.connections_max = ingest_connections(open_files);
  ingest_options.tls_cert = config_->server.tls_cert;
  ingest_options.tls_key = config_->server.tls_key;
  HK_ASSIGN(ingest_server_, HttpServer::start(ingest_options, *ingest_, clock_));
  admin_->set_ingest_address(ingest_server_->addresses().front());
  return {};
}

Committer::Options RunningGateway::committer_options() {
  Committer::Options options;
  // Made here, so that they are there from the first scrape on.
  static Gauge& queued = metrics().gauge("hookonce_committer_queue", "Accepts waiting for a transaction");
  static Gauge& held = metrics().gauge("hookonce_inflight_bytes", "Bytes of request bodies in memory");
  options.upkeep = [this](Time now) {
    queued.set(static_cast<std::int64_t>(committer_->queued()));
    held.set(static_cast<std::int64_t>(budget_.used()));
    history_.add(now, count_totals());
    upkeep_->run(now);
  };
  options.deliveries_pending = [this] { pool_->nudge(); };
  options.given_up = [this](const Status& status) {
    given_up_ = true;
    if (options_.failed) options_.failed(status);
  };
  return options;
}

Status RunningGateway::reload(std::shared_ptr<const Config> config) {
  std::vector<std::string> fixed;
  if (config->server.listen != config_->server.listen) fixed.push_back("server.listen");
  if (config->server.admin != config_->server.admin) fixed.push_back("server.admin");
  if (config->server.tls_cert != config_->server.tls_cert) fixed.push_back("server.tls_cert");
  if (config->server.tls_key != config_->server.tls_key) fixed.push_back("server.tls_key");
  if (config->store.url != config_->store.url) fixed.push_back("store.url");
  if (!fixed.empty()) {
    return invalid(join(fixed, ", ") + (fixed.size() == 1 ? " has" : " have") +
                   " changed, which needs a restart; the old configuration stays");
  }
  // What can fail goes first, so that a refused reload has changed nothing of the configuration.
  if (!config->server.tls_cert.empty()) HK_TRY(ingest_server_->reload_tls());
  HK_TRY(ingest_->configure(config));
  pool_->configure(config);
  admin_->configure(config);
  upkeep_->configure(config);
  if (keeper_) keeper_->configure(*config);
  budget_.set_limit(config->server.max_inflight);
  config_ = std::move(config);
  return {};
}

void RunningGateway::close(Duration limit) {
  if (std::exchange(closed_, true)) return;
  const Duration began = steady_now();
  draining_ = true;
  if (ingest_) ingest_->drain();
  // A store that gave up takes no settlement any more, and waiting for one would last for ever. What was in flight is
  // sent again after the next start, as after a crash.
  if (given_up_ && committer_) committer_->stop();
  if (pool_) pool_->stop(limit);
  const Duration rest = std::clamp(limit - (steady_now() - began), kLastAnswersMin, kLastAnswers);
  if (ingest_server_) ingest_server_->stop(limit == Duration::zero() ? limit : rest);
  if (admin_server_) admin_server_->stop(limit == Duration::zero() ? limit : kLastAnswersMin);
  if (admin_worker_) admin_worker_->stop();
  if (committer_) committer_->stop();
}

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::start(std::shared_ptr<const Config> config, const Options& options) {
  auto gateway = std::make_unique<RunningGateway>(std::move(config), options);
  HK_TRY(gateway->open());
  return std::unique_ptr<Gateway>(std::move(gateway));
}

std::string shown_store(const Config& config) {
  return shown_store_url(config.store.url);
}

Status backup(const std::string& store_url, const std::string& file) {
  return backup_store(store_url, file);
}

}  // namespace hookonce
