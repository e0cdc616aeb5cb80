// The bytes of a backup never change without a new version (docs/format-backup.md).
#include "backup/backup_file.h"
#include "base/row_map.h"
#include "coordkit/error.h"
#include "tests/proof/golden/golden.h"
#include "tests/unit/backup/scene.h"

namespace coordkit::testkit {
namespace {

const RowsByKey kRows = {{"a", "one"}, {std::string("b\0c", 3), ""}, {"d", std::string(300, 'x')}};

TEST(BackupFormatTest, AWrittenBackupIsTheGoldenOneAndIsRead) {
  Folder folder;
  const std::string file = folder.path() / "backup";
  const backup::BackupHeader header{.cluster = "orders",
                                    .replica = ReplicaId(2),
                                    .store = StoreId(0x1122334455667788),
                                    .applied = {Index(77), Term(5)},
                                    .digest = digest_of(kRows),
                                    .last_token = Token(123456789),
                                    .revision = Revision(42)};
  const auto rows = [](backup::RowVisitor visit) { return scan_prefix(kRows, "", visit); };
  ASSERT_THAT(backup::write_backup(file, header, rows).status(), IsOk());
  expect_golden("backup-v1.bin", read_file(file));

  RowsByKey found;
  const auto info = backup::read_backup(golden_path("backup-v1.bin"), [&](std::string_view key, std::string_view value) {
    found.emplace(key, value);
    return absl::OkStatus();
  });
  ASSERT_THAT(info.status(), IsOk());
  EXPECT_EQ(found, kRows);
  EXPECT_EQ(info->cluster, "orders");
  EXPECT_EQ(info->replica, ReplicaId(2));
  EXPECT_EQ(info->applied, (Position{Index(77), Term(5)}));
  EXPECT_EQ(info->rows, 3u);
  EXPECT_EQ(info->last_token, Token(123456789));
  EXPECT_EQ(info->revision, Revision(42));
}

TEST(BackupFormatTest, ManyChunksAreReadInTheirOrderOnly) {
  Folder folder;
  const std::string file = folder.path() / "backup";
  RowsByKey many;
  for (int i = 0; i < 40; ++i) many["row-" + std::to_string(100 + i)] = std::string(100'000, static_cast<char>('a' + i % 26));
  const backup::BackupHeader header{.cluster = "c", .digest = digest_of(many)};
  ASSERT_THAT(
      backup::write_backup(file, header, [&](backup::RowVisitor visit) { return scan_prefix(many, "", visit); }).status(),
      IsOk());
  RowsByKey found;
  const auto collect = [&](std::string_view key, std::string_view value) {
    found.emplace(key, value);
    return absl::OkStatus();
  };
  EXPECT_THAT(backup::read_backup(file, collect).status(), IsOk());
  EXPECT_EQ(found, many);

  // The second and the third chunk swap places: ten rows of 100,000 bytes each, and what precedes them.
  std::string bytes = read_file(file);
  const size_t chunk = 16 + 10 * (8 + 7 + 100'000);
  const size_t first = 88 + 1 + 8;
  const std::string second = bytes.substr(first + chunk, chunk);
  bytes.replace(first + chunk, chunk, bytes.substr(first + 2 * chunk, chunk));
  bytes.replace(first + 2 * chunk, chunk, second);
  write_file(file, bytes);
  EXPECT_THAT(backup::read_backup(file, collect).status(), HasCode(absl::StatusCode::kDataLoss));
}

// So one flipped bit of a length does not take memory for what is left of a large file.
TEST(BackupFormatTest, AChunkOfManyRowsThatClaimsMoreThanOneHasIsNotRead) {
  Folder folder;
  const std::string file = folder.path() / "backup";
  const backup::BackupHeader header{.cluster = "c", .digest = digest_of(kRows)};
  const auto rows = [](backup::RowVisitor visit) { return scan_prefix(kRows, "", visit); };
  ASSERT_THAT(backup::write_backup(file, header, rows).status(), IsOk());
  std::string bytes = read_file(file) + std::string(2 << 20, '\0');
  bytes[88 + 1 + 8 + 2] ^= 0x10;  // of the first chunk's length: a megabyte
  write_file(file, bytes);
  const absl::Status refused = check_backup(file).status();
  EXPECT_THAT(refused, Is(Reason::Corrupt));
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("chunk 1 has an impossible length"));
}

TEST(BackupFormatTest, RowsThatAreNotThoseOfTheirDigestMakeNoBackup) {
  Folder folder;
  const std::string file = folder.path() / "backup";
  const backup::BackupHeader header{.cluster = "c", .digest = digest_of(kRows) + 1};
  const auto rows = [](backup::RowVisitor visit) { return scan_prefix(kRows, "", visit); };
  EXPECT_THAT(backup::write_backup(file, header, rows).status(), HasCode(absl::StatusCode::kDataLoss));
  EXPECT_TRUE(tree(folder.path()).empty());
}

TEST(BackupFormatTest, OfTwoBackupsToOneNameTheSecondIsRefusedAndTheFirstIsWhole) {
  Folder folder;
  const std::string file = folder.path() / "backup";
  const backup::BackupHeader header{.cluster = "c", .digest = digest_of(kRows)};
  const auto rows = [](backup::RowVisitor visit) { return scan_prefix(kRows, "", visit); };
  const auto made = backup::write_backup(file, header, [&](backup::RowVisitor visit) {
    EXPECT_THAT(backup::write_backup(file, header, rows).status(), Is(Reason::InUse));
    return rows(visit);
  });
  ASSERT_THAT(made.status(), IsOk());
  EXPECT_THAT(check_backup(file).status(), IsOk());
  EXPECT_EQ(tree(folder.path()).size(), 1u);
}

// It was made under that name until it was whole, and took what lay there for the rest of an earlier one.
TEST(BackupFormatTest, AFileBesideThatIsSomebodyElsesIsLeftAlone) {
  Folder folder;
  const std::string file = folder.path() / "backup";
  write_file(file + ".part", "precious");
  const backup::BackupHeader header{.cluster = "c", .digest = digest_of(kRows)};
  const auto rows = [](backup::RowVisitor visit) { return scan_prefix(kRows, "", visit); };
  ASSERT_THAT(backup::write_backup(file, header, rows).status(), IsOk());
  EXPECT_EQ(read_file(file + ".part"), "precious");
}

TEST(BackupFormatTest, ABackupThatNobodyAwaitsAnyMoreEndsSoonAndLeavesNothing) {
  Folder folder;
  const std::string file = folder.path() / "backup";
  RowsByKey many;
  for (int i = 0; i < 100; ++i) many["row-" + std::to_string(100 + i)] = std::string(1 << 20, 'x');
  const backup::BackupHeader header{.cluster = "c", .digest = digest_of(many)};
  for (const int answers : {0, 1, 5}) {
    int asked = 0, visited = 0;
    const auto rows = [&](backup::RowVisitor visit) {
      return scan_prefix(many, "", [&](std::string_view key, std::string_view value) {
        ++visited;
        return visit(key, value);
      });
    };
    const auto made = backup::write_backup(file, header, rows, [&] { return asked++ < answers; });
    EXPECT_THAT(made.status(), Is(Reason::Cancelled));
    EXPECT_LE(visited, answers + 1);
    EXPECT_TRUE(tree(folder.path()).empty());
  }
}

// A program that knows nothing of the lock: it makes the name meanwhile, or takes the unfinished file away.
TEST(BackupFormatTest, ABackupPublishesItsOwnFileOnlyAndReplacesNone) {
  Folder folder;
  const std::string file = folder.path() / "backup";
  const backup::BackupHeader header{.cluster = "c", .digest = digest_of(kRows)};
  const auto beside = [&](const std::string& name) {
    return backup::write_backup(file, header, [&](backup::RowVisitor visit) {
      fs::remove(name);
      write_file(name, "precious");
      return scan_prefix(kRows, "", visit);
    });
  };
  EXPECT_THAT(beside(file + ".coordkit-part").status(), Is(Reason::StorageFailed));
  EXPECT_EQ(tree(folder.path()), (std::map<std::string, std::string>{{"backup.coordkit-part", "precious"}}));
  fs::remove(file + ".coordkit-part");
  EXPECT_THAT(beside(file).status(), Is(Reason::AlreadyExists));
  EXPECT_EQ(tree(folder.path()), (std::map<std::string, std::string>{{"backup", "precious"}}));
}

}  // namespace
}  // namespace coordkit::testkit
