// Mathematical functions that nvcc takes in device or host code and clang does not.
#pragma once
#pragma clang system_header
