// What delivering costs at least: the bare loop of libcurl's multi interface of `./x bench deliver`. Prints one JSON
// line of what it sent.
//
//   hookonce_curl_posts --url http://127.0.0.1:9000/ --seconds 5 --concurrency 16
//
// Each post has a body and headers as a delivery of the generator's events has them, over kept connections. Nothing is
// read from a store, signed, recorded or retried.
#include <curl/curl.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"
#include "bench/load_event.h"

namespace hookonce {
namespace {

struct PostOptions {
  std::string url;
  std::int64_t seconds = 5;
  std::int64_t concurrency = 16;
};

// The headers of a delivery, the event's own included.
constexpr const char* kHeaders[] = {
    "Content-Type: application/json; charset=utf-8",
    "User-Agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)",
    "Stripe-Signature: t=1790000000,v1=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "Idempotency-Key: 0199a1b2-3c4d-7e5f-8a6b-0c1d2e3f4a5b",
    "Webhook-Id: 0199a1b2-3c4d-7e5f-8a6b-0c1d2e3f4a5b",
    "Hookonce-Source: stripe",
    "Hookonce-Event: 0199a1b2-3c4d-7e5f-8a6b-0c1d2e3f4a5b",
    "Hookonce-Attempt: 1",
    "Hookonce-Received-At: 2026-01-02T03:04:05.678Z",
    "Accept:",
    "Expect:",
};

std::size_t drop(char*, std::size_t size, std::size_t count, void*) {
  return size * count;
}

class Posts {
 public:
  explicit Posts(const PostOptions& options) : options_(options), body_(LoadBody().of(0)), multi_(curl_multi_init()) {
    HK_CHECK(multi_ != nullptr);
    for (const char* header : kHeaders) headers_ = curl_slist_append(headers_, header);
  }
  Posts(const Posts&) = delete;
  Posts& operator=(const Posts&) = delete;
  ~Posts() {
    for (CURL* handle : handles_) {
      curl_multi_remove_handle(multi_, handle);
      curl_easy_cleanup(handle);
    }
    curl_multi_cleanup(multi_);
    curl_slist_free_all(headers_);
  }

  // As one JSON object.
  std::string run() {
    for (std::int64_t i = 0; i < options_.concurrency; ++i) start(handles_.emplace_back(make()));
    const Duration cpu_before = process_cpu_time();
    const Duration begun = steady_now();
    const Duration stop_at = begun + std::chrono::seconds(options_.seconds);
    for (int running = 1; running > 0;) {
      HK_CHECK(curl_multi_perform(multi_, &running) == CURLM_OK);
      take_ended(stop_at, running);
      if (running > 0) HK_CHECK(curl_multi_poll(multi_, nullptr, 0, 1000, nullptr) == CURLM_OK);
    }
    json::object out;
    out["ok"] = ok_;
    out["other"] = other_;
    out["seconds"] = static_cast<double>((steady_now() - begun).count()) / 1e6;
    out["cpu_seconds"] = static_cast<double>((process_cpu_time() - cpu_before).count()) / 1e6;
    return to_json(out);
  }

 private:
  CURL* make() {
    CURL* handle = curl_easy_init();
    HK_CHECK(handle != nullptr);
    curl_easy_setopt(handle, CURLOPT_URL, options_.url.c_str());
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body_.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, static_cast<long>(body_.size()));
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop);
    return handle;
  }
  void start(CURL* handle) { HK_CHECK(curl_multi_add_handle(multi_, handle) == CURLM_OK); }

  void take_ended(Duration stop_at, int& running) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      CURL* handle = message->easy_handle;
      long status = 0;
      curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
      ++(message->data.result == CURLE_OK && status == 200 ? ok_ : other_);
      curl_multi_remove_handle(multi_, handle);
      if (steady_now() >= stop_at) continue;
      start(handle);
      ++running;
    }
  }

  const PostOptions options_;
  const std::string body_;
  CURLM* const multi_;
  curl_slist* headers_ = nullptr;
  std::vector<CURL*> handles_;
  std::int64_t ok_ = 0, other_ = 0;
};

Status read_options(int argc, char** argv, PostOptions& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return invalid("no value behind " + std::string(name));
    const auto number = parse_digits(argv[i + 1]);
    if (name == "--url") {
      options.url = argv[i + 1];
    } else if (name == "--seconds" && number) {
      options.seconds = *number;
    } else if (name == "--concurrency" && number && *number > 0) {
      options.concurrency = *number;
    } else {
      return invalid("unknown option, or no number: " + std::string(name) + " " + argv[i + 1]);
    }
  }
  return options.url.empty() ? invalid("--url is needed") : Status();
}

int run_posts(int argc, char** argv) {
  PostOptions options;
  if (const Status status = read_options(argc, argv, options); !status.ok()) {
    std::fprintf(stderr, "hookonce_curl_posts: %s\n", status.message().c_str());
    return 2;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  std::printf("%s\n", Posts(options).run().c_str());
  curl_global_cleanup();
  return 0;
}

}  // namespace
}  // namespace hookonce

int main(int argc, char** argv) {
  return hookonce::run_posts(argc, argv);
}
