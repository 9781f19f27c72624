"""The two addresses of a proxy."""

from __future__ import annotations


class Address(str):
    """The URL of a proxy; ``control`` is the one of ``/switch`` and ``/metrics``."""

    __slots__ = ("control",)

    def __init__(self, url: str, control: str) -> None:  # noqa: ARG002 - the text is the URL alone
        super().__init__()
        self.control = control

    def __new__(cls, url: str, control: str) -> Address:  # noqa: ARG004, PYI034 - as above
        return super().__new__(cls, url)
