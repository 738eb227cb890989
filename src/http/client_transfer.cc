#include "http/client_transfer.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "http/client_address.h"
#include "http/client_target.h"

namespace hookonce {
namespace {

// An idle connection serves again for less than this plus one second (curl counts whole seconds): below the 5 s after
// which common servers (uvicorn, Node) close, so that a request seldom meets a connection that is just being closed.
constexpr long kIdleReuseSeconds = 3;
// Even a busy connection lets go of the old server after this, so that a moved name is followed.
constexpr long kConnectionLifeSeconds = 60;
// curl counts milliseconds in an int and refuses more; no handshake that long comes about.
constexpr std::chrono::seconds kConnectMax = std::chrono::hours(24);
// curl keeps a parsed CA file for a day; a file that was replaced must count sooner.
constexpr long kCaFileKeptSeconds = 60;

std::string part_of(CURLU* url, CURLUPart part, unsigned flags) {
  char* raw = nullptr;
  if (curl_url_get(url, part, &raw, flags) != CURLUE_OK) return {};
  const CurlOwned<char> text(raw);
  return text.get();
}

Result<ClientTarget> parse_target(const std::string& text) {
  const CurlOwned<CURLU> url(curl_url());
  if (!url) return exhausted("no memory for a URL");
  const CURLUcode code = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0);
  if (code != CURLUE_OK) return invalid(to_lower(curl_url_strerror(code)));
  const std::string scheme = part_of(url.get(), CURLUPART_SCHEME, 0);
  if (scheme != "http" && scheme != "https")
    return invalid(fmt::format("scheme \"{}\" is neither http nor https", scheme));
  ClientTarget target;
  target.host = to_lower(part_of(url.get(), CURLUPART_HOST, CURLU_PUNYCODE));
  target.port = static_cast<int>(parse_digits(part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT)).value_or(0));
  if (target.host.empty()) return invalid("no host that can be looked up");
  if (target.host.front() == '[') {
    target.host = target.host.substr(1, target.host.size() - 2);
    target.literal = true;
  } else {
    target.literal = target.host.find_first_not_of("0123456789.") == std::string::npos;
  }
  return target;
}

// The C callbacks. `data` is the ClientTransfer.
std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* data) {
  return static_cast<ClientTransfer*>(data)->answer.take_line({bytes, size}) ? size : 0;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* data) {
  auto& transfer = *static_cast<ClientTransfer*>(data);
  const bool is_streamed =
      transfer.request.on_body && transfer.answer.status() >= 200 && transfer.answer.status() < 300;
  const bool go_on = is_streamed ? transfer.request.on_body({bytes, size}) : transfer.answer.take_body({bytes, size});
  return go_on ? size : 0;
}

// Asked right before the request is written, on a new connection and on a reused one.
int on_request(void* data, char* remote, char* local, int remote_port, int local_port) {
  auto& transfer = *static_cast<ClientTransfer*>(data);
  // curl writes a request again by itself when a reused connection turns out to be dead. The first one may have arrived
  // all the same, and the second would be an attempt that nobody recorded.
  if (transfer.goes > 0) {
    ++transfer.goes;
    return CURL_PREREQFUNC_ABORT;
  }
  // A kept connection was perhaps opened for a request that allows private addresses.
  if (!transfer.request.allow_private && !is_public_address(remote)) {
    transfer.refused = remote;
    return CURL_PREREQFUNC_ABORT;
  }
  // Bytes on a kept connection before the request would be taken for its answer, and an event for delivered that nobody
  // saw.
  const ClientSockets::Ends ends{endpoint_text(local, local_port), endpoint_text(remote, remote_port)};
  if (transfer.opened == 0 && transfer.sockets->is_readable(ends)) {
    transfer.stale = true;
    return CURL_PREREQFUNC_ABORT;
  }
  ++transfer.goes;
  return CURL_PREREQFUNC_OK;
}

curl_socket_t on_open(void* data, curlsocktype, struct curl_sockaddr* address) {
  auto& transfer = *static_cast<ClientTransfer*>(data);
  if (!transfer.request.allow_private && !is_public_address(address->addr)) {
    char text[64] = {};
    if (getnameinfo(&address->addr, address->addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      transfer.refused = text;
    if (transfer.refused.empty()) transfer.refused = "an address of no known family";
    return CURL_SOCKET_BAD;
  }
  ++transfer.opened;
  return transfer.sockets->open(address->family, address->socktype, address->protocol);
}

// `data` is the ClientSockets: a connection outlives the transfer that opened it.
int on_close(void* data, curl_socket_t fd) {
  static_cast<ClientSockets*>(data)->close(fd);
  return 0;
}

template <typename Value>
void set(CURL* easy, CURLoption option, Value value) {
  // Each option exists in the oldest curl that we build with, so a refusal is a mistake in this file.
  HK_CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

void set_method(CURL* easy, const ClientRequest& request) {
  const bool has_body =
      request.body != nullptr || request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (request.method == "HEAD") {
    set(easy, CURLOPT_NOBODY, 1L);
  } else if (has_body) {
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body ? request.body->size() : 0));
    set(easy, CURLOPT_POSTFIELDS, request.body ? request.body->data() : "");  // not copied; the transfer holds the body
    if (request.method != "POST") set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  } else {
    set(easy, CURLOPT_HTTPGET, 1L);
    if (request.method != "GET") set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

void set_habits(CURL* easy) {
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy, CURLOPT_HTTP09_ALLOWED, 0L);
  set(easy, CURLOPT_PATH_AS_IS, 1L);
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(easy, CURLOPT_MAXAGE_CONN, kIdleReuseSeconds);
  set(easy, CURLOPT_MAXLIFETIME_CONN, kConnectionLifeSeconds);
  // Names are looked up by our own resolver, and what it says stays valid while a request waits for a free connection.
  // Should curl ever look one up by itself, it must not join a thread that hangs.
  set(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
  set(easy, CURLOPT_QUICK_EXIT, 1L);
}

void set_callbacks(CURL* easy, ClientTransfer& transfer) {
  void* data = &transfer;
  set(easy, CURLOPT_PRIVATE, data);
  set(easy, CURLOPT_ERRORBUFFER, transfer.curl_error);
  set(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set(easy, CURLOPT_HEADERDATA, data);
  set(easy, CURLOPT_WRITEFUNCTION, &on_body);
  set(easy, CURLOPT_WRITEDATA, data);
  set(easy, CURLOPT_PREREQFUNCTION, &on_request);
  set(easy, CURLOPT_PREREQDATA, data);
  set(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open);
  set(easy, CURLOPT_OPENSOCKETDATA, data);
  set(easy, CURLOPT_CLOSESOCKETFUNCTION, &on_close);
  set(easy, CURLOPT_CLOSESOCKETDATA, static_cast<void*>(transfer.sockets));
}

// Who may be spoken to over TLS, and who we are there.
void set_tls(CURL* easy, const ClientRequest& request) {
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_CA_CACHE_TIMEOUT, kCaFileKeptSeconds);
  if (!request.ca_file.empty()) {
    set(easy, CURLOPT_CAINFO, request.ca_file.c_str());
    set(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));  // else the system's authorities would count as well
  }
  if (request.client_cert.empty()) return;
  set(easy, CURLOPT_SSLCERT, request.client_cert.c_str());
  set(easy, CURLOPT_SSLKEY, request.client_key.c_str());
  // Without a passphrase OpenSSL would ask for one on the terminal, and the loop would wait for whoever sits there.
  set(easy, CURLOPT_KEYPASSWD, "");
}

void set_proxy(CURL* easy, const ClientRequest& request) {
  set(easy, CURLOPT_PROXY, request.proxy.c_str());  // the empty name also switches the proxy environment off
  set(easy, CURLOPT_NOPROXY, "");                   // likewise the list of its exceptions
  set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // what the proxy says to CONNECT is not the destination's answer
}

Result<CurlOwned<curl_slist>> make_list(const std::vector<std::string>& lines) {
  CurlOwned<curl_slist> list;
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) return exhausted("no memory for the request");
    (void)list.release();  // `longer` is the same list, or its first element
    list.reset(longer);
  }
  return list;
}

// The endpoint of the connection, for messages.
std::string endpoint_of(const ClientTransfer& transfer) {
  const std::string endpoint = endpoint_text(transfer.target.host, transfer.target.port);
  return transfer.request.proxy.empty() ? endpoint : "proxy " + endpoint;
}

std::string curl_text(const ClientTransfer& transfer, CURLcode code) {
  return to_lower(transfer.curl_error[0] != '\0' ? transfer.curl_error : curl_easy_strerror(code));
}

std::string connect_failure(const ClientTransfer& transfer, CURLcode code) {
  long cause = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_OS_ERRNO, &cause);
  const std::string reason =
      cause != 0 ? to_lower(std::generic_category().message(static_cast<int>(cause))) : curl_text(transfer, code);
  return fmt::format("connect {}: {}", endpoint_of(transfer), reason);
}

}  // namespace

ClientTransfer::ClientTransfer(ClientRequest r, HttpClient::Done d)
    : request(std::move(r)),
      done(std::move(d)),
      began(steady_now()),
      deadline(began + request.timeout),
      answer(request.response_limit) {}

Result<ClientTarget> target_of(const ClientRequest& request) {
  auto own = parse_target(request.url);
  if (!own.ok()) return own.status().with_context("url");
  if (request.proxy.empty()) return own;
  // Which address the proxy connects to nobody here can see.
  if (!request.allow_private) return invalid("proxy: cannot be used where allow_private is false");
  auto proxy = parse_target(request.proxy);
  if (!proxy.ok()) return proxy.status().with_context("proxy");
  return proxy;
}

Status set_up(ClientTransfer& transfer, CurlOwned<CURL> handle) {
  const ClientRequest& request = transfer.request;
  if (!is_token(request.method)) return invalid("method: not an HTTP method");
  HK_ASSIGN(const std::vector<std::string> lines, header_lines(request.headers));
  HK_ASSIGN(transfer.headers, make_list(lines));
  if (!handle) return exhausted("http client: no memory for a request");
  CURL* easy = handle.get();
  set_habits(easy);
  set_callbacks(easy, transfer);
  set_method(easy, request);
  set_tls(easy, request);
  set_proxy(easy, request);
  set(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
  if (!transfer.found.empty()) {
    std::vector<std::string> all;
    for (const std::string& address : transfer.found) all.push_back(bracketed(address));
    const ClientTarget& target = transfer.target;
    HK_ASSIGN(transfer.addresses, make_list({fmt::format("+{}:{}:{}", target.host, target.port, join(all, ","))}));
    set(easy, CURLOPT_RESOLVE, transfer.addresses.get());
  }
  // Only so that curl's own limit of 300 s for connecting does not come first: the deadline is ours.
  const auto longest = std::chrono::ceil<std::chrono::seconds>(request.timeout) + std::chrono::seconds(1);
  set(easy, CURLOPT_CONNECTTIMEOUT, static_cast<long>(std::min(longest, kConnectMax).count()));
  if (curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str()) != CURLE_OK) return invalid("url: too long");
  transfer.easy = std::move(handle);
  return {};
}

void use_fresh_connection(ClientTransfer& transfer) {
  set(transfer.easy.get(), CURLOPT_FRESH_CONNECT, 1L);
}

std::string failure_text(const ClientTransfer& transfer, CURLcode code) {
  const std::string endpoint = endpoint_of(transfer);
  if (!transfer.refused.empty()) {
    return fmt::format("connect {}: address {} is not public, and allow_private is false", endpoint, transfer.refused);
  }
  if (transfer.goes > 1) return fmt::format("{}: connection closed before an answer came", endpoint);
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      return connect_failure(transfer, code);
    case CURLE_OPERATION_TIMEDOUT:
      return fmt::format("connect {}: no connection within {}", endpoint, format_duration(transfer.request.timeout));
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      // Before the request went out it was the proxy that refused, and curl's text says how.
      if (transfer.goes == 0) return fmt::format("connect {}: {}", endpoint, curl_text(transfer, code));
      return fmt::format("{}: connection closed before an answer came", endpoint);
    case CURLE_WRITE_ERROR:
      return fmt::format("{}: the head of the answer is over {}", endpoint, format_size(kAnswerHeadMax));
    case CURLE_OK:
      return fmt::format("{}: the head of the answer is incomplete", endpoint);
    default:
      return fmt::format("{}: {}", endpoint, curl_text(transfer, code));
  }
}

std::string timeout_text(const ClientTransfer& transfer) {
  const std::string endpoint = endpoint_of(transfer);
  const std::string limit = format_duration(transfer.request.timeout);
  if (transfer.waits_for_connection()) return fmt::format("{}: no free connection within {}", endpoint, limit);
  if (!transfer.active) return fmt::format("resolve {}: no answer within {}", transfer.target.host, limit);
  if (transfer.goes == 0) return fmt::format("connect {}: no connection within {}", endpoint, limit);
  return fmt::format("{}: no answer within {}", endpoint, limit);
}

}  // namespace hookonce
