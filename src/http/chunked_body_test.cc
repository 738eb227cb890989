#include "http/chunked_body.h"

#include <gtest/gtest.h>

#include <string>

namespace hookonce {
namespace {

struct Decoded {
  ChunkState state;
  std::string body;
  std::string rest;
};

// Fed in pieces of `piece` bytes.
Decoded decode(const std::string& wire, std::size_t piece) {
  ChunkedBody chunks;
  Decoded decoded{ChunkState::kNeedMore, "", ""};
  for (std::size_t at = 0; at < wire.size(); at += piece) {
    std::string_view input = std::string_view(wire).substr(at, piece);
    std::string_view data;
    while ((decoded.state = chunks.next(input, data)) == ChunkState::kData) decoded.body.append(data);
    if (decoded.state != ChunkState::kNeedMore) {
      decoded.rest = std::string(input) + (at + piece < wire.size() ? wire.substr(at + piece) : "");
      return decoded;
    }
  }
  return decoded;
}

TEST(ChunkedBody, JoinsChunksHoweverTheBytesAreCut) {
  const std::string wire =
      std::string("4\r\na\0b\n\r\n", 9) + "00A;x=\"y\";z\r\n0123456789\r\n0;last\r\nTrailer: v\r\nB:\r\n\r\nGET /";
  for (std::size_t piece = 1; piece <= wire.size(); ++piece) {
    const Decoded decoded = decode(wire, piece);
    ASSERT_EQ(decoded.state, ChunkState::kDone) << piece;
    EXPECT_EQ(decoded.body, std::string("a\0b\n0123456789", 14));
    EXPECT_EQ(decoded.rest, "GET /");
  }
}

TEST(ChunkedBody, RefusesWhatTwoProgramsCouldReadDifferently) {
  for (const std::string wire : {"\r\n",
                                 "x\r\n",
                                 "-1\r\n",
                                 "+1\r\n",
                                 " 1\r\n",
                                 "1 \r\n",
                                 "0x1\r\n",
                                 ";a\r\n",
                                 "1\na\r\n",
                                 "1\r\nab\r\n",
                                 "1\r\na\n",
                                 "1\r\na0\r\n\r\n",
                                 "1;a\nb\r\n",
                                 "1;a\rb\r\n",
                                 "1;\x01\r\n",
                                 "1\ra",
                                 "FFFFFFFFFFFFFFFF\r\n",
                                 "0000000000000000\r\n",
                                 "0\r\nA: b\n\r\n",
                                 "0\r\n A: b\r\n\r\n",
                                 "0\r\n\n",
                                 "0\r\nA\x01\r\n\r\n",
                                 "0\r\n\rx"}) {
    EXPECT_EQ(decode(wire, wire.size()).state, ChunkState::kMalformed) << wire;
    EXPECT_EQ(decode(wire, 1).state, ChunkState::kMalformed) << wire;
  }
}

TEST(ChunkedBody, ExtensionsAndTrailersAreBounded) {
  EXPECT_EQ(decode("1;" + std::string(1000, 'a') + "\r\nx\r\n0\r\n\r\n", 64).state, ChunkState::kDone);
  EXPECT_EQ(decode("1;" + std::string(1100, 'a'), 64).state, ChunkState::kMalformed);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 1000; ++i) trailers += "Name: value\r\n";
  EXPECT_EQ(decode(trailers + "\r\n", 64).state, ChunkState::kMalformed);
}

TEST(ChunkedBody, TellsWhatTheChunkStillHolds) {
  ChunkedBody chunks;
  std::string_view input = "ff\r\nabc";
  std::string_view data;
  ASSERT_EQ(chunks.next(input, data), ChunkState::kData);
  EXPECT_EQ(data, "abc");
  EXPECT_EQ(chunks.announced(), 252u);
}

}  // namespace
}  // namespace hookonce
