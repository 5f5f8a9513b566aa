#include "tools/trimtab/report_html.h"

#include <gmock/gmock.h>

namespace trimtab::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* gemm =
    R"({"kernel":"gemm<float>","device":"h100","data":{"NI":512,"NJ":256},"written":{"grid":[16,8,1],"block":[32,32,1]},)"
    R"("chosen":{"grid":[8,64,1],"block":[64,4,1]},"predicted_ns":{"written":3000,"chosen":2000},"by":"driver","reason":""})";
constexpr const char* other =
    R"({"kernel":"scan","device":"h100","data":{},"written":{"grid":[4,1,1],"block":[256,1,1]},)"
    R"("chosen":{"grid":[4,1,1],"block":[256,1,1]},"predicted_ns":{"written":0,"chosen":0},"by":"unchanged","reason":"reads shared memory & <barriers>"})";

TEST(ReportPage, HasARowForEveryDifferentLaunch) {
    const std::string page =
        report_page(std::string(gemm) + "\n" + gemm + "\n" + other + "\n", {"./a", "--n", "5"});
    EXPECT_THAT(page, HasSubstr("<code>./a --n 5</code>"));
    EXPECT_THAT(page, HasSubstr("3 launches, 2 different ones."));
    EXPECT_THAT(page,
                HasSubstr("<td>gemm&lt;float&gt;</td><td>h100</td><td>NI = 512, NJ = 256</td>"
                          "<td>16 × 8 × 1 blocks of 32 × 32 × 1</td><td>8 × 64 × 1 blocks of 64 × 4 × 1</td>"
                          "<td class=\"number\">3</td><td class=\"number\">2</td>"
                          "<td class=\"number\">1.50</td><td class=\"number\">2</td><td>driver</td>"));
    EXPECT_THAT(page, HasSubstr("reads shared memory &amp; &lt;barriers&gt;"));
    EXPECT_LT(page.find("gemm"), page.find("scan"));  // as they came
    EXPECT_THAT(page, Not(HasSubstr("http")));        // needs nothing beside it
}

TEST(ReportPage, OutlivesLinesThatAreDamaged) {
    const std::string page =
        report_page(std::string(gemm) + "\n{\"kernel\":\n[1]\n{}\n{\"data\":5,\"written\":7}", {});
    EXPECT_THAT(page, HasSubstr("3 launches, 3 different ones; 2 lines could not be read."));
    EXPECT_THAT(report_page("", {"./a"}), HasSubstr("0 launches"));
}

}  // namespace
}  // namespace trimtab::tools
