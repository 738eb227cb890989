// The command line as a whole, in this process: exit status and what stands on the two streams.
#include "cli/cli.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"

namespace hookonce {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

Ran run(std::vector<std::string> words) {
  words.insert(words.begin(), "hookonce");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ran ran;
  ran.status = run_cli(static_cast<int>(words.size()), argv.data());
  std::fflush(nullptr);
  ran.out = testing::internal::GetCapturedStdout();
  ran.err = testing::internal::GetCapturedStderr();
  return ran;
}

// A directory of this test's own, removed behind it.
class Directory {
 public:
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hookonce-cli-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file) << text;
    return file.string();
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

constexpr const char* kCommands[] = {"serve",  "forward", "check",      "events", "tail",   "rejected",
                                     "show",   "replay",  "store",      "send",   "hammer", "sink",
                                     "verify", "version", "completion", "man"};

TEST(Help, NamesEveryCommandAndTheExitStatuses) {
  const Ran ran = run({"--help"});
  EXPECT_EQ(ran.status, kExitDone);
  for (const char* command : kCommands) EXPECT_THAT(ran.out, HasSubstr(command));
  EXPECT_THAT(ran.out, HasSubstr("Exit status: 0 done, 1 failed, 2 wrong usage"));
}

TEST(Help, OfEachCommandIsThereWithExamples) {
  for (const char* command : kCommands) {
    const Ran ran = run({command, "--help"});
    EXPECT_EQ(ran.status, kExitDone) << command;
    EXPECT_THAT(ran.out, HasSubstr(command));
    EXPECT_THAT(ran.out, HasSubstr("xample")) << command;
    EXPECT_THAT(ran.err, IsEmpty()) << command;
  }
  EXPECT_THAT(run({"store", "backup", "--help"}).out, HasSubstr("--from"));
}

TEST(Usage, WithoutACommandIsHelpAndAMistake) {
  const Ran ran = run({});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("serve"));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Usage, ProposesTheCommandAndTheOptionThatWereMeant) {
  Ran ran = run({"evnts"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("unknown command evnts; did you mean `hookonce events`?"));
  ran = run({"zzzzzz"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("see `hookonce --help`"));
  ran = run({"events", "--sinc", "1h"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("did you mean --since?"));
}

TEST(Usage, MistakesEndWithStatusTwoAndNameTheHelp) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"serve"},
                                             {"serve", "--config"},
                                             {"serve", "--config", "x", "--log-level", "loud"},
                                             {"forward"},
                                             {"forward", "stripe", "--to", "http://127.0.0.1:9"},
                                             {"show"},
                                             {"show", "a", "b"},
                                             {"events", "--limit", "0"},
                                             {"events", "--limit", "many"},
                                             {"events", "extra"},
                                             {"store"},
                                             {"store", "backup"},
                                             {"store", "bakup", "f"},
                                             {"version", "--nothing"},
                                             {"--nothing"}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, kExitUsage) << testing::PrintToString(words);
    EXPECT_THAT(ran.err, HasSubstr("--help")) << testing::PrintToString(words);
    EXPECT_THAT(ran.out, IsEmpty()) << testing::PrintToString(words);
  }
}

TEST(Usage, OfReplayNamesWhatItNeeds) {
  EXPECT_EQ(run({"replay"}).status, kExitUsage);
  EXPECT_EQ(run({"replay", "--destination", "backend"}).status, kExitUsage);
  EXPECT_EQ(run({"replay", "evt_1", "--dead", "--yes"}).status, kExitUsage);
  if (::isatty(STDIN_FILENO) == 0) {
    const Ran ran = run({"replay", "--dead"});
    EXPECT_EQ(ran.status, kExitUsage);
    EXPECT_THAT(ran.err, HasSubstr("--yes"));
  }
}

TEST(Usage, OfFiltersIsJudgedBeforeAnythingIsAsked) {
  EXPECT_EQ(run({"events", "--since", "soon"}).status, kExitUsage);
  EXPECT_EQ(run({"events", "--state", "done"}).status, kExitUsage);
  EXPECT_EQ(run({"events", "--admin", "ftp://x"}).status, kExitUsage);
}

TEST(Clients, SayHowToMendAGatewayThatIsNotThere) {
  // Port 1 of loopback: nobody listens on it without being root.
  const Ran ran = run({"events", "--admin", "http://127.0.0.1:1"});
  EXPECT_EQ(ran.status, kExitFailed);
  EXPECT_THAT(ran.err, HasSubstr("hookonce serve"));
  EXPECT_THAT(ran.err, HasSubstr("HOOKONCE_ADMIN"));
}

TEST(Version, NamesTheCommitAndTheLibraries) {
  const Ran ran = run({"version"});
  EXPECT_EQ(ran.status, kExitDone);
  EXPECT_THAT(ran.out, testing::StartsWith("hookonce "));
  EXPECT_THAT(ran.out, HasSubstr("\ncommit "));
  EXPECT_THAT(ran.out, HasSubstr("\nsqlite 3."));
  EXPECT_EQ(run({"--version"}).out, ran.out);
  EXPECT_THAT(run({"version", "--json"}).out, HasSubstr("\"libraries\":{"));
}

constexpr const char* kGood = R"([sources.shop]
provider = "stripe"
secrets = ["sample-not-a-secret"]
destinations = ["backend"]
[destinations.backend]
url = "http://127.0.0.1:9000/"
)";

TEST(Check, CountsWhatIsThere) {
  const Directory directory;
  const Ran ran = run({"check", "--config", directory.write("good.toml", kGood)});
  EXPECT_EQ(ran.status, kExitDone) << ran.err;
  EXPECT_EQ(ran.out, "ok: 1 source, 1 destination\n");
}

TEST(Check, NamesEveryMistakeWithFileAndLine) {
  const Directory directory;
  const std::string file =
      directory.write("bad.toml", std::string(kGood) + "tmeout = \"1s\"\nlease = \"1s\"\n[store]\nurl = \"redys:x\"\n");
  const Ran ran = run({"check", "--config", file});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("hookonce: " + file + ":7: destinations.backend.tmeout: unknown key"));
  EXPECT_THAT(ran.err, HasSubstr(":8: destinations.backend.lease: "));
  EXPECT_THAT(ran.err, HasSubstr(":10: store.url: "));
  EXPECT_THAT(ran.err, testing::EndsWith("hookonce: 3 mistakes\n"));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Check, JudgesADestinationsSecretsWithoutShowingThem) {
  const Directory directory;
  const Ran ran =
      run({"check", "--config", directory.write("bad.toml", std::string(kGood) + "secrets = [\"whsec_!!!\"]\n")});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr(":7: destinations.backend.secrets: "));
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("!!!")));
}

TEST(Check, NamesAFileThatCannotBeRead) {
  const Directory directory;
  const Ran missing = run({"check", "--config", directory.file("none.toml")});
  EXPECT_EQ(missing.status, kExitUsage);
  EXPECT_THAT(missing.err, HasSubstr("none.toml"));
  EXPECT_THAT(missing.err, HasSubstr("1 mistake\n"));
  EXPECT_EQ(run({"check", "--config", directory.file("")}).status, kExitUsage) << "a directory is not a file";
}

TEST(Serve, StartsNothingWhereTheConfigurationIsWrong) {
  const Directory directory;
  const Ran ran = run({"serve", "--config", directory.write("bad.toml", "[sever]\n")});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("nothing was started"));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Forward, RefusesProvidersThatNeedAConfigurationFile) {
  for (const char* provider : {"none", "token", "hmac", "strype"}) {
    const Ran ran = run({"forward", provider, "--secret", "sample-not-a-secret", "--to", "http://127.0.0.1:9000/"});
    EXPECT_EQ(ran.status, kExitUsage) << provider;
    EXPECT_THAT(ran.err, HasSubstr("nothing was started"));
  }
}

TEST(StoreBackup, OfNoInboxFails) {
  const Directory directory;
  const Ran ran = run({"store", "backup", directory.file("copy.db"), "--from", "sqlite:" + directory.file("none.db")});
  EXPECT_NE(ran.status, kExitDone);
  EXPECT_FALSE(std::filesystem::exists(directory.file("copy.db")));
  EXPECT_EQ(run({"store", "backup", directory.file("copy.db"), "--from", "nonsense:"}).status, kExitUsage);
}

}  // namespace
}  // namespace hookonce
