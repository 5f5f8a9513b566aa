// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What clang refused, as its messages tell, and the copy of the source that it takes.
#include "tools/trimtab++/refused_forms.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace trimtab::wrapper {
namespace {

std::string changed(const std::string& text, RefusedForm form, std::vector<SourcePlace> places) {
    return with_accepted_form(text, form, places).value_or("refused");
}

TEST(RefusedForms, AreFoundInClangsMessages) {
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "refused form.cu";
    std::ofstream(file) << "x";
    const std::string path = std::filesystem::canonical(file).string();
    const std::string shared = "error: initialization is not supported for __shared__ variables\n",
                      braces =
                          ":3:4: error: use of overloaded operator '=' is ambiguous (with operand types "
                          "'half2' (aka '__half2') and 'void')\n";
    // One form at a time: the places of the next are known once this one is changed.
    const auto found =
        refusal_in("a.cu:1:2: warning: w\n" + path + braces + "\x1b[1m" + path + ":12:34: \x1b[0m" + shared +
                   path + ":5:6: " + shared + "/no/such/file:1:2: " + shared + shared + ":: " + shared);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->form, RefusedForm::constructed_shared_variable);
    ASSERT_EQ(found->places.size(), 1U);
    EXPECT_EQ(found->places.at(path), (std::vector<SourcePlace>{{12, 34}, {5, 6}}));
    const auto next = refusal_in(path + braces);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->form, RefusedForm::ambiguous_empty_braces);
    EXPECT_FALSE(refusal_in(""));
    EXPECT_FALSE(refusal_in(path + ":1:1: error: unknown type name 'x'\n"));
    std::filesystem::remove(file);
}

TEST(RefusedForms, ATemplatesOwnArgumentsAreDropped) {
    const auto own = RefusedForm::own_template_arguments;
    EXPECT_EQ(changed("template <typename T>\nvoid f<T>(T *) {}", own, {{2, 6}}),
              "template <typename T>\nvoid f   (T *) {}");
    EXPECT_EQ(changed("template <class T, int n>\nvoid a::f <T,\n n>(T *) {}\nint x;", own, {{2, 9}}),
              "template <class T, int n>\nvoid a::f    \n   (T *) {}\nint x;");
    EXPECT_EQ(changed("template <class T> void f<T>(T);template <class T> void g<T>(T);", own,
                      {{1, 25}, {1, 57}, {1, 25}}),
              "template <class T> void f   (T);template <class T> void g   (T);");
    // What specializes in part means something else, to nvcc as well.
    for (const char* text :
         {"template <class T, int n> void f<T, 3>(T) {}", "template <class T, int n> void f<T>(T) {}",
          "template <class T> void f<T*>(T) {}", "template <class T, int n void f<T"})
        EXPECT_EQ(changed(text, own, {{1, std::string(text).rfind("f<") + 1}}), "refused") << text;
    EXPECT_EQ(changed("void f<T>(T);", own, {{1, 6}}), "refused");
    EXPECT_EQ(changed("f", own, {{2, 1}}), "refused");
}

TEST(RefusedForms, EmptyBracesGetATypeWhereTheyAreAssigned) {
    const auto braces = RefusedForm::ambiguous_empty_braces;
    const auto typed = [](const std::string& operand) {
        return "typename std::remove_reference<decltype((" + operand + "))>::type";
    };
    EXPECT_EQ(changed("r = {};", braces, {{1, 3}}), "r = " + typed("r") + "{};");
    EXPECT_EQ(changed("else a.b->c[i + f(1)] =\n{ };", braces, {{1, 23}}),
              "else a.b->c[i + f(1)] =\n" + typed("a.b->c[i + f(1)]") + "{ };");
    EXPECT_EQ(changed("*p = {}, (*q)[1] = {};", braces, {{1, 4}, {1, 18}}),
              "*p = " + typed("*p") + "{}, (*q)[1] = " + typed("(*q)[1]") + "{};");
    for (const char* text : {"r = {1};", "r = x;", "r = {", "= {};", "r =", ") = {};"})
        EXPECT_EQ(changed(text, braces, {{1, std::string(text).find('=') + 1}}), "refused") << text;
}

TEST(RefusedForms, DefinitionsGetTheWordsOfTheirDeclarations) {
    const auto word = RefusedForm::no_device_word;
    EXPECT_EQ(changed("int A::f() {}", word, {{1, 8}}), "__device__ int A::f() {}");
    EXPECT_EQ(changed("struct A { int f(); }; // ;\n/* ; */ int\nA::f() {}", word, {{3, 4}}),
              "struct A { int f(); }; // ;\n/* ; */ __device__ int\nA::f() {}");
    EXPECT_EQ(changed("#define Q ;\ntemplate <class T>\ntemplate <class U> T A<T>::f(U) {}", word, {{3, 28}}),
              "#define Q ;\ntemplate <class T>\ntemplate <class U> __device__ T A<T>::f(U) {}");
    EXPECT_EQ(changed("int a() {}\nint g() {}\nA::A() {}", RefusedForm::no_word, {{3, 4}, {2, 5}}),
              "int a() {}\n__host__ __device__ int g() {}\n__host__ __device__ A::A() {}");
    EXPECT_EQ(changed("__device__ int A::g() {}", RefusedForm::no_host_word, {{1, 19}}),
              "__host__ __device__ int A::g() {}");
    EXPECT_EQ(changed("// int A::f() {}", word, {{1, 11}}), "refused");
    // Places that the text has not, and a header without an end.
    EXPECT_EQ(changed("int f();", word, {{1, 100}}), "refused");
    EXPECT_EQ(changed("template <class T> f", word, {{1, 11}}), "refused");
    // Of a member that is declared in another way, clang alone speaks.
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "near_miss.cu";
    std::ofstream(file) << "x";
    const std::string path = std::filesystem::canonical(file).string(),
                      miss =
                          path +
                          ":3:8: error: out-of-line definition of 'f' does not match\n    3 | int A::f()\n" +
                          path + ":2:8: note: A defined here\n";
    EXPECT_FALSE(
        refusal_in(miss + path + ":2:27: note: member declaration does not match because it is const\n"));
    EXPECT_FALSE(refusal_in(miss + path + ":5:1: error: x\n" + path +
                            ":2:27: note: member declaration nearly matches\n"));
    const auto found = refusal_in(miss + path + ":2:27: note: member declaration nearly matches\n");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->form, RefusedForm::no_device_word);
    EXPECT_EQ(found->places.at(path), (std::vector<SourcePlace>{{3, 8}}));
    std::filesystem::remove(file);
}

TEST(RefusedForms, DeclarationsGetTheWordsOfTheirDefinitions) {
    const auto before = RefusedForm::no_word_before;
    EXPECT_EQ(changed("struct A { A(); explicit A(int); };", before, {{1, 26}}),
              "struct A { A(); __host__ __device__ explicit A(int); };");
    EXPECT_EQ(changed("class A { public: A(int); };", before, {{1, 19}}),
              "class A { public: __host__ __device__ A(int); };");
    EXPECT_EQ(changed("__device__ int f();", RefusedForm::no_host_word_before, {{1, 16}}),
              "__host__ __device__ int f();");
    EXPECT_EQ(
        changed("extern \"C\" __host__ __device__ void f();", RefusedForm::host_word_too_many, {{1, 37}}),
        "extern \"C\"          __device__ void f();");
    EXPECT_EQ(changed("BOTH void f();", RefusedForm::host_word_too_many, {{1, 11}}), "refused");
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lib" / "clang";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "clangs.h") << "x";
    std::ofstream(folder / ".." / "users.cu") << "x";
    const std::string clangs = std::filesystem::canonical(folder / "clangs.h").string(),
                      users = std::filesystem::canonical(folder / ".." / "users.cu").string();
    const auto said = [&](const std::string& words, const std::string& place) {
        const std::string error = users + ":3:4: error: __host__ __device__ function 'f' cannot overload " +
                                  words + " function 'f'\n" + place +
                                  ":1:2: note: previous declaration is here\n";
        const auto refusal = refusal_in(error);
        return refusal ? std::pair(refusal->form, refusal->places.begin()->second.front())
                       : std::pair(RefusedForm::copied_built_in, SourcePlace{});
    };
    EXPECT_EQ(said("__host__", users), (std::pair{RefusedForm::no_word_before, SourcePlace{1, 2}}));
    EXPECT_EQ(said("__device__", users), (std::pair{RefusedForm::no_host_word_before, SourcePlace{1, 2}}));
    EXPECT_EQ(said("__device__", clangs), (std::pair{RefusedForm::host_word_too_many, SourcePlace{3, 4}}));
    EXPECT_EQ(said("__host__", clangs).first, RefusedForm::copied_built_in) << "not to be changed";
    std::filesystem::remove_all(folder / "..");
}

TEST(RefusedForms, CopiedIndicesHaveTheTypeOfNvcc) {
    const auto copied = RefusedForm::copied_built_in;
    EXPECT_EQ(changed("auto t = threadIdx; auto b =\nblockDim;", copied, {{1, 6}, {1, 26}}),
              "auto t = uint3(threadIdx); auto b =\ndim3(blockDim);");
    EXPECT_EQ(changed("f(my_threadIdx, gridDim)", copied, {{1, 3}}), "f(my_threadIdx, dim3(gridDim))");
    EXPECT_EQ(changed("auto t = x; threadIdx", copied, {{1, 6}}), "refused");
}

}  // namespace
}  // namespace trimtab::wrapper
