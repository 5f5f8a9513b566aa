// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `trimtab select` answers, and what it answers to nonsense.
#include <filesystem>
#include <fstream>

#include "tests/tools/command_fixture.h"

namespace trimtab::tools::test {

namespace {

TEST_F(Command, SelectRanksEveryLegalBlock) {
    const Outcome outcome = trimtab(
        "select program --kernel scale --device gtx1080ti --arg rows=1000 --arg columns=3000 --extent "
        "3000,1000 "
        "--json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = outcome.json();
    EXPECT_EQ(json["kernel"], "void scale<float>(float const*, float*, float, int, int)");
    EXPECT_EQ(json["device"], "gtx1080ti");
    EXPECT_EQ(json["data"]["columns"], 3000);
    EXPECT_EQ(json["data"]["extent.y"], 1000);
    const Json& ranking = json["ranking"];
    EXPECT_EQ(ranking.size(), 464u);
    // The first may be one of several too near to tell apart.
    EXPECT_LE(ranking[0]["ns"].get<double>(), 1.01 * ranking[1]["ns"].get<double>());
    double last = 0;
    for (const Json& entry : ranking) {
        if (entry != ranking[0]) {
            EXPECT_GE(entry["ns"], last);
            last = entry["ns"];
        }
        EXPECT_EQ(entry["bx"].get<int>() * entry["by"].get<int>() % 32, 0);
        EXPECT_GT(entry["metrics"]["load_sectors"], 0);
    }
    for (const char* size : {"bx", "by", "bz"}) EXPECT_EQ(json["chosen"][size], ranking[0][size]);
    // A row of the matrix is contiguous: narrow blocks waste sectors.
    EXPECT_GE(json["chosen"]["bx"], 32);
    EXPECT_LT(ranking.back()["bx"], 4);

    // The guards say the same extent.
    const Json implied =
        trimtab("select program --kernel scale --device gtx1080ti --arg rows=1000 --arg 4=3000 --json")
            .json();
    EXPECT_EQ(implied["chosen"], json["chosen"]);
    const Json few =
        trimtab(
            "select program --kernel scale --device gtx1080ti --arg rows=1000 --arg columns=3000 "
            "--candidates '1,32;16,16;33,1;32,64' --json")
            .json();
    EXPECT_EQ(few["ranking"].size(), 2u);
    EXPECT_EQ(few["chosen"]["bx"], 16);
}

// One question has one answer: select's own search is the driver programs' text, compiled into the tool.
TEST_F(Command, SelectChoosesWhatTheRuntimeChooses) {
    std::ofstream(folder_ / "sizes.cu") << R"(
#include <cstdlib>
__global__ void saxpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
__global__ void shift(float *out, const float *in, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y + 1 < h) out[y * w + x] = in[(y + 1) * w + x];
}
int main(int, char **) {
    float *a, *b;
    cudaMalloc(&a, 40 << 20);
    cudaMalloc(&b, 40 << 20);
    for (int n : {1 << 12, 1 << 17, 1 << 20, 3000000}) saxpy<<<(n + 31) / 32, 32>>>(a, b, 2, n);
    for (int w : {96, 1000, 2048}) shift<<<dim3((w + 3) / 4, w / 8), dim3(4, 8)>>>(a, b, w, w / 8 * 8);
    return cudaDeviceSynchronize();
})";
    ASSERT_EQ(shell(TRIMTAB_BINARY_DIR "/bin/trimtab++ --trimtab-quiet -O3 sizes.cu -o sizes").code, 0);
    for (const char* device : {"rtx2070super", "a100"}) {
        fs::remove(folder_ / "sizes.jsonl");
        ASSERT_EQ(shell(std::string("TRIMTAB_LEAST_GAIN=0 TRIMTAB_REPORT=sizes.jsonl TRIMTAB_DEVICE=") +
                        device + " ./sizes")
                      .code,
                  0);
        std::ifstream lines(folder_ / "sizes.jsonl");
        int launches = 0;
        for (std::string line; std::getline(lines, line); ++launches) {
            const Json launch = Json::parse(line);
            std::string question = "select sizes --json --device " + std::string(device);
            question += launch["kernel"].get<std::string>().find("saxpy") != std::string::npos
                            ? " --kernel saxpy"
                            : " --kernel shift";
            std::string extent;
            for (const auto& [name, value] : launch["data"].items())
                if (name.starts_with("extent."))
                    extent += (extent.empty() ? "" : ",") + std::to_string(value.get<int>());
                else
                    question += " --arg " + name + "=" + std::to_string(value.get<int>());
            const Json chosen = trimtab(question + " --extent " + extent).json()["chosen"];
            EXPECT_EQ(Json({chosen["bx"], chosen["by"], chosen["bz"]}), launch["chosen"]["block"])
                << question << " " << line;
        }
        EXPECT_EQ(launches, 7);
    }
}

TEST_F(Command, SelectProfilesWhatHasNoProfile) {
    const std::string rest = " --kernel row_sums --device h100 --arg 2=100000 --arg 3=64 --json";
    const Json from_ptx = trimtab("select kernels.ptx" + rest).json();
    const Json from_object = trimtab("select plain.o" + rest).json();
    const Json from_source = trimtab("select kernels.cu" + rest).json();
    ASSERT_TRUE(from_ptx.is_object() && from_source.is_object());
    EXPECT_EQ(from_ptx["ranking"].size(), 32u);  // one dimension
    EXPECT_EQ(from_ptx["chosen"], from_object["chosen"]);
    EXPECT_EQ(from_source["ranking"].size(), 32u);
    EXPECT_EQ(from_source["data"]["rows"], 100000);
}

TEST_F(Command, SelectTakesTheExtentsFromOneBoundOfSeveralIndices) {
    std::ofstream(folder_ / "square.cu") << R"(
__global__ void square(float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = x;
})";
    const Outcome outcome = trimtab("select square.cu --kernel square --device h100 --arg n=700 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["data"]["extent.x"], 700);
    EXPECT_EQ(outcome.json()["data"]["extent.y"], 700);
}

TEST_F(Command, SelectSaysWhatIsWrong) {
    const std::string scale = "select program --kernel scale --device gtx1080ti ";
    expect_failure(scale + "--arg columns=3000", 3, "give --arg rows=VALUE");
    expect_failure(scale + "--arg colums=3000", 3, "did you mean \"columns\"?");
    expect_failure(scale + "--arg columns=many --arg rows=3", 3, "\"many\" is no");
    expect_failure(scale + "--arg columns=3 --arg rows=3 --extent 3,0", 3, "--extent");
    expect_failure(scale + "--arg columns=3 --arg rows=3 --candidates 3,b", 3, "--candidates");
    expect_failure(scale + "--arg columns=3 --arg rows=3 --grid 4", 3,
                   "--grid and --block together describe");
    expect_failure(scale + "--arg columns=3 --arg rows=3 --grid 4 --block 32 --extent 3", 3,
                   "exclude --extent");
    expect_failure(scale + "--arg columns=3 --arg rows=3 --grid 4 --block 0", 3, "--block");
    expect_failure("select program --kernel scal --device h100", 3, "did you mean \"scale\"?");
    expect_failure("select program --kernel scale --device h10", 3, "did you mean \"h100\"?");
    expect_failure("select program --device h100", 3, "say which with --kernel");
    const std::string fixed = "select program --kernel block_sums --arg n=1000 --extent 1024";
    expect_failure(fixed, 1, "shared memory");
    const Json json = trimtab(fixed + " --json").json();
    EXPECT_TRUE(json["chosen"].is_null());
    EXPECT_THAT(json["reason"].get<std::string>(), HasSubstr("shared memory"));
    expect_failure(scale + "--arg columns=300 --arg rows=300 --candidates 3,3", 1, "no block is legal");
}

// With a phase of 0, half of its fits divide by 0; with another, odd_even is as any other kernel.
TEST_F(Command, ATimeThatTheProfileDoesNotKnowIsNotTold) {
    std::ofstream(folder_ / "odd_even.cu") << R"(
        extern "C" __global__ void odd_even(int *a, int n, int phase) {
            int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
            if (i + 1 < n) { int x = a[i], y = a[i + 1]; if (x > y) { a[i] = y; a[i + 1] = x; } }
        })";
    ASSERT_EQ(
        shell(TRIMTAB_BINARY_DIR "/bin/trimtab++ --trimtab-quiet -O3 -c odd_even.cu -o odd_even.o").code, 0);
    const std::string launch = " odd_even.o --arg n=600 --arg phase=0 --grid 3 --block 128 --json";
    const Json chosen = trimtab("select" + launch).json();
    EXPECT_EQ(chosen["by"], "unchanged");
    EXPECT_THAT(chosen["reason"].get<std::string>(), HasSubstr("uncertain"));
    EXPECT_TRUE(chosen["predicted_ns"]["written"].is_null());
    EXPECT_EQ(trimtab("select odd_even.o --arg n=600 --arg phase=0 --extent 384 --json").json()["uncertain"],
              true);
    const Json predicted = trimtab("predict" + launch).json();
    EXPECT_EQ(predicted["by"], "emulation");
    EXPECT_LT(predicted["ns"], 10'000);
}

}  // namespace

}  // namespace trimtab::tools::test
