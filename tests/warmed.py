"""Loads by its import what a proxy loads in the first moment of its life, once for all that are forked afterwards: the
tokenizer, prices, the tables that its first question would wait for."""

import gc

from proxy.config.upstreams import table
from proxy.memory.warming import warm
from proxy.tokens import load_tokenizer

load_tokenizer()
table()
warm()
# To look through it for garbage would make each forked process copy it.
gc.collect()
gc.freeze()
