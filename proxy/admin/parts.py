"""The admin API's own parts, built from the services of the proxy that it administers."""

from dataclasses import dataclass

from proxy.admin.aside import Aside
from proxy.admin.door import Door
from proxy.admin.feed import Feed
from proxy.pipeline.parts import Services


@dataclass(frozen=True, slots=True)
class Admin:
    """Everything that its handlers need; `services` are closed by whoever built them."""

    services: Services
    door: Door
    feed: Feed
    aside: Aside

    @classmethod
    def of(cls, services: Services) -> "Admin":
        return cls(
            services,
            Door(services.config, services.shared.throttle, services.shared.logouts),
            Feed(services.storage.accounts, services.tasks),
            Aside(),
        )

    async def close(self) -> None:
        """The end for whoever watches, and for work beside the requests, which is waited for as long as for these."""
        self.feed.close()
        await self.aside.close(self.services.config.server.drain)
