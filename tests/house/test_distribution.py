"""What ships: an sdist that builds, and a wheel that imports with its declared dependencies and carries no sources."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel built from the sdist, as an index would have it."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stderr[-2_000:]
    [sdist], [wheel] = target.glob("*.tar.gz"), target.glob("*.whl")
    return sdist, wheel


@pytest.mark.slow
def test_the_sdist_holds_every_native_source_and_no_product(built):
    with tarfile.open(built[0]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    package = ROOT / "src" / "formatter"
    sources = {path for suffix in ("cpp", "hpp", "pyx", "pxi", "pyi", "py") for path in package.rglob(f"*.{suffix}")}
    wanted = {str(path.relative_to(ROOT)) for path in sources if path.name != "_core.cpp"}
    assert wanted - names == set()
    assert [name for name in names if name.endswith((".so", ".o", "_core.cpp"))] == []


@pytest.mark.slow
def test_the_wheel_imports_from_an_empty_folder_and_carries_types_but_no_sources(built, tmp_path):
    with zipfile.ZipFile(built[1]) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    shipped = [path for suffix in ("py", "pyi", "java", "typed") for path in (ROOT / "src").rglob(f"*.{suffix}")]
    shipped += [path for path in (ROOT / "spark_udfs").rglob("*") if path.suffix in (".py", ".pyi", ".java", ".typed")]
    wanted = {str(path.relative_to(ROOT)).removeprefix("src/") for path in shipped}
    assert wanted - set(names) == set()
    assert [name for name in names if name.endswith((".cpp", ".hpp", ".pyx", ".pxi"))] == []
    code = (
        "import formatter, spark_udfs; [getattr(module, name) for module in (formatter, spark_udfs) for name in dir(module)]"
        "; print(formatter.__file__, *formatter.kernels())"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(tmp_path))


@pytest.mark.slow
def test_the_wheel_declares_pyarrow_and_numpy_and_spark_only_as_an_extra(built):
    with zipfile.ZipFile(built[1]) as archive:
        [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        headers = Parser().parsestr(archive.read(metadata).decode())
    requirements = headers.get_all("Requires-Dist")
    always = sorted(line for line in requirements if "extra ==" not in line)
    assert [line.split(">")[0] for line in always] == ["numpy", "pyarrow"]
    spark = [line for line in requirements if "extra ==" in line]
    assert len(spark) == 1
    assert spark[0].startswith("pyspark[sql]")  # PySpark refuses functions over Arrow without pandas, which this brings
