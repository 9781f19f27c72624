"""Pack the vocabularies of OpenAI's encodings as this project reads them: ``python/toolcarry/_data/vocabularies``.

    python rust/tools/make_vocabularies.py o200k_base.tiktoken cl100k_base.tiktoken

The files are those that the package tiktoken downloads (a line a token: its bytes in base64, its rank), MIT licence,
checked here by the same hashes. Packed, a token is a byte for its length and its bytes, in the order of the ranks,
which have no gaps: both together take 1.5 MB compressed, and are read without parsing numbers.
"""

import hashlib
import sys
from base64 import b64decode
from pathlib import Path

HASHES = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
FOLDER = Path(__file__).parents[2] / "python" / "toolcarry" / "_data" / "vocabularies"


def pack(given: bytes) -> bytes:
    """The tokens of a ``.tiktoken`` file, each after its length, in the order of their ranks."""
    packed = bytearray()
    for rank, line in enumerate(given.splitlines()):
        encoded, number = line.split()
        token = b64decode(encoded)
        if int(number) != rank or not 0 < len(token) < 256:
            raise SystemExit(f"line {rank + 1}: rank {number.decode()}, {len(token)} bytes")
        packed.append(len(token))
        packed += token
    return bytes(packed)


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        given = path.read_bytes()
        if hashlib.sha256(given).hexdigest() != HASHES[path.stem]:
            raise SystemExit(f"{path}: not the file that tiktoken knows")
        (FOLDER / f"{path.stem}.bpe").write_bytes(pack(given))


if __name__ == "__main__":
    main()
