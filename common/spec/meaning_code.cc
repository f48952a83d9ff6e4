// The rules about the files that a program of the user's own comes with.
#include "common/spec/meaning.h"

namespace podium {

void check_code(const Facts& facts, Problems& problems) {
  if (!facts.has("/command") || !facts.has("/code") || !facts.all()["code"].is_object()) return;
  const bool of_git = facts.has("/code/git");
  if (!of_git && !facts.has("/code/folder"))
    problems.add("/code",
                 "code needs the key \"folder\", or \"git\": a commit, tag or branch that has the files");
  if (!facts.text("/code/commit")) return;  // or it is refused
  if (!of_git)
    problems.add_key("/code/commit",
                     "code.commit is what code.git meant, and this spec has no code.git; remove it");
  else if (!facts.has("/code/snapshot"))
    problems.add_key(
        "/code/commit",
        "code.commit tells what code.snapshot holds, which this spec lacks; remove it, or write it "
        "under code.git to have that commit");
}

}  // namespace podium
