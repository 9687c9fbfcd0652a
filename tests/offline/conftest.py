"""One Spark for all tests that need it; without Java they are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# For data as small as here compiling each query takes longer than running it, and to verify Spark's
# thousands of classes a quarter of what Java does.
FOR_LITTLE = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java: apt install default-jre-headless")
    from crawler.offline.session import start_session

    session = start_session("local[2]", FOR_LITTLE)
    yield session
    with suppress(Exception):  # of a Java that a test has killed
        session.stop()
