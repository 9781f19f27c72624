"""At the end, the table of what was counted right, as in docs/reference/frameworks.md."""

from typing import Any

import pytest
from support.framework_talk import COUNTED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "frameworks" in item.path.parts:
            item.add_marker("sdk")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for package, version, file, calls, results in COUNTED:
        terminalreporter.write_line(f"| {package} | {version} | {file} | {calls} | {results} |")
