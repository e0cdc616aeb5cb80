"""Python without a replica: a lock with its fencing token, a watch, and an election, by libcoordkit_c.so.

    coordkit_sample.py LIBRARY [--cluster NAME] [--gateways HOST:PORT,...]

The secret of the remotes is taken from the environment, COORDKIT_SECRET; so are COORDKIT_CLUSTER and COORDKIT_GATEWAYS, unless
they are given. Nothing is needed but the standard library. The functions are those of coordkit/c/coordkit_remote.h, which says
what each does; the classes below are as much of them as this program needs, and a beginning for yours.
"""
import argparse
import contextlib
import ctypes
import os
import selectors
import sys
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p


# ---- the structs of the header

class Error(Structure):
    _fields_ = [("status", c_int32), ("outcome", c_int32), ("reason", c_int32), ("reason_name", c_char * 28),
                ("sentence_size", c_size_t), ("sentence", c_char * 1024)]


class Bytes(Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class RemoteOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("cluster", Bytes), ("gateways", POINTER(Bytes)), ("gateways_count", c_size_t),
                ("secret", Bytes), ("plain_text", c_int32), ("rate_error_ppm", c_uint32), ("silence_ms", c_int64),
                ("link_tag", c_uint64)]


class SessionOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("metadata", Bytes), ("ttl_ms", c_int64), ("give_up_ms", c_int64), ("phase_tag", c_uint64)]


class WriteOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("fence", c_void_p), ("compare", c_int32), ("expected_revision", c_uint64),
                ("session", c_void_p)]


class View(Structure):  # coordkit_bytes that the library owns: c_char_p would end at the first zero byte
    _fields_ = [("data", c_void_p), ("size", c_size_t)]

    def copy(self):
        return ctypes.string_at(self.data, self.size) if self.size else b""


class Leader(Structure):
    _fields_ = [("present", c_int32), ("session", c_uint64), ("token", c_uint64), ("value", View)]


class Entry(Structure):
    _fields_ = [("key", View), ("value", View), ("revision", c_uint64), ("created", c_uint64), ("version", c_uint64),
                ("deleted", c_int32)]


class Completion(Structure):
    _fields_ = [("struct_size", c_size_t), ("tag", c_uint64), ("error", Error), ("session", c_void_p), ("grant", c_void_p),
                ("entries", c_void_p), ("leader", POINTER(Leader)), ("revision", c_uint64), ("deleted", c_uint64)]


# ---- the functions, with errors as exceptions

class CoordkitError(Exception):
    def __init__(self, error):
        super().__init__(f"{error.reason_name.decode()}: {error.sentence.decode(errors='replace')}")
        self.status, self.reason, self.outcome = error.status, error.reason_name.decode(), error.outcome


TEXT = [c_char_p, c_size_t]
SIGNATURES = {  # without the report at the end, which every one has
    "remote_open": [POINTER(RemoteOptions), POINTER(c_void_p)],
    "remote_wait_ready": [c_void_p, c_int64],
    "session_open": [c_void_p, POINTER(SessionOptions), c_int64, POINTER(c_void_p)],
    "session_close": [c_void_p],
    "acquire": [c_void_p, *TEXT, c_void_p, c_int64, POINTER(c_void_p)],
    "acquire_async": [c_void_p, *TEXT, c_void_p, c_int64, c_uint64],
    "campaign": [c_void_p, *TEXT, *TEXT, c_int64, POINTER(c_void_p)],
    "election_observe": [c_void_p, *TEXT, c_uint64, POINTER(c_void_p)],
    "grant_release": [c_void_p],
    "put": [c_void_p, *TEXT, *TEXT, POINTER(WriteOptions), c_int64, POINTER(c_uint64)],
    "entries_at": [c_void_p, c_size_t, POINTER(Entry)],
    "watch_open": [c_void_p, *TEXT, c_int32, c_uint64, c_uint64, POINTER(c_void_p)],
    "watch_next": [c_void_p, c_int64, POINTER(c_void_p)],
    "descriptor": [c_void_p, POINTER(c_int)],
    "poll": [c_void_p, POINTER(Completion)],
}
LOCAL = {  # these cannot fail
    "version": (c_char_p, []),
    "session_phase": (c_int32, [c_void_p]),
    "grant_remaining_ms": (c_int64, [c_void_p]),
    "grant_token": (c_uint64, [c_void_p]),
    "entries_count": (c_size_t, [c_void_p]),
    "entries_revision": (c_uint64, [c_void_p]),
    "leader_free": (None, [POINTER(Leader)]),
}
HANDLES = ("remote", "session", "grant", "watch", "entries", "observation")
OF_ACQUIRE, OF_LEADERS, OF_SESSION = 1, 2, 3  # tags of completions
SESSION_LOST = 3


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        for name, arguments in SIGNATURES.items():
            function = getattr(self.calls, "coordkit_" + name)
            function.argtypes, function.restype = [*arguments, POINTER(Error)], c_int32
        for name, (result, arguments) in LOCAL.items():
            function = getattr(self.calls, "coordkit_" + name)
            function.argtypes, function.restype = arguments, result
        for name in HANDLES:
            function = getattr(self.calls, f"coordkit_{name}_free")
            function.argtypes, function.restype = [c_void_p], None

    def __call__(self, name, *arguments):
        error = Error()
        if getattr(self.calls, "coordkit_" + name)(*arguments, byref(error)) != 0:
            raise CoordkitError(error)

    def ask(self, name, *arguments):
        return getattr(self.calls, "coordkit_" + name)(*arguments)

    def text(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        return data, len(data)

    @contextlib.contextmanager
    def handle(self, kind, name, *arguments):  # what the call makes, until the end of the block
        made = c_void_p()
        self(name, *arguments, byref(made))
        try:
            yield made
        finally:
            self.ask(f"{kind}_free", made)

    def entries(self, entries):
        for at in range(self.ask("entries_count", entries)):
            entry = Entry()
            self("entries_at", entries, at, byref(entry))
            yield entry.key.copy(), entry.value.copy(), bool(entry.deleted)


def options_of(cluster, gateways, secret):
    addresses = (Bytes * len(gateways))(*[Bytes(each.encode(), len(each.encode())) for each in gateways])
    return RemoteOptions(struct_size=ctypes.sizeof(RemoteOptions), cluster=Bytes(cluster.encode(), len(cluster.encode())),
                         gateways=addresses, gateways_count=len(gateways), secret=Bytes(secret, len(secret)),
                         plain_text=0 if secret else 1)


# ---- the sample

def lock_and_write(library, remote, session):
    """The lock's token fences the write: it is refused in the log itself once the lock is no longer held."""
    with library.handle("grant", "acquire", session, *library.text("billing"), None, 10_000) as grant:
        token = library.ask("grant_token", grant)
        print("has the lock, token", token, "for at least", library.ask("grant_remaining_ms", grant), "ms", flush=True)
        fenced = WriteOptions(struct_size=ctypes.sizeof(WriteOptions), fence=grant.value)
        library("put", remote, *library.text("sample/paid"), *library.text(str(token)), byref(fenced), 10_000, None)
        library("grant_release", grant)
        try:
            library("put", remote, *library.text("sample/paid"), *library.text("late"), byref(fenced), 10_000, None)
        except CoordkitError as late:
            print("a write after the release is refused:", late.reason, flush=True)
            return token
    raise AssertionError("a late writer was not turned away")


def watch_from(library, remote, revision):
    return library.handle("watch", "watch_open", remote, *library.text("sample/"), 1, revision, 0)


def next_change(library, watch):
    """The next batch with changes, and the revision to resume from. A batch without changes says how far the watch is."""
    while True:
        with library.handle("entries", "watch_next", watch, 10_000) as entries:
            changes = list(library.entries(entries))
            if changes:
                return changes, library.ask("entries_revision", entries) + 1


class Events:
    """Completions in an event loop. Every loop that waits for descriptors will do; asyncio's add_reader does, too."""

    def __init__(self, library, remote, session):
        self.library, self.remote, self.session = library, remote, session
        descriptor = c_int()
        library("descriptor", remote, byref(descriptor))
        self.loop = selectors.DefaultSelector()
        self.loop.register(descriptor.value, selectors.EVENT_READ)

    def next_of(self, tag):
        while True:
            if not self.loop.select(timeout=20):
                raise AssertionError("no completion came")
            end = Completion(struct_size=ctypes.sizeof(Completion))
            self.library("poll", self.remote, byref(end))
            if end.error.status != 0:
                raise CoordkitError(end.error)
            if end.tag == OF_SESSION and self.library.ask("session_phase", self.session) == SESSION_LOST:
                raise AssertionError("the session is lost: stop the work that it protects")
            if end.tag == tag:
                return end

    def next_leader(self):
        end = self.next_of(OF_LEADERS)
        leader = end.leader.contents.value.copy().decode() if end.leader.contents.present else None
        self.library.ask("leader_free", end.leader)
        return leader


def lead(library, session, events):
    with library.handle("observation", "election_observe", session, *library.text("reporter"), OF_LEADERS):
        seen = [events.next_leader()]
        with library.handle("grant", "campaign", session, *library.text("reporter"), *library.text("the sample"), 10_000) as leads:
            seen.append(events.next_leader())
            library("grant_release", leads)  # resigns
        seen.append(events.next_leader())
    assert seen == [None, "the sample", None], seen
    print("led, and all saw:", seen[1], flush=True)


def acquire_in_a_loop(library, session, events):
    library("acquire_async", session, *library.text("billing"), None, 10_000, OF_ACQUIRE)
    end = events.next_of(OF_ACQUIRE)
    print("has the lock again, by a completion, token", library.ask("grant_token", end.grant), flush=True)
    library.ask("grant_free", end.grant)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libcoordkit_c.so")
    parser.add_argument("--cluster", default=os.environ.get("COORDKIT_CLUSTER", ""))
    parser.add_argument("--gateways", default=os.environ.get("COORDKIT_GATEWAYS", ""), help="host:port,...")
    given = parser.parse_args()
    library = Library(given.library)
    print("coordkit", library.ask("version").decode(), flush=True)
    gateways = [address for address in given.gateways.split(",") if address]
    options = options_of(given.cluster, gateways, os.environ.get("COORDKIT_SECRET", "").encode())
    with contextlib.ExitStack() as open_until_the_end:
        remote = open_until_the_end.enter_context(library.handle("remote", "remote_open", byref(options)))
        library("remote_wait_ready", remote, 30_000)
        wanted = SessionOptions(struct_size=ctypes.sizeof(SessionOptions), metadata=Bytes(*library.text("coordkit_sample.py")),
                                ttl_ms=5_000, phase_tag=OF_SESSION)
        session = open_until_the_end.enter_context(library.handle("session", "session_open", remote, byref(wanted), 10_000))
        with watch_from(library, remote, 0) as watch:
            with library.handle("entries", "watch_next", watch, 10_000):
                pass  # the first batch: the watch has begun
            token = lock_and_write(library, remote, session)
            changes, resume_from = next_change(library, watch)
        assert changes == [(b"sample/paid", str(token).encode(), False)], changes
        print("saw sample/paid =", token, flush=True)
        library("put", remote, *library.text("sample/more"), *library.text("1"), None, 10_000, None)
        with watch_from(library, remote, resume_from) as watch:  # nothing is missed in between
            changes, _ = next_change(library, watch)
        assert changes == [(b"sample/more", b"1", False)], changes
        events = Events(library, remote, session)
        lead(library, session, events)
        acquire_in_a_loop(library, session, events)
        library("session_close", session)
    print("done", flush=True)


if __name__ == "__main__":
    try:
        main()
    except CoordkitError as failure:
        sys.exit(f"coordkit_sample.py: {failure}")
