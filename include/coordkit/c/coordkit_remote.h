// Callers without a replica, in C: sessions, locks, elections, keys, watches and counters by a link
// to a replica of the cluster, as coordkit/remote.h has them. For programs in C, and for languages
// that call C. It is libcoordkit_c.so, which needs no other part of coordkit.
//
//   coordkit_error error;
//   coordkit_remote_options options = {.struct_size = sizeof options};
//   ...
//   if (coordkit_remote_open(&options, &remote, &error) != COORDKIT_OK) puts(error.sentence);
//
// Handles: the caller owns each handle that a call writes to its place, and gives it back by the
// coordkit_*_free of its type, in any order. A handle outlives the ones that it was made from: its
// calls are then COORDKIT_FAILED_PRECONDITION. A handle that was freed must not be used. The
// library must not be unloaded while a remote is open.
// Errors: a function that can fail answers a status, and fills *error unless `error` is null. No
// exception leaves the library. A failed allocation is COORDKIT_RESOURCE_EXHAUSTED, a null handle
// COORDKIT_INVALID_ARGUMENT. An answer is written only if the status is COORDKIT_OK.
// Bytes: names, keys and values are bytes with a size, without an end mark. Arguments are copied
// during the call. Null is allowed with size zero.
// Times: milliseconds. A negative timeout never ends, and more than 292 years is the same. Calls
// without a timeout end after 10 s.
// Threads: any thread may call any function. Only free needs its handle for itself. A blocking call
// blocks its thread alone. No function of the program is ever called back. A thread inside a call
// must not be ended by pthread_cancel.
// Asynchronous forms: a completion waits until coordkit_poll() fetches it. coordkit_descriptor() is
// readable while one waits, so each event loop can serve it.
// Forks: in a forked child every call is COORDKIT_FAILED_PRECONDITION, nothing is valid, and free
// does no harm to the parent.
// Versions: functions keep their signatures, and codes their numbers. Structs that begin with a
// struct_size grow at the end. The library takes those of older programs as they are. In those of
// newer programs each field that it does not know must be zero, else COORDKIT_UNIMPLEMENTED.
// Structs that the library allocates grow at the end, too. All others never change.
// Example: examples/24_python.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define COORDKIT_C_EXPORT __attribute__((visibility("default")))
#else
#define COORDKIT_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- statuses

// One of the codes below. The numbers are those of absl::StatusCode and never change.
typedef int32_t coordkit_status;
enum {
  COORDKIT_OK = 0,                   // it is done
  COORDKIT_CANCELLED = 1,            // coordkit_cancel() ended it
  COORDKIT_UNKNOWN = 2,              // an exception that the library does not know
  COORDKIT_INVALID_ARGUMENT = 3,     // the call itself is wrong: the sentence lists every problem
  COORDKIT_DEADLINE_EXCEEDED = 4,    // no answer in time
  COORDKIT_NOT_FOUND = 5,            // there is no such thing
  COORDKIT_ALREADY_EXISTS = 6,       // this owner holds the lock, or waits for it
  COORDKIT_PERMISSION_DENIED = 7,    // a wrong secret of a session
  COORDKIT_RESOURCE_EXHAUSTED = 8,   // a limit, or memory
  COORDKIT_FAILED_PRECONDITION = 9,  // held by another one, fenced off, or closed
  COORDKIT_ABORTED = 10,             // lost, a deadlock, or another revision than expected
  COORDKIT_OUT_OF_RANGE = 11,        // compacted, or a counter's end
  COORDKIT_UNIMPLEMENTED = 12,       // the cluster or this library does not have it
  COORDKIT_INTERNAL = 13,            // a fault of the library
  COORDKIT_UNAVAILABLE = 14,         // no leader, or no gateway
  COORDKIT_DATA_LOSS = 15            // spoiled data
};

// Whether a failed call took effect: coordkit_error.outcome.
enum {
  COORDKIT_NO_EFFECT = 1,       // none now or ever: it may be called again
  COORDKIT_EFFECT_UNKNOWN = 2,  // it may have taken effect, or may still
  COORDKIT_DONE = 3             // it took effect, and the status is its answer
};

// How a call ended. The caller provides it, so that a report needs no memory.
typedef struct coordkit_error {
  coordkit_status status;  // as the call answered it
  int32_t outcome;         // COORDKIT_DONE also after success
  int32_t reason;          // the number of coordkit::Reason (error.h), which never changes; 0: none
  char reason_name[28];    // its name, as "Held"; ends with a zero byte
  size_t sentence_size;    // bytes of the sentence
  char sentence[1024];     // for people; ends with a zero byte, and is cut to this size
} coordkit_error;

// Bytes with a size: an argument inside of options.
typedef struct coordkit_bytes {
  const char* data;  // null only if size is zero
  size_t size;       // in bytes
} coordkit_bytes;

enum { COORDKIT_FOREVER = -1 };  // a timeout that never ends

// The version of the library, as "0.1.0". Never fails, and is never freed.
COORDKIT_C_EXPORT const char* coordkit_version(void);

// ---- the link

typedef struct coordkit_remote coordkit_remote;            // a process's part in a cluster
typedef struct coordkit_session coordkit_session;          // stays alive until it is closed or freed
typedef struct coordkit_grant coordkit_grant;              // a lock that is held, or a leadership
typedef struct coordkit_watch coordkit_watch;              // a stream of changes of keys
typedef struct coordkit_entries coordkit_entries;          // keys with their values, or changes of keys
typedef struct coordkit_observation coordkit_observation;  // a stream of an election's leaders

// The options of coordkit_remote_open(). Set all fields to zero first.
typedef struct coordkit_remote_options {
  size_t struct_size;              // sizeof(coordkit_remote_options)
  coordkit_bytes cluster;          // the cluster's name, as the replicas have it. Not empty
  const coordkit_bytes* gateways;  // where replicas listen for remotes: "host:port", "[IPv6]:port"
  size_t gateways_count;           // how many there are. At least 1
  coordkit_bytes secret;           // of the remotes, 16 to 1024 bytes; or plain_text in its place
  int32_t plain_text;              // 1: the replicas have PlainText for remotes, and no secret
  uint32_t rate_error_ppm;         // as the replicas have it; 0: 10,000, as theirs by default
  int64_t silence_ms;              // a gateway that is silent for so long is left; 0: 2000
  uint64_t link_tag;               // a completion with this tag: ask coordkit_remote_link(); 0: none
} coordkit_remote_options;

// Starts, and dials a gateway; does not wait for it. COORDKIT_INVALID_ARGUMENT (options),
// COORDKIT_RESOURCE_EXHAUSTED (no thread, descriptor or memory).
COORDKIT_C_EXPORT coordkit_status coordkit_remote_open(const coordkit_remote_options* options, coordkit_remote** remote,
                                                       coordkit_error* error);
// Blocks until a gateway serves this remote. COORDKIT_DEADLINE_EXCEEDED: the sentence says why none
// did. A wrong secret is reported here, because a gateway just ends such a connection.
COORDKIT_C_EXPORT coordkit_status coordkit_remote_wait_ready(coordkit_remote* remote, int64_t timeout_ms,
                                                             coordkit_error* error);
// COORDKIT_OK: calls are answered. COORDKIT_UNAVAILABLE: the sentence says why not. Never waits for
// the network.
COORDKIT_C_EXPORT coordkit_status coordkit_remote_health(coordkit_remote* remote, coordkit_error* error);

// How far the link is.
enum {
  COORDKIT_LINK_DIALING = 1,  // no gateway is connected
  COORDKIT_LINK_WAITING = 2,  // one is connected, and knows no leader
  COORDKIT_LINK_SERVING = 3   // calls are answered
};

// The link. The caller owns it with its bytes, and frees it.
typedef struct coordkit_link {
  int32_t state;           // COORDKIT_LINK_*
  coordkit_bytes gateway;  // the address that is dialed, or connected; ends with a zero byte
  coordkit_bytes why;      // the last failure, or empty; ends with a zero byte
} coordkit_link;

// Tells how far the link is now. Never waits for the network. With link_tag, a completion says that
// it has changed since the last such completion was fetched.
COORDKIT_C_EXPORT coordkit_status coordkit_remote_link(coordkit_remote* remote, coordkit_link** link, coordkit_error* error);
COORDKIT_C_EXPORT void coordkit_link_free(coordkit_link* link);  // null: nothing is done

// Ends every call, and closes the link. Blocks until the library's threads have ended. Completions
// that wait may still be fetched. May be called again.
COORDKIT_C_EXPORT coordkit_status coordkit_remote_close(coordkit_remote* remote, coordkit_error* error);
// Closes it, and drops the completions that wait. Null: nothing is done.
COORDKIT_C_EXPORT void coordkit_remote_free(coordkit_remote* remote);

// ---- sessions

// The phases of a session.
enum {
  COORDKIT_SESSION_VALID = 1,     // by this machine's own clock
  COORDKIT_SESSION_JEOPARDY = 2,  // its renewal is not confirmed; that may end well
  COORDKIT_SESSION_LOST = 3       // it has ended, with everything it held
};

// Options of coordkit_session_open(). Null in place of them, and each field that is zero: the
// default.
typedef struct coordkit_session_options {
  size_t struct_size;       // sizeof(coordkit_session_options)
  coordkit_bytes metadata;  // shown in lists of sessions, at most 4 KiB
  int64_t ttl_ms;           // how long after the last renewal others may get what it held; 0: 5000
  int64_t give_up_ms;       // how long in jeopardy until it is given up; 0: three TTLs, or longer
  uint64_t phase_tag;       // a completion with this tag: ask coordkit_session_phase(); 0: none
} coordkit_session_options;

// Opens a session and keeps it renewed. COORDKIT_DEADLINE_EXCEEDED, COORDKIT_UNAVAILABLE: none is
// open; one that was opened after all is closed.
COORDKIT_C_EXPORT coordkit_status coordkit_session_open(coordkit_remote* remote, const coordkit_session_options* options,
                                                        int64_t timeout_ms, coordkit_session** session, coordkit_error* error);
// Ends it and everything it holds. Nothing of it is valid from this call on, whatever the status.
COORDKIT_C_EXPORT coordkit_status coordkit_session_close(coordkit_session* session, coordkit_error* error);
// The session ends, in the background, once its handle and all of its grants are freed. Null:
// nothing is done.
COORDKIT_C_EXPORT void coordkit_session_free(coordkit_session* session);
// These ask the local clock and cannot fail. Null: lost, zero, zero. With phase_tag, a completion
// says that the phase has changed since the last such completion was fetched. None comes for an end
// that the program itself asked for.
COORDKIT_C_EXPORT int32_t coordkit_session_phase(const coordkit_session* session);
COORDKIT_C_EXPORT int64_t coordkit_session_remaining_ms(const coordkit_session* session);  // rounded down
COORDKIT_C_EXPORT uint64_t coordkit_session_id(const coordkit_session* session);

// ---- locks and elections

// Options of coordkit_acquire(). Null in place of them, and each field that is zero: the default.
typedef struct coordkit_lock_options {
  size_t struct_size;    // sizeof(coordkit_lock_options)
  coordkit_bytes value;  // shown to those who ask for the holder, at most 4 KiB
  // The thread of control that asks, at most 256 bytes. A circle of owners that wait for each other
  // is COORDKIT_ABORTED (Deadlock). None: one of this call's own, never the thread's, because tasks
  // and goroutines move between threads. It is in no circle, so it waits for itself in vain.
  coordkit_bytes owner;
  int32_t shared;       // 1: with others that share it
  int64_t delay_ms;     // how long no one gets it if the session expires while it holds it
  int64_t max_hold_ms;  // the longest time to hold it; 0: no limit
} coordkit_lock_options;

// Waits in line for the lock; `timeout_ms` 0: not at all, a try. COORDKIT_FAILED_PRECONDITION
// (Held, Delayed): a try failed. COORDKIT_DEADLINE_EXCEEDED: not the owner. COORDKIT_ABORTED
// (Lost): the session has ended. The rest: Session::acquire in coordkit/session.h.
COORDKIT_C_EXPORT coordkit_status coordkit_acquire(coordkit_session* session, const char* name, size_t name_size,
                                                   const coordkit_lock_options* options, int64_t timeout_ms,
                                                   coordkit_grant** grant, coordkit_error* error);
// Campaigns until this session leads; `timeout_ms` 0: only if there is no leader. All see the
// leader with `value`, at most 4 KiB. Each call is a candidate of its own. Errors as
// coordkit_acquire().
COORDKIT_C_EXPORT coordkit_status coordkit_campaign(coordkit_session* session, const char* name, size_t name_size,
                                                    const char* value, size_t value_size, int64_t timeout_ms,
                                                    coordkit_grant** leadership, coordkit_error* error);
// These ask the local clock and cannot fail. valid: 1 while the holder may trust it. token: the
// fencing token, which every later grant exceeds. Null, or released: zero, zero; the token stays.
COORDKIT_C_EXPORT int32_t coordkit_grant_valid(const coordkit_grant* grant);
COORDKIT_C_EXPORT int64_t coordkit_grant_remaining_ms(const coordkit_grant* grant);  // rounded down
COORDKIT_C_EXPORT uint64_t coordkit_grant_token(const coordkit_grant* grant);
// Replaces the value that others see. COORDKIT_FAILED_PRECONDITION (NotOwner), COORDKIT_ABORTED.
COORDKIT_C_EXPORT coordkit_status coordkit_grant_set_value(coordkit_grant* grant, const char* value, size_t value_size,
                                                           coordkit_error* error);
// Releases the lock, or resigns, and waits for the answer. Not valid from this call on.
// COORDKIT_ABORTED (Lost): lost before. COORDKIT_FAILED_PRECONDITION (NotOwner): released before.
COORDKIT_C_EXPORT coordkit_status coordkit_grant_release(coordkit_grant* grant, coordkit_error* error);
// Releases it without waiting, unless it was released. Null: nothing is done.
COORDKIT_C_EXPORT void coordkit_grant_free(coordkit_grant* grant);

// The leader of an election. The caller owns it with its bytes, and frees it.
typedef struct coordkit_leader {
  int32_t present;       // 0: vacant, and all other fields are zero
  uint64_t session;      // its session
  uint64_t token;        // its fencing token
  coordkit_bytes value;  // as it campaigned with, or set last; ends with a zero byte
} coordkit_leader;

// Asks for the leader, linearizably. COORDKIT_UNAVAILABLE: the cluster has no leader of its own.
COORDKIT_C_EXPORT coordkit_status coordkit_election_leader(coordkit_session* session, const char* name, size_t name_size,
                                                           coordkit_leader** leader, coordkit_error* error);
COORDKIT_C_EXPORT void coordkit_leader_free(coordkit_leader* leader);  // null: nothing is done
// Observes an election. The leader now, and then every later one, each new value and each vacancy,
// in order, are completions with this tag and a leader. If 1024 of them wait to be fetched, or one
// finds no memory, the last one is COORDKIT_RESOURCE_EXHAUSTED: observe again.
COORDKIT_C_EXPORT coordkit_status coordkit_election_observe(coordkit_session* session, const char* name, size_t name_size,
                                                            uint64_t tag, coordkit_observation** observation,
                                                            coordkit_error* error);
// Ends it: no completion is added after this. Those that wait stay. Null: nothing is done.
COORDKIT_C_EXPORT void coordkit_observation_free(coordkit_observation* observation);

// ---- keys

// Options of coordkit_put() and coordkit_erase(). Null in place of them, and each field that is
// zero: the default.
typedef struct coordkit_write_options {
  size_t struct_size;               // sizeof(coordkit_write_options)
  const coordkit_grant* fence;      // written only while this is the hold: FAILED_PRECONDITION (Fenced)
  int32_t compare;                  // 1: written only if the key's revision is this one, else ABORTED
  uint64_t expected_revision;       // of the key's last change; 0: the key must be missing
  const coordkit_session* session;  // put: the key is deleted when this session ends
} coordkit_write_options;

// Writes a key, of 1 to 8192 bytes, with a value of at most 1 MiB. `revision`, unless it is null:
// the write's own. COORDKIT_DEADLINE_EXCEEDED: unknown whether it is written.
COORDKIT_C_EXPORT coordkit_status coordkit_put(coordkit_remote* remote, const char* key, size_t key_size, const char* value,
                                               size_t value_size, const coordkit_write_options* options, int64_t timeout_ms,
                                               uint64_t* revision, coordkit_error* error);
// Deletes a key. `deleted`, unless it is null: 1, or 0 if there was none. Errors as coordkit_put().
COORDKIT_C_EXPORT coordkit_status coordkit_erase(coordkit_remote* remote, const char* key, size_t key_size,
                                                 const coordkit_write_options* options, int64_t timeout_ms, uint64_t* deleted,
                                                 coordkit_error* error);
// Reads a key, linearizably. One entry, or none if it is missing.
COORDKIT_C_EXPORT coordkit_status coordkit_get(coordkit_remote* remote, const char* key, size_t key_size, int64_t timeout_ms,
                                               coordkit_entries** entries, coordkit_error* error);
// Reads all keys that begin with a prefix, in order, at one revision.
COORDKIT_C_EXPORT coordkit_status coordkit_list(coordkit_remote* remote, const char* prefix, size_t prefix_size,
                                                int64_t timeout_ms, coordkit_entries** entries, coordkit_error* error);

// A key, or a change of it. The bytes are the entries' own, valid until these are freed.
typedef struct coordkit_entry {
  coordkit_bytes key;    // never empty
  coordkit_bytes value;  // empty if deleted
  uint64_t revision;     // of its last change
  uint64_t created;      // the revision that created it; 0 if deleted
  uint64_t version;      // 1 at creation, one more with each put; 0 if deleted
  int32_t deleted;       // 1: a watch saw its deletion
} coordkit_entry;

// The number of entries. Null: zero.
COORDKIT_C_EXPORT size_t coordkit_entries_count(const coordkit_entries* entries);
// The revision of the store that was read, or of the last change in a watch's batch. Null: zero.
COORDKIT_C_EXPORT uint64_t coordkit_entries_revision(const coordkit_entries* entries);
// Writes entry number `at`, from 0. COORDKIT_OUT_OF_RANGE: there is none.
COORDKIT_C_EXPORT coordkit_status coordkit_entries_at(const coordkit_entries* entries, size_t at, coordkit_entry* entry,
                                                      coordkit_error* error);
// Gives back a watch's room, too. Null: nothing is done.
COORDKIT_C_EXPORT void coordkit_entries_free(coordkit_entries* entries);

// ---- watches

// Watches one key, or with `prefix` 1 all keys that begin so; every change in order, each once.
// `from_revision`: the first to deliver; 0: from now on. To resume a watch, here or at another
// remote, give the revision of its last batch plus one. `tag` 0: coordkit_watch_next() reads it.
// Other tags: each batch is a completion with that tag. Batches that are not freed take room, 16
// MiB of them; then nothing comes until some is given back.
COORDKIT_C_EXPORT coordkit_status coordkit_watch_open(coordkit_remote* remote, const char* key, size_t key_size, int32_t prefix,
                                                      uint64_t from_revision, uint64_t tag, coordkit_watch** watch,
                                                      coordkit_error* error);
// The next batch of changes. One without entries says that everything up to its revision was
// delivered; the first one does so once the watch has begun. COORDKIT_DEADLINE_EXCEEDED: none came,
// and none is lost. COORDKIT_RESOURCE_EXHAUSTED (OutOfMemory): the same. Every other status is the
// end: closed, or COORDKIT_OUT_OF_RANGE (Compacted). After that read the keys by coordkit_list(),
// and watch from its revision plus one.
COORDKIT_C_EXPORT coordkit_status coordkit_watch_next(coordkit_watch* watch, int64_t timeout_ms, coordkit_entries** entries,
                                                      coordkit_error* error);
// Ends it: no completion is added after this. Those that wait stay. Null: nothing is done.
COORDKIT_C_EXPORT void coordkit_watch_free(coordkit_watch* watch);

// ---- counters

// Adds `by`, which may be negative, and answers the new value. Counts once, however often the
// library repeats it. COORDKIT_OUT_OF_RANGE (CounterOverflow): unchanged.
COORDKIT_C_EXPORT coordkit_status coordkit_counter_add(coordkit_remote* remote, const char* name, size_t name_size, int64_t by,
                                                       int64_t* value, coordkit_error* error);
// Reads it, linearizably; zero if there is none.
COORDKIT_C_EXPORT coordkit_status coordkit_counter_get(coordkit_remote* remote, const char* name, size_t name_size,
                                                       int64_t* value, coordkit_error* error);

// ---- asynchronous forms

// These begin a call and return. COORDKIT_OK: exactly one completion with this tag follows. Any
// other status: none does. The tag is the program's own; several calls may share one.
COORDKIT_C_EXPORT coordkit_status coordkit_session_open_async(coordkit_remote* remote, const coordkit_session_options* options,
                                                              int64_t timeout_ms, uint64_t tag, coordkit_error* error);
COORDKIT_C_EXPORT coordkit_status coordkit_acquire_async(coordkit_session* session, const char* name, size_t name_size,
                                                         const coordkit_lock_options* options, int64_t timeout_ms, uint64_t tag,
                                                         coordkit_error* error);
COORDKIT_C_EXPORT coordkit_status coordkit_campaign_async(coordkit_session* session, const char* name, size_t name_size,
                                                          const char* value, size_t value_size, int64_t timeout_ms,
                                                          uint64_t tag, coordkit_error* error);
COORDKIT_C_EXPORT coordkit_status coordkit_grant_release_async(coordkit_grant* grant, uint64_t tag, coordkit_error* error);
COORDKIT_C_EXPORT coordkit_status coordkit_put_async(coordkit_remote* remote, const char* key, size_t key_size,
                                                     const char* value, size_t value_size,
                                                     const coordkit_write_options* options, int64_t timeout_ms, uint64_t tag,
                                                     coordkit_error* error);
COORDKIT_C_EXPORT coordkit_status coordkit_erase_async(coordkit_remote* remote, const char* key, size_t key_size,
                                                       const coordkit_write_options* options, int64_t timeout_ms, uint64_t tag,
                                                       coordkit_error* error);
COORDKIT_C_EXPORT coordkit_status coordkit_get_async(coordkit_remote* remote, const char* key, size_t key_size,
                                                     int64_t timeout_ms, uint64_t tag, coordkit_error* error);
// Asks to end the calls under way that have this tag. Each still has its one completion: what it
// did before that, or COORDKIT_CANCELLED. No such call: nothing is done.
COORDKIT_C_EXPORT coordkit_status coordkit_cancel(coordkit_remote* remote, uint64_t tag, coordkit_error* error);

// The end of a call, an event or a batch. The caller owns each handle that is not null, and frees
// it.
typedef struct coordkit_completion {
  size_t struct_size;         // sizeof(coordkit_completion): set it before coordkit_poll()
  uint64_t tag;               // as the call or the options were given it
  coordkit_error error;       // how it ended
  coordkit_session* session;  // of coordkit_session_open_async()
  coordkit_grant* grant;      // of coordkit_acquire_async(), coordkit_campaign_async()
  coordkit_entries* entries;  // of coordkit_get_async(), or a watch's batch
  coordkit_leader* leader;    // of coordkit_election_observe()
  uint64_t revision;          // of the store after a write, or of the entries
  uint64_t deleted;           // of coordkit_erase_async(): 1, or 0 if there was none
} coordkit_completion;

// The descriptor that is readable while a completion waits. It is the remote's: only wait for it,
// by poll, epoll or select, and neither read nor close it. Valid until coordkit_remote_free().
COORDKIT_C_EXPORT coordkit_status coordkit_descriptor(coordkit_remote* remote, int* descriptor, coordkit_error* error);
// Fetches the completion that has waited longest. Never blocks. COORDKIT_NOT_FOUND: none waits.
// The status is that of the fetch; completion->error says how the call ended. Several threads may
// fetch: each completion goes to one of them.
COORDKIT_C_EXPORT coordkit_status coordkit_poll(coordkit_remote* remote, coordkit_completion* completion,
                                                coordkit_error* error);

#ifdef __cplusplus
}
#endif
