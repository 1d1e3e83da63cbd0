"""The compiled kernels, which are optional: without a compiler the library is pure Python, slower and the same."""

import sys

from setuptools import Extension, setup

# No multiply-add in one step: results must be those of NumPy, bit for bit.
FLAGS = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fno-strict-aliasing"]

setup(
    ext_modules=[
        Extension(
            "hedgerow._kernels",
            ["csrc/kernels.c", "csrc/anova.c", "csrc/digests.c"],
            depends=["csrc/anova.h"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=FLAGS,
            py_limited_api=True,
            optional=True,
        ),
        Extension(
            "hedgerow._vdaf",
            ["csrc/vdaf.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=FLAGS,
            py_limited_api=True,
            optional=True,
        ),
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
