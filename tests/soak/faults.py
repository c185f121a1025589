"""What is done to a running pipeline: each fault is begun, lasts, and is ended; several may run at once.

Kills and pauses are blows against one worker; outages are of broker, network, catalog or store.
"""
import random
import signal
import time

from arena import SESSION_SECONDS
from proxy import rules

OUTAGE_S = (1.0, 4.0)


def last(dice):
    time.sleep(dice.uniform(*OUTAGE_S))   # the length of an outage is the fault itself


class Fault:
    """place: what is struck; at one place there is one fault at a time."""
    name, place = "", ""

    def run(self, round_, dice, tally):
        raise NotImplementedError


class Pause(Fault):
    """SIGSTOP for longer than the group waits: partitions go to others, and a zombie wakes up with an open epoch."""
    name, place = "pause beyond the session time-out", "worker"

    def run(self, round_, dice, tally):
        victim = dice.choice(round_.victims)
        victim.follow(lambda p: p.is_open, "an epoch to open", 90)
        victim.follow_for(dice.uniform(0, 0.4))
        victim.process.send_signal(signal.SIGSTOP)
        time.sleep(SESSION_SECONDS + dice.uniform(1, 3))
        victim.process.send_signal(signal.SIGCONT)
        tally.zombies += 1


class BrokerRestart(Fault):
    name, place = "broker stopped in order", "broker"

    def run(self, round_, dice, tally):
        round_.arena.kafka.stop()
        last(dice)
        round_.arena.kafka.restart()


class BrokerKill(Fault):
    name, place = "broker killed", "broker"

    def run(self, round_, dice, tally):
        round_.arena.kafka.kill()
        last(dice)
        round_.arena.kafka.restart()


class NetworkCut(Fault):
    name, place = "connections to the broker reset", "network"

    def run(self, round_, dice, tally):
        for _ in range(dice.randrange(1, 5)):
            round_.arena.broker_proxy.cut()
            time.sleep(dice.uniform(0, 0.5))


class NetworkStall(Fault):
    name, place = "network to the broker silent", "network"

    def run(self, round_, dice, tally):
        round_.arena.broker_proxy.stall()
        last(dice)
        round_.arena.broker_proxy.pass_on()


class NetworkSlow(Fault):
    name, place = "network to the broker slow", "network"

    def run(self, round_, dice, tally):
        round_.arena.broker_proxy.delay = dice.uniform(0.02, 0.2)
        last(dice)
        round_.arena.broker_proxy.delay = 0.0


class Replies(Fault):
    """Requests to one server meet faults, before and after they were applied, while it lasts."""
    share = 0.3

    def __init__(self, name, proxy, actions):
        self.name, self.place, self._actions = name, proxy, actions

    def run(self, round_, dice, tally):
        proxy = getattr(round_.arena, self.place)
        own = random.Random(dice.getrandbits(32))

        def choose(request):
            if own.random() > self.share:
                return None
            tally.replies[self.name] += 1
            return own.choice(self._actions)(own)
        rule = proxy.add(rules.Act(choose))
        last(dice)
        rule.times = 0
        proxy.release()


def either(dice):
    return dice.choice(("before", "after"))


LOST = [lambda d: rules.Drop(either(d))]
SLOW = [lambda d: rules.Delay(d.uniform(0.1, 2))]
DOUBLED = [lambda d: rules.Double(d.choice(("first", "second")))]
CUT = [lambda d: rules.Truncate(d.random())]
REPLACED = [lambda d: rules.Replace(d.choice((429, 500, 502, 503, 504)), either(d)), lambda d: rules.Replace(502, either(d), rules.HTML)]
LATE = [lambda d: rules.Late(after=d.randrange(1, 4))]
STORE_REPLACED = [lambda d: rules.Replace(d.choice((500, 503)), either(d))]

OUTAGES = [Pause(), BrokerRestart(), BrokerKill(), NetworkCut(), NetworkStall(), NetworkSlow()]
OUTAGES += [Replies(f"catalog's replies {name}", "catalog_proxy", actions) for name, actions in
            (("lost", LOST), ("delayed", SLOW), ("doubled", DOUBLED), ("truncated", CUT), ("replaced", REPLACED), ("late", LATE))]
OUTAGES += [Replies(f"store's replies {name}", "store_proxy", actions) for name, actions in
            (("lost", LOST), ("delayed", SLOW), ("doubled", DOUBLED), ("truncated", CUT), ("replaced", STORE_REPLACED))]
