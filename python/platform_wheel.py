# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel holds programs: it is of one platform, and of no version of Python."""

import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformWheel(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
