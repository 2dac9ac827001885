"""What the aligner promises, in the fewest words: logs per upstream, replayed. Data channel only, no errors."""

from __future__ import annotations

from formatter import flow


class Model:
    def __init__(self, names, hold, timeout):
        self.names, self.hold, self.timeout = names, hold, timeout
        self.queue = {name: [] for name in names}  # delivered, not yet passed or arrived
        self.arrived: dict[int, dict[str, float]] = {}  # pending id -> who arrived, when
        self.last = dict.fromkeys(names, 0)
        self.open = set(names)
        self.gone: set[int] = set()  # passed or cancelled ids

    def refuses(self, name, item):
        if name not in self.open:
            return True
        if not isinstance(item, flow.Barrier):
            return False
        known = {i for i in self.waiting_ids() if i not in self.gone}
        skips = any(self.last[name] < i < item.id for i in known)
        skipped = item.id not in known | self.gone and any(self.last[o] > item.id for o in self.open - {name})
        return item.id <= self.last[name] or skips or skipped

    def waiting_ids(self):
        queued = {i.id for q in self.queue.values() for i in q if isinstance(i, flow.Barrier)}
        return set(self.arrived) | queued

    def deliver(self, name, item, now):
        self.queue[name].append(item)
        if isinstance(item, flow.Barrier):
            self.last[name] = item.id
        return self.run(now)

    def run(self, now):
        out = []
        while True:
            for name in self.names:
                while self.queue[name] and not (self.hold and any(name in who for who in self.arrived.values())):
                    item = self.queue[name].pop(0)
                    if not isinstance(item, flow.Barrier):
                        out.append(item)
                    elif item.id not in self.gone:
                        self.arrived.setdefault(item.id, {})[name] = now
            done = [i for i in sorted(self.arrived) if not self.missing(i)]
            if not done:
                return out
            out.append(flow.Barrier("checkpoint", done[0]))
            self.drop(done[0])

    def missing(self, number):
        holds = {n for n, q in self.queue.items() if flow.Barrier("checkpoint", number) in q}
        return tuple(n for n in self.names if n not in self.arrived[number] and (n in self.open or n in holds))

    def drop(self, number):
        del self.arrived[number]
        self.gone.add(number)

    def expire(self, now):
        out = []
        while late := [i for i, who in sorted(self.arrived.items()) if min(who.values()) + self.timeout <= now]:
            out.append(flow.Cancelled(flow.Barrier("checkpoint", late[0]), self.missing(late[0])))
            self.drop(late[0])
            out += self.run(now)
        return out
