# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from item import Item, Row

GPUS = {  # instructions/s, FP32, FP64 and shared memory in G per second, DRAM in GB/s, instructions per byte; p. 72
    "c2050": ("Fermi C2050", 515, 1030, 515, 1030, 144, 4.5), "gtx960": ("Maxwell GTX 960", 1206, 2412, 75, 1206, 112, 10.7)}


def run(trimtab):
    rows = []
    for gpu, (title, instructions, fp32, fp64, shared, dram, balance) in GPUS.items():
        def value(name, gpu=gpu):
            return trimtab.device_value(gpu, name)
        per_second = value("sm_count") * value("sm_clock_hz") / 1e9
        lanes = {name: value(f"{name}_lanes_per_sm") for name in ("fp32", "fp64")}
        ours = {"instructions": per_second * lanes["fp32"], "shared": per_second * value("shared_bytes_per_clock"),
                "dram": value("dram_bytes_per_s") / 1e9}
        rows += [Row(f"{title}: instructions of threads", instructions, ours["instructions"], "G/s"),
                 Row(f"{title}: single precision", fp32, 2 * per_second * lanes["fp32"], "GFLOP/s"),
                 Row(f"{title}: double precision", fp64, 2 * per_second * lanes["fp64"], "GFLOP/s"),
                 Row(f"{title}: shared memory", shared, ours["shared"], "GB/s"),
                 Row(f"{title}: DRAM", dram, ours["dram"], "GB/s"),
                 Row(f"{title}: balance, instructions per byte", balance, ours["instructions"] / ours["dram"],
                     why="the thesis divides by 115 GB/s, DRAM with ECC; the description has DRAM without" if gpu == "c2050" else "")]
    return Item("Table 5.6 and figure 6.1: the roofs of both GPUs", rows, [
        "From the device descriptions. Figure 6.1's roofs are these, with and without ECC; its points have no numbers."])
