// One request on its way through curl: what it holds, how its handle is set up, and what went wrong with it in people's
// words. The loop that drives all of them is client.cc.
//
// Everything here runs on the client's thread.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/client.h"
#include "http/client_answer.h"
#include "http/client_sockets.h"

namespace hookonce {

struct CurlFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  void operator()(char* text) const { curl_free(text); }
};
template <typename T>
using CurlOwned = std::unique_ptr<T, CurlFree>;

// Where the connection goes: the host of the URL, or the proxy.
struct ClientTarget {
  std::string host;  // without brackets, in the form in which names are looked up
  int port = 0;
  bool literal = false;  // the host is an address
};

struct ClientTransfer {
  ClientTransfer(ClientRequest r, HttpClient::Done d);

  ClientRequest request;
  HttpClient::Done done;
  const Duration began;
  const Duration deadline;
  std::uint64_t number = 0;          // in order of arrival
  ClientSockets* sockets = nullptr;  // the client's
  ClientTarget target;
  std::vector<std::string> found;  // addresses of the target's name; empty where it is an address itself
  bool active = false;             // holds one of the client's connections, or waits for it to come up
  ClientAnswer answer;
  int opened = 0;             // connections that were opened for this transfer
  bool stale = false;         // the kept connection had ended, or held bytes that nobody had asked for
  int goes = 0;               // how often curl was about to write the request: the second time is once too often
  std::string refused;        // an address that allow_private forbids
  std::size_t looked_at = 0;  // answer.received() at the last look past the deadline
  int late_rounds = 0;
  // Valid while the transfer is with curl. The handle points to everything above it.
  CurlOwned<curl_slist> headers;
  CurlOwned<curl_slist> addresses;
  char curl_error[CURL_ERROR_SIZE] = {};
  CurlOwned<CURL> easy;

  bool waits_for_connection() const { return !active && (target.literal || !found.empty()); }
};

// kInvalid for a URL or a proxy that leads nowhere; neither is repeated in the message, since both may hold a secret.
Result<ClientTarget> target_of(const ClientRequest& request);

// Sets a fresh or reset handle up for the transfer and gives it to it. REQUIRES: target and found are known, and the
// transfer does not move until the handle is gone.
Status set_up(ClientTransfer& transfer, CurlOwned<CURL> handle);

// From the next go on the transfer takes a connection of its own.
void use_fresh_connection(ClientTransfer& transfer);

// Why it failed: after curl has ended it with `code`, and where its time is over.
std::string failure_text(const ClientTransfer& transfer, CURLcode code);
std::string timeout_text(const ClientTransfer& transfer);

}  // namespace hookonce
