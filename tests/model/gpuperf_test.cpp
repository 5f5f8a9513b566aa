#include <gtest/gtest.h>

#include "model/performance_model.h"

namespace trimtab::model {
namespace {
TEST(Models, AreFoundByName) {
    EXPECT_TRUE(performance_model(default_model));
    EXPECT_EQ(performance_model("gpupref").error().text(),
              "performance model \"gpupref\" is not known; did you mean \"gpuperf\"?");
    for (std::string_view name : performance_model_names()) EXPECT_EQ((*performance_model(name))->name, name);
}
}  // namespace
}  // namespace trimtab::model
