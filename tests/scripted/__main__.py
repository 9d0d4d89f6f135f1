"""`python -m tests.scripted --port 0 --dialect kimi`: prints the port, then serves."""

import argparse

from proxy.protocol.dialects import DIALECTS
from proxy.tokens import load_tokenizer
from tests.scripted.app import create_app
from tests.scripted.config import ScriptedConfig, four_bytes_a_token
from tests.scripted.faults import parse
from tests.scripted.server import listen, serve


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.scripted", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--dialect", choices=DIALECTS, default="openai")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chunks", type=int, default=8, help="content deltas of a streamed answer")
    parser.add_argument("--chunk-delay", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--fault", default="", help="of every request, see tests/scripted/faults.py")
    parser.add_argument("--record", action="store_true", help="keep what arrives for GET /__demo/requests")
    parser.add_argument("--tokens", choices=("estimate", "o200k"), default="estimate")
    options = parser.parse_args()
    if options.fault:
        parse(options.fault)
    config = ScriptedConfig(
        dialect=DIALECTS[options.dialect],
        seed=options.seed,
        chunks=options.chunks,
        chunk_delay=options.chunk_delay,
        fault=options.fault,
        record=options.record,
        encode=load_tokenizer().encode_ordinary if options.tokens == "o200k" else four_bytes_a_token,
    )
    bound = listen(options.host, options.port)
    print(bound.getsockname()[1], flush=True)
    serve(create_app(config), bound)


if __name__ == "__main__":
    main()
