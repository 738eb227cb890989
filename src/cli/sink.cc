#include "cli/sink.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "cli/event_text.h"
#include "cli/terminal.h"
#include "provider/identity_reader.h"

namespace hookonce {

namespace {

// The server looks at deadlines about every 10 ms; what has waited so long after it was due is let go.
constexpr Duration kAnsweredAfter = std::chrono::seconds(1);

std::size_t bytes_of(const HttpRequest& request) {
  std::size_t bytes = request.body.size() + request.path.size() + request.query.size();
  for (const Header& header : request.headers.items()) bytes += header.name.size() + header.value.size();
  return bytes;
}

HttpResponse json_response(const json::value& value) {
  HttpResponse response;
  response.headers.add("Content-Type", "application/json");
  response.body = to_json(value);
  return response;
}

bool is_get(const HttpRequest& request, std::string_view path) {
  return request.method == "GET" && request.path == path;
}

}  // namespace

Sink::Sink(SinkOptions options, const Clock& clock, std::function<void()> wake)
    : options_(std::move(options)),
      clock_(clock),
      wake_(std::move(wake)),
      ids_({header_field("X-GitHub-Delivery"), json_field("/event_id"), json_field("/id"),
            header_field("Webhook-Id")}) {}

HeadDecision Sink::on_head(const HttpRequest&) {
  return {std::nullopt, kSinkBodyMax};
}

void Sink::on_request(HttpRequest request, Responder responder) {
  if (is_get(request, "/effects")) return responder.respond(effects());
  if (is_get(request, "/requests")) return responder.respond(requests());

  const std::string id = event_id(request);
  const std::string refused = refusal(request);
  HttpResponse response;
  {
    MutexLock lock(mutex_);
    const Judged judged = refused.empty() ? judge(id) : Judged{401, refused};
    response.status = judged.status;
    put_line(fmt::format("{}  {}  {} {}  {}  {}{}\n", to_local(clock_.wall()), judged.status, printable(request.method),
                         printable(request.path), size_text(request.body.size()),
                         id.empty() ? "no event id" : printable(id), judged.note.empty() ? "" : "  " + judged.note));
    keep(std::move(request), judged.status);
  }
  wake_();
  if (response.status != 204 && response.status != 304) {  // which have no body
    response.headers.add("Content-Type", "text/plain");
    response.body = response.status < 300 ? "ok\n" : "not ok\n";
  }
  answer(std::move(response), std::move(responder));
}

std::string Sink::event_id(const HttpRequest& request) const {
  if (options_.provider != nullptr) {
    if (auto id = options_.provider->event_id(request)) return *id;
  }
  const Fields fields = ids_.read(request);
  for (const auto& id : fields.values) {
    if (id) return *id;
  }
  return "";
}

std::string Sink::refusal(const HttpRequest& request) const {
  if (!options_.verifier) return "";
  const Verification verification = options_.verifier->verify(request, clock_.wall());
  if (verification.reason == Reason::kOk) return "";
  return fmt::format("{}: {}", to_string(verification.reason), verification.message);
}

Sink::Judged Sink::judge(const std::string& id) {
  if (options_.fail_first > 0) {
    if (failures_.size() >= kSinkIdsMax && failures_.find(id) == failures_.end()) return {503, "too many event ids"};
    int& failures = failures_[id];
    if (failures < options_.fail_first) {
      ++failures;
      return {500, fmt::format("failure {} of {}", failures, options_.fail_first)};
    }
  }
  if (id.empty() || options_.status < 200 || options_.status > 299) return {options_.status, ""};
  if (effects_.size() >= kSinkIdsMax && effects_.find(id) == effects_.end()) return {503, "too many event ids"};
  const std::int64_t count = ++effects_[id];
  return {options_.status, count == 1 ? "effect 1" : fmt::format("effect {}: AGAIN", count)};
}

void Sink::keep(HttpRequest request, int status) {
  Kept kept;
  kept.bytes = bytes_of(request);
  kept.method = std::move(request.method);
  kept.path = std::move(request.path);
  if (!request.query.empty()) kept.path += "?" + request.query;
  kept.headers = std::move(request.headers);
  kept.body = std::move(request.body);
  kept.status = status;
  kept.received_at = clock_.wall();
  kept_bytes_ += kept.bytes;
  kept_.push_back(std::move(kept));
  while (kept_.size() > kSinkRequestsMax || (kept_bytes_ > kSinkBytesMax && kept_.size() > 1)) {
    kept_bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

void Sink::put_line(std::string line) {
  if (lines_.size() < kSinkLinesMax) {
    lines_.push_back(std::move(line));
  } else {
    ++lines_dropped_;
  }
}

void Sink::answer(HttpResponse response, Responder responder) {
  if (options_.delay == Duration::zero()) return responder.respond(std::move(response));
  const Time now = clock_.now();
  // The deadline's fallback is the answer itself: the server sends it when its time has come.
  responder.set_deadline(now + options_.delay, response);
  std::deque<Waiting> past;
  {
    MutexLock lock(waiting_mutex_);
    while (!waiting_.empty() && waiting_.front().due + kAnsweredAfter < now) {
      past.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    waiting_.push_back({now + options_.delay, std::move(response), std::move(responder)});
  }
  // Nearly always answered already, which makes this nothing; a server that was held up answers the same now.
  for (Waiting& waiting : past) waiting.responder.respond(std::move(waiting.response));
}

void Sink::end() {
  std::deque<Waiting> waiting;
  MutexLock lock(waiting_mutex_);
  waiting.swap(waiting_);
}

HttpResponse Sink::effects() const {
  json::object object;
  MutexLock lock(mutex_);
  for (const auto& [id, count] : effects_) object[to_utf8(id)] = count;
  return json_response(object);
}

HttpResponse Sink::requests() const {
  json::array list;
  MutexLock lock(mutex_);
  for (const Kept& kept : kept_) {
    json::array headers;
    for (const Header& header : kept.headers.items()) {
      headers.push_back(json::array{json::string(to_utf8(header.name)), json::string(to_utf8(header.value))});
    }
    list.push_back(json::object{{"method", to_utf8(kept.method)},
                                {"path", to_utf8(kept.path)},
                                {"headers", std::move(headers)},
                                {"body_base64", to_base64(kept.body)},
                                {"status", kept.status},
                                {"received_at", to_rfc3339(kept.received_at)}});
  }
  return json_response(list);
}

std::string Sink::take_lines() {
  std::vector<std::string> lines;
  std::size_t dropped = 0;
  {
    MutexLock lock(mutex_);
    lines = std::exchange(lines_, {});
    dropped = std::exchange(lines_dropped_, 0);
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  if (dropped > 0) text += fmt::format("({} more, printed too slowly)\n", dropped);
  return text;
}

}  // namespace hookonce
