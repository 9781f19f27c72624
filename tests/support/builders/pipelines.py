"""Whom the tests of the pipeline are, what they cut to, and how they send."""

import asyncio

from toolcarry import ProjectPolicy
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.pipeline import Processed, RequestPipeline

ME = RequestIdentity("me", "c1", "a")
CUT = ProjectPolicy(max_result_chars=200)
LONG = "x = 1\n" * 400


def run(pipeline: RequestPipeline, body: bytes, identity: RequestIdentity | None = ME) -> Processed:
    return asyncio.run(pipeline.process(ModelRequest(body, identity)))
