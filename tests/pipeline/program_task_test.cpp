// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The task of a program, with the shell in a program's place: it writes what it was asked into the file of lines.
#include "pipeline/workers/program_task.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "pipeline/workers/pool.h"

namespace trimtab::workers {
namespace {

using testing::HasSubstr;

// Adds its share, the folder that it runs in and a variable to the file, and ends with 3.
ProgramRun shell() {
    return {.words = {"/bin/sh", "-c",
                      R"(file=${PLAN##*\"file\":\"}; file=${file%%\"*}; share=${PLAN##*\"share\":}; )"
                      R"(echo "${share%%,*} $PWD $GIVEN" >>"$file"; echo printed; exit 3)"},
            .folder = "/",
            .environment = {{"GIVEN", "value"}},
            .variable = "PLAN",
            .plan = {{"seed", 1}},
            .earlier = "of an earlier run\n"};
}

TEST(ProgramTask, GivesTheLinesThatTheProgramAdds) {
    ProgramHand hand;
    const auto answer = hand.work(program_task(shell(), 2, 3).head);
    ASSERT_TRUE(answer) << answer.error().text();
    const auto result = read_program_result(*answer);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->lines, "2 / value\n");
    EXPECT_EQ(result->outcome.exit_code, 3);
}

TEST(ProgramTask, NamesAFolderOrAProgramThatIsNotThere) {
    ProgramRun run = shell();
    run.folder = "/no/such/folder";
    ProgramHand hand;
    auto answer = hand.work(program_task(run, 0, 1).head);
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_THAT(read_program_result(*answer).error().text(), HasSubstr("/no/such/folder"));
    run.folder = "/";
    run.words = {"/no/such/program"};
    answer = hand.work(program_task(run, 0, 1).head);
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_THAT(read_program_result(*answer).error().text(), HasSubstr("/no/such/program"));
}

TEST(ProgramTask, WithoutAPlanIsNone) {
    nlohmann::json head = program_task(shell(), 0, 1).head;
    head["plan"] = "[]";
    EXPECT_FALSE(ProgramHand().work(head));
}

}  // namespace
}  // namespace trimtab::workers
