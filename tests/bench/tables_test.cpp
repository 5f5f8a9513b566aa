// Measured tables as they come: shuffled columns, several readings, and what is no table.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "bench/selection_quality/csv.h"
#include "bench/selection_quality/measured_table.h"
#include "bench/tuned_quality/tuned_table.h"

namespace trimtab::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Tables : public testing::Test {
  protected:
    std::string write(const std::string& text) {
        const std::string path = testing::TempDir() + "/bench_table.csv";
        std::ofstream(path) << text;
        return path;
    }
};

TEST_F(Tables, ReadsCasesWithColumnsInAnyOrder) {
    const auto cases = read_measured_table(write(
        "n,gpu,kernel,app,time_ms,by,bx,remark\r\n512,k20c,k,A,2.5,1,32,x\r\n512,k20c,k,A,1.5,2,16,y\r\n"
        "64,k20c,k,A,1,1,32,\r\n"));
    ASSERT_TRUE(cases) << cases.error().text();
    ASSERT_EQ(cases->size(), 2u);
    EXPECT_EQ(cases->front().n, 512u);
    EXPECT_EQ(cases->front().app, "A");
    ASSERT_NE(cases->front().find({16, 2}), nullptr);
    EXPECT_DOUBLE_EQ(cases->front().find({16, 2})->ms, 1.5);
    EXPECT_EQ(cases->front().find({2, 16}), nullptr);
}

TEST_F(Tables, SeveralReadingsCountByTheirMedian) {
    const auto cases = read_measured_table(
        write("gpu,app,kernel,n,bx,by,time_ms\ng,a,k,1,32,1,9\ng,a,k,1,32,1,1\ng,a,k,1,32,1,2\n"
              "g,a,k,1,64,1,1\ng,a,k,1,64,1,2\n"));
    ASSERT_TRUE(cases) << cases.error().text();
    EXPECT_DOUBLE_EQ(cases->front().find({32, 1})->ms, 2);
    EXPECT_DOUBLE_EQ(cases->front().find({64, 1})->ms, 1.5);
}

TEST_F(Tables, ErrorsNameTheLine) {
    const auto expect = [&](const std::string& text, const std::string& message) {
        const auto cases = read_measured_table(write(text));
        ASSERT_FALSE(cases) << text;
        EXPECT_THAT(cases.error().text(), HasSubstr(message));
    };
    expect("gpu,app,kernel,n,bx,by\n", ":1: has no column \"time_ms\"");
    expect("gpu,app,kernel,n,bx,by,time_ms\ng,a,k,64,32,1,fast\n", ":2: \"fast\" is no number");
    expect("gpu,app,kernel,n,bx,by,time_ms\n\ng,a,k,64,32\n", ":3: has 5 values of 7");
    expect("gpu,app,kernel,n,bx,by,time_ms\ng,a,k,64,32,1,0\n", ":2: 0 is out of range");
    expect("", "cannot read a table");
}

TEST_F(Tables, TunedConfigurationsFallIntoSlices) {
    const auto slices = read_tuned_table(
        write("block_size_x,block_size_y,tile_size_x,tile_size_y,read_only,use_padding,time_ms\n"
              "32,4,1,2,0,1,3.5\n64,2,1,2,0,1,2.5\n32,4,1,1,0,1,1.5\n"));
    ASSERT_TRUE(slices) << slices.error().text();
    ASSERT_EQ(slices->size(), 2u);
    EXPECT_EQ((*slices)[0].tile_y, 1u);
    ASSERT_EQ((*slices)[1].configurations.size(), 2u);
    EXPECT_EQ((*slices)[1].configurations[1].block_x, 64u);
    EXPECT_DOUBLE_EQ((*slices)[1].configurations[1].ms, 2.5);
    const auto bad = read_tuned_table(write(
        "block_size_x,block_size_y,tile_size_x,tile_size_y,read_only,use_padding,time_ms\n0,4,1,2,0,1,3\n"));
    ASSERT_FALSE(bad);
    EXPECT_THAT(bad.error().text(), HasSubstr(":2: 0 is out of range"));
}

}  // namespace
}  // namespace trimtab::bench
