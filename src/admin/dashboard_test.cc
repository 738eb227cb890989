// The dashboard's files: what a browser gets, keeps, and is told to refuse.
#include "admin/dashboard.h"

#include <gtest/gtest.h>

#include "base/crypto.h"
#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

class AdminDashboard : public AdminFixture {
 protected:
  HttpResponse get_with(const std::string& path, const std::string& name, const std::string& value) {
    HttpRequest head = request("GET", path);
    head.headers.add(name, value);
    return call(std::move(head));
  }
  static const DashboardFile& script() {
    for (const DashboardFile& file : dashboard_files()) {
      if (file.content_type.substr(0, 15) == "text/javascript") return file;
    }
    ADD_FAILURE() << "no script";
    return dashboard_files().front();
  }
};

TEST_F(AdminDashboard, ThePageNamesFilesThatExist) {
  const HttpResponse page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(header_of(page, "Content-Type"), "text/html; charset=utf-8");
  int named = 0;
  for (const DashboardFile& file : dashboard_files()) {
    const HttpResponse answer = get(std::string(file.path));
    EXPECT_EQ(answer.status, 200) << file.path;
    EXPECT_EQ(answer.body, file.plain) << file.path;
    EXPECT_EQ(header_of(answer, "Content-Type"), file.content_type);
    EXPECT_EQ(header_of(answer, "Content-Encoding"), "(none)");
    EXPECT_EQ(sha256_hex(file.plain).substr(0, file.hash.size()), file.hash);
    if (page.body.find("\"" + std::string(file.path) + "\"") != std::string::npos) ++named;
  }
  EXPECT_EQ(named, static_cast<int>(dashboard_files().size()) - 1) << "all but the page itself";
  EXPECT_EQ(page.body.find("<script>"), std::string::npos) << "nothing inline, which the policy would refuse";
}

TEST_F(AdminDashboard, IsOpenWithoutTheTokenAndNothingElseIs) {
  require_token();
  for (const DashboardFile& file : dashboard_files()) EXPECT_EQ(get(std::string(file.path)).status, 200) << file.path;
  EXPECT_EQ(get("/assets/other.js").status, 401);
  EXPECT_EQ(get("/assets/").status, 401);
  HttpRequest misdirected = request("GET", std::string(script().path));
  misdirected.headers.set("Host", "evil.example");
  EXPECT_EQ(call(std::move(misdirected)).status, 421);
}

TEST_F(AdminDashboard, ComesCompressedToThoseWhoTakeThat) {
  for (const char* taken : {"gzip", "deflate, gzip;q=0.8", "GZIP", "br, *", "gzip;q=0.001"}) {
    const HttpResponse answer = get_with("/", "Accept-Encoding", taken);
    EXPECT_EQ(header_of(answer, "Content-Encoding"), "gzip") << taken;
    EXPECT_EQ(header_of(answer, "Vary"), "Accept-Encoding");
    EXPECT_EQ(answer.body, dashboard_files().back().gzip) << "index.html sorts last";
    EXPECT_EQ(answer.body.substr(0, 2), "\x1f\x8b");
  }
  for (const char* other : {"", "br", "gzip;q=0", "gzip; q=0.0", "identity", "*;q=0", "xgzip"}) {
    EXPECT_EQ(header_of(get_with("/", "Accept-Encoding", other), "Content-Encoding"), "(none)") << other;
  }
}

TEST_F(AdminDashboard, TheFirstLoadIsBelow200KbCompressed) {
  std::size_t total = 0;
  for (const DashboardFile& file : dashboard_files()) total += file.gzip.size();
  EXPECT_LT(total, 200'000u);
}

TEST_F(AdminDashboard, IsNotSentAgainToOneThatHasIt) {
  const std::string path(script().path);
  const std::string plain = header_of(get(path), "ETag");
  const std::string packed = header_of(get_with(path, "Accept-Encoding", "gzip"), "ETag");
  EXPECT_NE(plain, packed) << "two codings are two representations";
  for (const std::string& tags : {plain, "\"other\", " + plain, "W/" + plain, std::string("*")}) {
    const HttpResponse answer = get_with(path, "If-None-Match", tags);
    EXPECT_EQ(answer.status, 304) << tags;
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(header_of(answer, "ETag"), plain);
  }
  EXPECT_EQ(get_with(path, "If-None-Match", packed).status, 200);
  EXPECT_EQ(get_with(path, "If-None-Match", "").status, 200);
}

TEST_F(AdminDashboard, WhatIsNamedByItsContentIsKeptAndThePageIsAskedAnew) {
  EXPECT_EQ(header_of(get("/"), "Cache-Control"), "no-cache");
  EXPECT_EQ(header_of(get(std::string(script().path)), "Cache-Control"), "public, max-age=31536000, immutable");
}

TEST_F(AdminDashboard, TheBrowserIsToldToRefuseAllThatIsNotOurs) {
  for (const DashboardFile& file : dashboard_files()) {
    const HttpResponse answer = get(std::string(file.path));
    EXPECT_EQ(header_of(answer, "Content-Security-Policy"),
              "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
              "base-uri 'none'; frame-ancestors 'none'; form-action 'self'");
    EXPECT_EQ(header_of(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header_of(answer, "Referrer-Policy"), "same-origin");
  }
}

TEST_F(AdminDashboard, TakesGetAndHeadOnly) {
  EXPECT_EQ(call(request("HEAD", std::string(script().path))).status, 200);
  const HttpResponse answer = post(std::string(script().path));
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(header_of(answer, "Allow"), "GET, HEAD");
}

}  // namespace
}  // namespace hookonce
