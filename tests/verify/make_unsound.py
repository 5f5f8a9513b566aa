#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_unsound.py BINARY SOUND KERNEL...: claims in the binary's records that each kernel may have any block, by the
guards of kernel SOUND; of KERNEL=LOOP, any number of threads, by the loops of kernel LOOP.

A proof with a hole would say the same. The records keep their length, for the program points to them.
"""

import json
import struct
import sys

MAGIC = b"TRIMTAB2"
OF_LOOPS = ("guards", "dimensions", "strides", "stride_accesses", "block", "grid", "reassociate")
path, sound = sys.argv[1:3]
kernels = dict((argument.split("=") + [None])[:2] for argument in sys.argv[3:])
data = bytearray(open(path, "rb").read())
changed, start = set(), 0
while (start := data.find(MAGIC, start)) >= 0:
    length = struct.unpack_from("<Q", data, start + 8)[0]
    first = start + 24
    start += 8
    if length > len(data) - first:
        continue
    try:
        record = json.loads(data[first : first + length])
    except ValueError:
        continue
    guards = [kernel["description"]["guards"] for kernel in record["kernels"] if sound in kernel["description"]["name"]]
    described = {kernel["description"]["name"]: kernel["description"] for kernel in record["kernels"]}
    for kernel in record["kernels"]:
        description = kernel["description"]
        name = next((name for name in kernels if name in description["name"]), None)
        if name is None:
            continue
        description.update(verdict="covering", reasons=[], race_free="proved", guards=guards[0])
        description.update(dimensions={"x": {"index": "global", "block": "any"}})
        for loop in [of for of_name, of in described.items() if kernels[name] and kernels[name] in of_name]:
            description.update({key: loop[key] for key in OF_LOOPS if key in loop})
        changed.add(name)
    text = json.dumps(record, separators=(",", ":")).encode()
    assert len(text) <= length, (len(text), length)
    data[first : first + length] = text.ljust(length)
assert changed == set(kernels), (changed, kernels)
open(path, "wb").write(data)
