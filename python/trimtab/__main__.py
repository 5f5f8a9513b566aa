# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs, as pip puts them on PATH: `trimtab` and `trimtab++`, and what else lies in the package's bin/."""

import os
import sys

from trimtab._tools import TrimtabError, environment, tool_path


def _become(name: str) -> int:
    try:
        program = tool_path(name)
    except TrimtabError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    os.execve(program, [program, *sys.argv[1:]], environment())


def trimtab() -> int:
    return _become("trimtab")


def trimtab_compiler() -> int:
    return _become("trimtab++")


if __name__ == "__main__":
    sys.exit(trimtab())
