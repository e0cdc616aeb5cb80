'use strict';
// What led to what: from a call over the messages and the entry that carried it to its answer. A chain is a list of steps and
// the set of things to light up.

class Chain {
  constructor(title, about) {
    this.title = title;
    this.about = about;
    this.steps = [];
    this.messages = new Set();
    this.operations = new Set();
    this.entries = new Set();
    this.grants = new Set();
  }
  step(at, laneNumber, text, more = {}) {
    this.steps.push({ at, lane: laneNumber, text, ...more });
  }
  say(message, text) {
    if (this.messages.has(message.number)) return;
    this.messages.add(message.number);
    const delivery = message.delivery === Delivery.Arrived ? '' : message.delivery === Delivery.Lost ? ', lost' : ', never arrives';
    this.step(message.sent, message.from, text + delivery, { message, lost: message.delivery !== Delivery.Arrived });
  }
  sorted() {
    this.steps = this.steps.map((step, i) => [step, i]).sort((a, b) => a[0].at - b[0].at || a[1] - b[1]).map(pair => pair[0]);
    return this;
  }
}

const kindNamed = name => T.kinds.findIndex(kind => kind.name === name);
const APPEND = kindNamed('AppendRequest'), APPEND_REPLY = kindNamed('AppendReply'), HEARTBEAT = kindNamed('Heartbeat');
const FORWARD = kindNamed('Forward'), READ_REQUEST = kindNamed('ReadIndexRequest'), READ_REPLY = kindNamed('ReadIndexReply');

// Of the entries of several terms at one index: the one that the operation is in, or the one that was committed, or the newest.
function entryOf(index, operation) {
  const there = T.entriesAt.get(index) || [];
  const committed = (entry, i) => T.lanes.some((_, number) => {
    const at = reached(number, 'committed', index, entry.at);
    return at !== null && at < (there[i + 1]?.at ?? Infinity);
  });
  return there.find(entry => operation && entry.operations.includes(operation.id)) || there.find(committed) || there[there.length - 1];
}

function followEntry(chain, entry, reader) {
  if (chain.entries.has(entry.index)) return;
  chain.entries.add(entry.index);
  chain.step(entry.at, entry.lane, `${lane(entry.lane)} appends entry ${entry.index} of term ${entry.term}: ${entry.text}`, { entry });
  const committed = reached(entry.lane, 'committed', entry.index, entry.at);
  const horizon = committed ?? entry.at + 2e9;
  replication(chain, entry, horizon);
  if (committed !== null) chain.step(committed, entry.lane, `${lane(entry.lane)} sees entry ${entry.index} committed`, { entry });
  if (reader === undefined || reader === null) return;
  if (reader !== entry.lane && committed !== null) tellCommit(chain, entry, reader, committed);
  const applied = reached(reader, 'applied', entry.index, entry.at);
  if (applied !== null) chain.step(applied, reader, `${lane(reader)} applies entry ${entry.index}`, { entry });
}

// To each replica the first append that arrives, those that were lost before it, and the first acknowledgement.
function replication(chain, entry, horizon) {
  const arrived = new Map(), tries = new Map(), acknowledged = new Set();
  for (let i = lastAt(T.messages, entry.at - 1, m => m.sent) + 1; i < T.messages.length; ++i) {
    const m = T.messages[i];
    if (m.sent > horizon) break;
    if (m.kind === APPEND && m.from === entry.lane && m.term >= entry.term && m.first <= entry.index && m.last >= entry.index) {
      if (arrived.has(m.to) || (tries.get(m.to) || 0) >= 3) continue;
      tries.set(m.to, (tries.get(m.to) || 0) + 1);
      chain.say(m, `${lane(m.from)} sends it to ${lane(m.to)}`);
      if (m.delivery === Delivery.Arrived) arrived.set(m.to, m.ended);
    }
    if (m.kind === APPEND_REPLY && m.to === entry.lane && m.last >= entry.index && arrived.has(m.from)) {
      if (acknowledged.has(m.from) || m.sent < arrived.get(m.from)) continue;
      if (m.delivery === Delivery.Arrived) acknowledged.add(m.from);
      chain.say(m, `${lane(m.from)} has it on disk and says so`);
    }
  }
}

function tellCommit(chain, entry, reader, committed) {
  for (let i = lastAt(T.messages, committed - 1, m => m.sent) + 1; i < T.messages.length; ++i) {
    const m = T.messages[i];
    if (m.from !== entry.lane || m.to !== reader || m.commit < entry.index) continue;
    if (m.kind !== APPEND && m.kind !== HEARTBEAT) continue;
    chain.say(m, `${lane(m.from)} tells ${lane(reader)} that ${entry.index} is committed`);
    if (m.delivery === Delivery.Arrived || m.sent > committed + 2e9) return;
  }
}

function followRequest(chain, operation) {
  const until = operation.ended ?? T.end;
  let forwards = 0, reads = 0;
  for (let i = lastAt(T.messages, operation.called - 1, m => m.sent) + 1; i < T.messages.length; ++i) {
    const m = T.messages[i];
    if (m.sent > until) break;
    if (m.kind === FORWARD && m.operations.includes(operation.id) && ++forwards <= 8) {
      chain.say(m, `${lane(m.from)} forwards the request to ${lane(m.to)}`);
    }
    if (operation.carried || !READS.has(operation.kind) || reads >= 6) continue;
    if (m.kind === READ_REQUEST && m.from === operation.lane) chain.say(m, `${lane(m.from)} asks ${lane(m.to)} for a read index`), ++reads;
    if (m.kind === READ_REPLY && m.to === operation.lane) chain.say(m, `${lane(m.from)} confirms index ${m.last}`), ++reads;
  }
}
const READS = new Set(['get', 'lease get', 'holders', 'queue', 'sessions', 'check']);

function causesOfOperation(operation) {
  const worker = operation.worker === null ? '' : `worker ${operation.worker} of `;
  const chain = new Chain(operationText(operation), `operation ${operation.id}, ${worker}${lane(operation.lane)}`);
  chain.operation = operation;
  chain.operations.add(operation.id);
  chain.step(operation.called, operation.lane, `${operation.kind} ${operation.subject} is called on ${lane(operation.lane)}`, { operation });
  followRequest(chain, operation);
  const waits = operation.carried && operation.decided && operation.carried !== operation.decided;
  if (operation.carried) {
    const entry = entryOf(operation.carried, operation);
    if (entry) followEntry(chain, entry, waits ? null : operation.lane);
    else chain.about += `; entry ${operation.carried} is no longer recorded`;
  } else {
    for (const entry of T.entries) {
      if (entry.operations.includes(operation.id)) followEntry(chain, entry, operation.lane);
    }
  }
  if (waits) followDecision(chain, operation);
  if (!operation.carried && operation.decided) {
    const applied = reached(operation.lane, 'applied', operation.decided, 0);
    if (applied !== null) {
      chain.step(Math.max(applied, operation.called), operation.lane, `it is answered from the state after entry ${operation.decided}`);
    }
  }
  for (const grant of T.grants) {
    if (grant.operation === operation.id) followGrant(chain, grant);
  }
  endOfOperation(chain, operation);
  addViolation(chain);
  return chain.sorted();
}

// An acquire that waited: the release that let it in is part of the story.
function followDecision(chain, operation) {
  const entry = entryOf(operation.decided);
  if (!entry) return;
  for (const id of entry.operations) {
    const other = T.operationById.get(id);
    if (!other || chain.operations.has(id)) continue;
    chain.operations.add(id);
    chain.step(other.called, other.lane, `${operationText(other)} is called on ${lane(other.lane)}: it will let this one in`, { operation: other });
    followRequest(chain, other);
  }
  followEntry(chain, entry, operation.lane);
}

function followGrant(chain, grant) {
  chain.grants.add(grant.number);
  chain.step(grant.granted, grant.lane, `${grant.lock} is granted to ${lane(grant.lane)}, token ${tokenText(grant.token)}`, { grant });
  if (grant.trustedFrom !== null) chain.step(grant.trustedFrom, grant.lane, `${lane(grant.lane)} knows that it holds ${grant.lock}`, { grant });
  if (grant.trustedUntil !== null) chain.step(grant.trustedUntil, grant.lane, `from here on ${lane(grant.lane)} does not trust its hold`, { grant });
  if (grant.ended !== null) chain.step(grant.ended, grant.lane, `token ${tokenText(grant.token)} is over: ${grant.end}`, { grant });
}

function endOfOperation(chain, operation) {
  if (operation.ended === null) return chain.step(T.end, operation.lane, 'no answer until the end of the run', { plain: true });
  const good = operation.outcome === 'ok';
  let text = good ? 'it is answered: ok' : `it ends: ${operation.outcome}`;
  if (good && operation.token && operation.kind === 'acquire') text += `, token ${tokenText(operation.token)}`;
  chain.step(operation.ended, operation.lane, text, { operation });
}

function addViolation(chain) {
  const v = T.violation;
  if (!v) return;
  const named = (v.operation !== null && chain.operations.has(v.operation)) || (v.index && chain.entries.has(v.index)) ||
    [...chain.grants].some(number => T.grants[number].token === v.token && v.token);
  if (named) chain.step(v.at, v.lane ?? 0, `${v.id} is violated`, { lost: true });
}

function causesOfEntry(entry) {
  const chain = new Chain(`entry ${entry.index}`, `term ${entry.term}: ${entry.text}`);
  for (const id of entry.operations) {
    const operation = T.operationById.get(id);
    if (!operation) continue;
    chain.operations.add(id);
    chain.step(operation.called, operation.lane, `${operationText(operation)} is called on ${lane(operation.lane)}`, { operation });
    followRequest(chain, operation);
  }
  followEntry(chain, entry, null);
  T.lanes.forEach((_, number) => {
    const applied = reached(number, 'applied', entry.index, entry.at);
    if (applied !== null) chain.step(applied, number, `${lane(number)} applies it`, { entry });
  });
  addViolation(chain);
  return chain.sorted();
}

// The hold, and the one that came after it: what two holders believe at once is the question.
function causesOfGrant(grant) {
  const operation = T.operationById.get(grant.operation);
  const chain = operation ? causesOfOperation(operation) : new Chain(`${grant.lock}, token ${tokenText(grant.token)}`, `held by ${lane(grant.lane)}`);
  if (!operation) followGrant(chain, grant);
  const next = T.locks.get(grant.lock).find(other => other.token > grant.token);
  if (next) followGrant(chain, next);
  if (!chain.steps.some(step => step.text.endsWith('is violated'))) addViolation(chain);
  return chain.sorted();
}

function causesOfMessage(message) {
  const chain = new Chain(T.kinds[message.kind].name, `${messageText(message)}; ${deliveryText(message)}`);
  for (const id of message.operations) {
    const operation = T.operationById.get(id);
    if (!operation) continue;
    chain.operations.add(id);
    chain.step(operation.called, operation.lane, `${operationText(operation)} is called`, { operation });
  }
  if (message.kind === APPEND) {
    for (let index = message.first; index <= Math.min(message.last, message.first + 9); ++index) {
      const entry = entryOf(index);
      if (!entry) continue;
      chain.entries.add(index);
      chain.step(entry.at, entry.lane, `entry ${index} was appended: ${entry.text}`, { entry });
    }
  }
  chain.say(message, `${lane(message.from)} sends it to ${lane(message.to)}`);
  if (message.delivery === Delivery.Arrived) chain.step(message.ended, message.to, `it arrives at ${lane(message.to)}`);
  return chain.sorted();
}

function causesOfMoment(title, about, at, laneNumber) {
  const chain = new Chain(title, about);
  chain.step(at, laneNumber ?? 0, about, { plain: true });
  return chain;
}
