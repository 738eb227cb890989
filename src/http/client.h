// An HTTP/1.1 client for deliveries: many requests at once on one thread, each sent at most once.
//
// libcurl's multi interface without libcurl's own habits: nothing is ever re-sent on a broken keep-alive connection, no
// header is added but Host and Content-Length, empty header values are sent, redirects are not followed, the proxy
// environment is ignored, and a name server that hangs delays only the requests for its own names.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/http_message.h"
#include "base/result.h"

namespace hookonce {

struct ClientRequest {
  std::string method = "POST";
  std::string url;
  Headers headers;
  std::shared_ptr<const std::string> body;      // null: none
  Duration timeout = std::chrono::seconds(10);  // for the whole exchange, whatever trickles in
  std::size_t response_limit = 64 * 1024;       // of the body; the rest is not read and the connection closes
  // Set: gets the body of a 2xx piece by piece as it comes, on the client's thread, instead of the response; false ends
  // the exchange.
  std::function<bool(std::string_view piece)> on_body;
  bool allow_private = true;  // false: private, loopback and link-local addresses are refused after resolution
  std::string ca_file;        // PEM: these authorities alone are trusted; empty: the system's
  std::string client_cert;    // PEM; empty: none
  std::string client_key;     // PEM, without a passphrase; valid with client_cert
  std::string proxy;          // "http://proxy:3128"; empty: none. Not where allow_private is false
};

struct ClientResponse {
  // kAnswered: status, headers and body are valid. kNotSent: no byte of the request left (resolution, connection,
  // refused address). kNoAnswer: it may have arrived, and no complete head came back in time. kCancelled: ended on
  // this side: by stop(), or because no connection of connections_max came free in time.
  enum class Result { kAnswered, kNotSent, kNoAnswer, kCancelled };
  Result result = Result::kNotSent;
  int status = 0;
  Headers headers;
  std::string body;   // at most response_limit bytes
  std::string error;  // for people, with the name and the reason: "connect 127.0.0.1:9000: connection refused"
  Duration duration{};
};

class HttpClient {
 public:
  using Done = std::function<void(ClientResponse)>;  // called once, on the client's thread; must not block

  struct Options {
    std::size_t connections_max = 1024;
    int resolvers_max = 16;  // name resolutions at once; more wait. A hung one never stops the loop
  };
  static Result<std::unique_ptr<HttpClient>> start(const Options& options);
  virtual ~HttpClient() = default;  // stop()

  virtual void send(ClientRequest request, Done done) = 0;  // any thread
  // Cancels what is on its way (each `done` is called), then ends the thread.
  virtual void stop() = 0;
};

// One exchange that blocks the caller; for the command line.
ClientResponse fetch(const ClientRequest& request);

}  // namespace hookonce
