"""Checks of a Redis server, from its own `INFO` and `TIME`: what makes it unusable, and what whoever runs it should
know. Pure."""

from collections.abc import Mapping

from proxy.storage.redis.errors import CLUSTER, Refused, Trouble

OLDEST = (6, 2)  # of the versions that are maintained or widely packaged; also what Valkey says it is compatible with
SKEW = 2.0  # seconds between two clocks, from which on what expires by one of them is wrong by the other


def parsed(info: bytes) -> dict[str, str]:
    """Returns the fields of an `INFO` reply."""
    lines = info.decode("utf-8", "replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("#"))


def usable(info: Mapping[str, str]) -> Mapping[str, str]:
    """Returns `info`. Raises Refused if this server cannot be used."""
    if info.get("cluster_enabled") == "1":
        raise Refused(CLUSTER)
    version = info.get("redis_version", "")
    numbers = version.split(".")[:2]
    if not all(number.isdecimal() for number in numbers) or tuple(map(int, numbers)) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        shown = version[:20] or "unknown"
        raise Refused(Trouble("version", f"has version {shown}, and {oldest} or later is needed"))
    return info


def warnings(info: Mapping[str, str], skew: float) -> dict[str, str]:
    """Returns what may go wrong with this server, by subject. `skew`: seconds that its clock is ahead of ours."""
    found = {}
    policy = info.get("maxmemory_policy", "noeviction")
    if info.get("maxmemory", "0") != "0" and policy != "noeviction" and not policy.startswith("volatile-"):
        found["eviction"] = (
            f"its maxmemory-policy {policy} may drop open turns and flights of others before old answers: use a "
            "volatile one, by which what expires first leaves first, such as volatile-ttl"
        )
    if abs(skew) > SKEW:
        found["clock"] = f"its clock and this machine's differ by {abs(skew):.0f} seconds"
    return found
