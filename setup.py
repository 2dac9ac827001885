"""The one extension, its dependencies, and the per-CPU kernels compiled beside it. Metadata is in pyproject.toml.

Environment switches: FORMATTER_DEBUG=1 (assertions, -O0 -g), FORMATTER_SANITIZE=address|undefined|thread,
FORMATTER_COVERAGE=1 (counts the lines that ran), FORMATTER_FUZZED=clang++ (that compiler builds the engine, so that a fuzzer sees
which ways it takes, under the address sanitizer), FORMATTER_JOBS=n (parallel compilation).
"""

import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

if sys.version_info < (3, 11):  # noqa: UP036  (pip may be old enough not to check requires-python)
    sys.exit("formatter: needs Python 3.11 or newer, found " + platform.python_version() + "; run it with python3.11")

PACKAGE = "src/formatter"
X86 = platform.machine() in ("x86_64", "AMD64")
ARM = platform.machine() in ("aarch64", "arm64")

# One object per CPU: wide instructions stay inside it, everything else is baseline code.
AVX2_FLAGS = ["-mavx2", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt", "-mpclmul"]
KERNEL_FLAGS = {"scalar": []}
if X86:
    KERNEL_FLAGS |= {
        "sse42": ["-msse4.2", "-mpclmul", "-mpopcnt"],
        "avx2": AVX2_FLAGS,
        "avx512": [
            *AVX2_FLAGS,
            *(
                f"-mavx512{feature}"
                for feature in ("f", "bw", "cd", "dq", "vl", "vbmi", "vbmi2", "bitalg", "vpopcntdq")
            ),
            "-mprefer-vector-width=512",
        ],
    }
if ARM:
    KERNEL_FLAGS["neon"] = []

COMMON_FLAGS = ["-std=c++17", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-Wall"]
NATIVE_FLAGS = ["-fno-rtti", "-Wextra", "-Wno-missing-field-initializers"]  # not for generated code
if os.environ.get("FORMATTER_COVERAGE") == "1":
    NATIVE_FLAGS += ["--coverage", "-O0", "-fprofile-update=prefer-atomic"]
FUZZED_BY = os.environ.get("FORMATTER_FUZZED")
if FUZZED_BY:
    NATIVE_FLAGS += ["-fsanitize=fuzzer-no-link,address", "-fno-omit-frame-pointer", "-O1"]
KERNEL_BASE = [*NATIVE_FLAGS, "-fno-exceptions"]  # kernels allocate nothing: only what does can run out of memory


def switches() -> tuple[list[str], list[str]]:
    compile_flags: list[str] = []
    link_flags: list[str] = []
    if os.environ.get("FORMATTER_DEBUG") == "1":
        compile_flags += ["-O0", "-g", "-D_GLIBCXX_ASSERTIONS", "-DFORMATTER_DEBUG"]
    else:
        compile_flags += ["-DNDEBUG", "-g1"]
    if sanitizer := os.environ.get("FORMATTER_SANITIZE"):
        compile_flags += [f"-fsanitize={sanitizer}", "-fno-omit-frame-pointer", "-g"]
        link_flags += [f"-fsanitize={sanitizer}"]
    if os.environ.get("FORMATTER_COVERAGE") == "1":
        link_flags += ["--coverage"]
    return compile_flags, link_flags


class BuildExtension(build_ext):
    """Compiles each kernel with its own CPU flags, then the extension itself with baseline flags."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.editable_mode:  # its folders are thrown away, and the first `make build` would compile all again
            place = f"{self.plat_name}-{sys.implementation.cache_tag}"
            self.build_temp, self.build_lib = f"build/temp.{place}", f"build/lib.{place}"

    def build_extension(self, ext: Extension) -> None:
        self._require_compiler()
        jobs = [(f"{PACKAGE}/kernels/kernel_{name}.cpp", KERNEL_BASE + flags) for name, flags in KERNEL_FLAGS.items()]
        portable = [*sorted(glob(f"{PACKAGE}/engine/*/*.cpp")), f"{PACKAGE}/kernels/dispatch.cpp"]
        jobs += [(source, NATIVE_FLAGS) for source in portable]
        with ThreadPoolExecutor(int(os.environ.get("FORMATTER_JOBS", os.cpu_count() or 1))) as pool:
            ext.extra_objects = list(pool.map(lambda job: self._object(ext, *job), jobs))
        ext.depends = [*ext.depends, *ext.extra_objects]
        super().build_extension(ext)

    def _object(self, ext: Extension, source: str, flags: list[str]) -> str:
        target = Path(self.build_temp, "objects", Path(source).relative_to(PACKAGE)).with_suffix(".o")
        if self.force or self._is_stale(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            compiler = [FUZZED_BY, "-fPIC"] if FUZZED_BY else self.compiler.compiler_so_cxx
            command = [*compiler, *[f"-I{folder}" for folder in ext.include_dirs]]
            command += [*ext.extra_compile_args, *flags, "-MMD", "-c", source, "-o", str(target)]
            if subprocess.run(command).returncode != 0:
                sys.exit(f"formatter: compiling {source} failed; the compiler's own words stand above")
        return str(target)

    def _is_stale(self, target: Path) -> bool:
        """Whether a file that the compiler read for this object, as it wrote down beside it, is newer or gone."""
        if not target.exists():
            return True
        read = target.with_suffix(".d").read_text().partition(":")[2].replace("\\\n", " ").split()
        made = target.stat().st_mtime
        return any(not os.path.exists(path) or os.path.getmtime(path) > made for path in [*read, "setup.py"])

    def _require_compiler(self) -> None:
        compiler = self.compiler.compiler_so_cxx[0]
        if shutil.which(compiler) is None:
            sys.exit(f"formatter: no C++ compiler ('{compiler}' not found); run: apt-get install g++  (or set CXX)")


debug_flags, link_flags = switches()
core = Extension(
    "formatter._core",
    sources=[f"{PACKAGE}/_core.pyx"],
    depends=[
        *glob(f"{PACKAGE}/core/*.px[id]"),
        *glob(f"{PACKAGE}/kernels/**/*.hpp", recursive=True),
        *glob(f"{PACKAGE}/engine/**/*.hpp", recursive=True),
    ],
    include_dirs=[PACKAGE],
    extra_compile_args=[*COMMON_FLAGS, *debug_flags],
    extra_link_args=[*link_flags, "-pthread"],
    language="c++",
)


def cythonized() -> list[Extension]:
    from Cython.Build import cythonize

    directives = {"language_level": 3, "embedsignature": True}
    return cythonize([core], compiler_directives=directives, build_dir="build/cython")


setup(ext_modules=cythonized(), cmdclass={"build_ext": BuildExtension})
