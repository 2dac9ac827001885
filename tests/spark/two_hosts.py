"""A Spark cluster of one machine whose two executors have different host names. Used by speculation_query.py.

In: a folder. Out: the URL of a master, while the context lasts. Spark never runs a speculative copy on a host that runs the
task already, and in local-cluster all executors have the host name of the machine: no copy is ever started there. Here
each worker has an address of the loopback network for its own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

HOSTS = ("127.0.0.1", "127.0.0.2")
PATIENCE_SECONDS = 1_800


@contextlib.contextmanager
def two_hosts(folder: Path, cores: int = 2) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind((HOSTS[0], 0))
        port = probe.getsockname()[1]
    url = f"spark://{HOSTS[0]}:{port}"
    started: list[subprocess.Popen[bytes]] = []
    master = ["master.Master", "--host", HOSTS[0], "--port", str(port), "--webui-port", "0"]
    try:
        started.append(_start(folder, "master", master))
        for number, host in enumerate(HOSTS):
            work = ["--work-dir", str(folder / f"work{number}"), "--cores", str(cores), "--memory", "1g"]
            worker = ["worker.Worker", "--host", host, "--webui-port", "0", *work, url]
            started.append(_start(folder, f"worker{number}", worker))
        _wait_for(folder / "master.log", "Registering worker", len(HOSTS))
        yield url
    finally:
        for process in reversed(started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # a worker's executors are of its group
            process.wait()


def _start(folder: Path, name: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    home = _find_spark_home()
    main, *rest = arguments
    command = [str(Path(home) / "bin" / "spark-class"), f"org.apache.spark.deploy.{main}", *rest]
    environment = os.environ | {"SPARK_HOME": home, "SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
    with open(folder / f"{name}.log", "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)


def _wait_for(log: Path, text: str, times: int) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while log.read_text(errors="replace").count(text) < times:
        if time.monotonic() > until:
            raise TimeoutError(f"the cluster did not come up:\n{log.read_text(errors='replace')[-2_000:]}")
        time.sleep(0.2)
