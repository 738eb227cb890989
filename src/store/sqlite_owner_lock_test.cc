#include "store/sqlite_owner_lock.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "test/support/asserts.h"
#include "test/support/temp_folder.h"

namespace hookonce {
namespace {

TEST(OwnerLock, IsFreeAgainWhenItsOwnerIsGone) {
  TempFolder folder;
  const std::string path = folder.file("inbox.db");
  {
    const auto first = OwnerLock::take(path);
    ASSERT_OK(first);
    EXPECT_EQ(OwnerLock::take(path).code(), Code::kPrecondition);
  }
  EXPECT_OK(OwnerLock::take(path));
  EXPECT_FALSE(std::filesystem::exists(path)) << "the lock leaves the inbox itself alone";
}

TEST(OwnerLock, FollowsLinksThatLeadNowhereYet) {
  TempFolder folder;
  std::filesystem::create_symlink("real.db", folder.file("link.db"));
  EXPECT_EQ(resolve_path(folder.file("link.db")).value(), resolve_path(folder.file("real.db")).value());
}

TEST(OwnerLock, KnowsNetworkFileSystems) {
  EXPECT_TRUE(is_network_file_system(0x6969));                        // NFS
  EXPECT_TRUE(is_network_file_system(0xff534d42));                    // CIFS
  EXPECT_TRUE(is_network_file_system(static_cast<int>(0xff534d42)));  // the same, sign-extended
  EXPECT_FALSE(is_network_file_system(0xef53));                       // ext4
  EXPECT_FALSE(is_network_file_system(0x01021994));                   // tmpfs
}

}  // namespace
}  // namespace hookonce
