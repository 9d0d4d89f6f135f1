"""Names of keys and channels in Redis. Each begins with the name of this deployment, a hash of the tenants' secret: two
deployments on one Redis never meet."""

from hashlib import blake2b

FORMAT = 1  # of keys and values: another one does not see these


class Names:
    """The names of one deployment. `secret`: the tenants'."""

    def __init__(self, secret: bytes) -> None:
        deployment = blake2b(secret, digest_size=8, person=b"olvido-shared").hexdigest()
        self.prefix = f"olvido:{FORMAT}:{deployment}:"  # of them all
        self.news = f"{self.prefix}news"  # the channel of the news for all processes

    def key(self, kind: str, *parts: str) -> str:
        """Returns the key for `parts`, such as a scope and a session. They are hashed: they may be long, or of any
        characters, or name people."""
        hashed = blake2b(digest_size=16)
        for part in parts:
            encoded = part.encode("utf-8", "surrogatepass")
            hashed.update(len(encoded).to_bytes(8, "big") + encoded)
        return f"{self.prefix}{kind}:{hashed.hexdigest()}" if parts else f"{self.prefix}{kind}"

    def inbox(self, process: str) -> str:
        """Returns the channel of what is meant for one process."""
        return f"{self.prefix}inbox:{process}"
