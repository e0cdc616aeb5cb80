// The data directories of a new cluster while they are created. They have temporary names until all of them are whole and
// durable. If one of them fails, all are removed again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/operate/backup.h"
#include "coordkit/ports/state_store.h"
#include "coordkit/raft/entry.h"
#include "coordkit/storage/data_directory.h"

namespace coordkit::backup {

class NewDirectories {
 public:
  // `cluster`: its name. Makes each directory with a new identity, and nothing else in it yet. kAlreadyExists, kNotFound (a
  // parent).
  absl::Status create(const std::vector<NewMember>& members, const std::string& cluster);
  // The members of the new cluster, with the directories just created.
  raft::Configuration voters() const;
  std::vector<StoreId> stores() const;
  // Fills each directory with the same state and a log that begins after it.
  absl::Status fill(const CheckpointBatch& whole);
  // Gives the directories their final names.
  absl::Status publish();

  NewDirectories() = default;
  ~NewDirectories();  // removes directories that were not published
  NewDirectories(const NewDirectories&) = delete;
  NewDirectories& operator=(const NewDirectories&) = delete;

 private:
  struct Made {
    NewMember member;
    std::string parent;
    std::string name;                          // in `parent`
    std::string unfinished;                    // in `parent`
    std::shared_ptr<DataDirectory> directory;  // null: not opened yet
    bool renamed = false;
  };
  absl::Status create_one(const NewMember& member, const std::string& cluster);

  std::vector<Made> made_;
  bool published_ = false;
};

}  // namespace coordkit::backup
