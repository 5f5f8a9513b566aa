# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of selection_quality by GPU, kernel and size."""

GPUS = {"gtx1080ti": "GTX 1080 Ti", "rtx2070super": "RTX 2070 SUPER"}
OPTIONS = ("--gpu", "gtx1080ti", "--gpu", "rtx2070super")


def cases(trimtab):
    return {(one["gpu"], one["app"], one["kernel"], one["n"]): one for one in trimtab.selection(*OPTIONS)[0]["cases"]}


def size(block):
    return f"{block['bx']} x {block['by']}"


def efficiency(case, rule):
    return case["choices"].get(rule, {}).get("efficiency")
