"""One stream, many consumers, and a projection that changes while data flows. Public names only."""

from formatter.shared.needs import ALL
from formatter.shared.stats import SharedStreamStats, SubscriptionStats
from formatter.shared.stream import SharedStream
from formatter.shared.subscription import Subscription

__all__ = ["ALL", "SharedStream", "SharedStreamStats", "Subscription", "SubscriptionStats"]
