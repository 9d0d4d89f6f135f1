"""The admin API's own parts, built from the services of the proxy that it administers."""

from dataclasses import dataclass

from proxy.admin.auth import AdminAuthenticator
from proxy.admin.feed import Feed
from proxy.admin.worker import Worker
from proxy.pipeline.parts import Services


@dataclass(frozen=True, slots=True)
class Admin:
    """The parts that its handlers share; `services` are closed by whoever built them."""

    services: Services
    auth: AdminAuthenticator
    feed: Feed
    worker: Worker

    @classmethod
    def of(cls, services: Services) -> "Admin":
        """Builds the parts for these services."""
        return cls(
            services,
            AdminAuthenticator(services.config, services.shared.throttle, services.shared.logouts),
            Feed(services.storage.accounts, services.tasks),
            Worker(),
        )

    async def close(self) -> None:
        """Ends the live feed and the background thread, which has `server.drain` seconds to end."""
        self.feed.close()
        await self.worker.close(self.services.config.server.drain)
