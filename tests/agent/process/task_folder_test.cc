#include "agent/process/task_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

const TaskId kTask{{{12}, 3}, 1};

TaskRecord record_of(TaskId task) {
  TaskRecord record;
  record.task = task;
  record.device_kind = "cpu";
  return record;
}

Launch launch_of(TaskId task) {
  Launch launch;
  launch.task = task;
  launch.secret = "s3cret";
  launch.spec.command = {"true"};
  return launch;
}

int mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return static_cast<int>(status.st_mode & 0777);
}

TEST(TaskFolder, LiesWhereTheProtocolSays) {
  EXPECT_EQ(TaskFolder("/home", kTask).path(), "/home/jobs/12/3/1");
  EXPECT_EQ(TaskFolder("/home", kTask).stream_path(StreamKind::events), "/home/jobs/12/3/1/events.jsonl");
}

TEST(TaskFolder, KeepsTheSecretPrivate) {
  const TempFolder home;
  const TaskFolder folder(home.path(), kTask);
  folder.create(record_of(kTask), launch_of(kTask));
  EXPECT_EQ(mode_of(folder.path()), 0700);
  EXPECT_EQ(mode_of(folder.launch_path()), 0600);
  EXPECT_EQ(mode_of(folder.path() / "task.json"), 0600);
}

TEST(TaskFolder, RecordSurvives) {
  const TempFolder home;
  const TaskFolder folder(home.path(), kTask);
  TaskRecord record = record_of(kTask);
  folder.create(record, launch_of(kTask));
  EXPECT_EQ(folder.read_record(), record);
  record.pid = 4242;
  record.boot = "b";
  record.forgotten = true;
  record.device_kind = "gpu";
  record.device_index = 3;
  record.exit = TaskExit{0, 9, "killed"};
  record.delivered = {10, 20, 30};
  folder.write_record(record);
  EXPECT_EQ(folder.read_record(), record);
}

TEST(TaskFolder, FindsTasksAndPointsOutStrangeFolders) {
  const TempFolder home;
  std::vector<fs::path> strange;
  EXPECT_TRUE(find_tasks(home.path(), strange).empty());
  for (const TaskId task : {kTask, TaskId{{{2}, 1}, 0}})
    TaskFolder(home.path(), task).create(record_of(task), launch_of(task));
  fs::create_directories(home.path() / "jobs/12/3/2");       // never got its record
  fs::create_directories(home.path() / "jobs/../jobs/012");  // not how a number is written
  write_file_atomic(home.path() / "jobs/notes.txt", "");
  EXPECT_THAT(find_tasks(home.path(), strange), testing::UnorderedElementsAre(kTask, TaskId{{{2}, 1}, 0}));
  EXPECT_THAT(strange, testing::UnorderedElementsAre(home.path() / "jobs/12/3/2", home.path() / "jobs/012",
                                                     home.path() / "jobs/notes.txt"));
}

// They came as the disk listed them, and of the folders that are kept not the oldest went first.
TEST(TaskFolder, FindsTheTaskWhoseRecordIsOldestFirst) {
  const TempFolder home;
  const auto now = fs::file_time_type::clock::now();
  std::vector<TaskId> written;
  for (const std::int64_t job : {3, 12, 1, 7, 2, 9}) {
    written.push_back({{{job}, 1}, 0});
    const TaskFolder folder(home.path(), written.back());
    folder.create(record_of(written.back()), launch_of(written.back()));
    fs::last_write_time(folder.path() / "task.json", now + std::chrono::seconds(written.size()));
  }
  std::vector<fs::path> strange;
  EXPECT_EQ(find_tasks(home.path(), strange), written);
}

TEST(TaskFolder, IsToldByItsPathAlone) {
  EXPECT_EQ(task_named_by(TaskFolder("/nowhere", kTask).path()), kTask);
  for (const char* path : {"/nowhere/jobs/12/3", "/nowhere/jobs/12/3/x", "/nowhere/jobs/012/3/1",
                           "/nowhere/12/3/1", "/nowhere/jobs/-1/3/1", "/", ""})
    EXPECT_EQ(task_named_by(path), std::nullopt) << path;
}

TEST(TaskFolder, RemovesItselfAndEmptyParentsOnly) {
  const TempFolder home;
  const TaskId sibling{{{12}, 3}, 0};
  for (const TaskId task : {kTask, sibling})
    TaskFolder(home.path(), task).create(record_of(task), launch_of(task));
  TaskFolder(home.path(), kTask).remove();
  EXPECT_FALSE(fs::exists(home.path() / "jobs/12/3/1"));
  EXPECT_TRUE(fs::exists(home.path() / "jobs/12/3/0/task.json"));
  TaskFolder(home.path(), sibling).remove();
  EXPECT_TRUE(fs::is_empty(home.path() / "jobs"));
}

TEST(TaskFolder, SaysWhichFolderCannotBeMade) {
  const TempFolder home;
  write_file_atomic(home.path() / "jobs", "a file where a folder belongs");
  try {
    TaskFolder(home.path(), kTask).create(record_of(kTask), launch_of(kTask));
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr((home.path() / "jobs/12").string()));
  }
}

}  // namespace
}  // namespace podium
