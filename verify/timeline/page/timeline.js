'use strict';
// The data as objects, and the questions that the other scripts ask of it. Columns: docs/simulator.md.

document.documentElement.dataset.errors = '0';
addEventListener('error', event => {
  const root = document.documentElement;
  root.dataset.errors = String(Number(root.dataset.errors) + 1);
  root.dataset.error = event.message;
});

const State = { Down: 0, Follower: 1, PreCandidate: 2, Candidate: 3, Leader: 4 };
const STATE_NAMES = ['down', 'follower', 'pre-candidate', 'candidate', 'leader'];
const Delivery = { UnderWay: 0, Arrived: 1, Lost: 2 };
const TOPICS = ['votes', 'appends', 'heartbeats', 'requests', 'reads', 'states', 'members'];
const Weight = { Plain: 0, Members: 1, Loss: 2, Refused: 3, Story: 4 };

// Names come from strangers: what would not show, or would turn the text around, is made visible.
function clean(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');
}
const short = (text, most) => text.length <= most ? text : text.slice(0, most - 1) + '…';

function columns(rows, names) {
  return rows.map(row => {
    const item = {};
    names.forEach((name, i) => { item[name] = typeof row[i] === 'string' ? clean(row[i]) : row[i]; });
    return item;
  });
}

function readTimeline(raw) {
  const t = { title: clean(raw.title), command: clean(raw.command), end: raw.end, calm: raw.calm };
  t.lanes = raw.lanes.map(clean);
  t.facts = raw.facts.map(row => row.map(clean));
  t.dropped = raw.dropped;
  t.kinds = columns(raw.kinds, ['name', 'topic']);
  t.states = columns(raw.states, ['lane', 'at', 'state', 'term']);
  t.frozen = columns(raw.frozen, ['lane', 'from', 'until', 'how']);
  t.progress = columns(raw.progress, ['lane', 'at', 'appended', 'durable', 'committed', 'applied']);
  t.messages = columns(raw.messages, ['from', 'to', 'sent', 'ended', 'delivery', 'kind', 'term', 'first', 'last', 'commit', 'operations']);
  t.operations = columns(raw.operations,
    ['id', 'lane', 'worker', 'kind', 'subject', 'label', 'called', 'ended', 'outcome', 'carried', 'decided', 'token']);
  t.entries = columns(raw.entries, ['index', 'term', 'lane', 'at', 'text', 'operations']);
  t.grants = columns(raw.grants,
    ['lock', 'token', 'lane', 'operation', 'index', 'granted', 'ended', 'end', 'trustedFrom', 'trustedUntil']);
  t.faults = columns(raw.faults, ['ordinal', 'kind', 'from', 'until', 'lanes', 'links']);
  t.notes = columns(raw.notes, ['lane', 'at', 'weight', 'text']);
  t.violation = raw.violation &&
    columns([raw.violation], ['id', 'what', 'at', 'lane', 'operation', 'index', 'lock', 'token'])[0];
  const base = BigInt(raw.tokens);
  for (const item of [...t.operations, ...t.grants, ...(t.violation ? [t.violation] : [])]) {
    item.wholeToken = item.token;
    item.token = item.token === '0' ? 0 : Number(BigInt(item.token) - base);  // small, and in the order of the grants
  }
  t.tokenMark = base > 0n ? '+' : '';
  if (t.violation) t.violation.short = countTokens(t.violation.what, base);
  for (const note of t.notes) note.text = countTokens(note.text, base);
  return t;
}
// Numbers of the counter that makes tokens and sessions, in words written elsewhere.
function countTokens(text, base) {
  if (base === 0n) return text;
  return text.replace(/\d{15,19}/g, digits => {
    const distance = BigInt(digits) - base;
    return distance > 0n && distance < 1n << 31n ? '+' + distance : digits;
  });
}
const tokenText = token => T.tokenMark + token;

function byLane(items, count) {
  const lists = Array.from({ length: count }, () => []);
  for (const item of items) lists[item.lane].push(item);
  return lists;
}

const T = readTimeline(JSON.parse(document.getElementById('timeline').textContent));
T.span = Math.max(T.end, 1);
T.messages.forEach((message, i) => { message.number = i; });
T.grants.forEach((grant, i) => { grant.number = i; });
T.faults.forEach((fault, i) => { fault.number = i; });
T.notes.forEach((note, i) => { note.number = i; });
T.operationById = new Map(T.operations.map(operation => [operation.id, operation]));
T.statesOf = byLane(T.states, T.lanes.length);
T.frozenOf = byLane(T.frozen, T.lanes.length);
T.progressOf = byLane(T.progress, T.lanes.length);
T.operationsOf = byLane(T.operations, T.lanes.length);
T.entriesAt = new Map();  // by index: one for each term
for (const entry of T.entries) {
  if (!T.entriesAt.has(entry.index)) T.entriesAt.set(entry.index, []);
  T.entriesAt.get(entry.index).push(entry);
}
T.locks = new Map();
for (const grant of T.grants) {
  if (!T.locks.has(grant.lock)) T.locks.set(grant.lock, []);
  T.locks.get(grant.lock).push(grant);
}
T.locks = new Map([...T.locks].sort((a, b) => a[0] < b[0] ? -1 : 1));
T.grantByToken = new Map(T.grants.map(grant => [grant.token, grant]));

// The position of the last item that is not later; -1: none.
function lastAt(items, at, time = item => item.at) {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time(items[middle]) <= at) low = middle + 1; else high = middle;
  }
  return low - 1;
}
const standsAt = (lane, at) => T.statesOf[lane][lastAt(T.statesOf[lane], at)] || { lane, at: 0, state: State.Down, term: 0 };
const progressAt = (lane, at) => T.progressOf[lane][lastAt(T.progressOf[lane], at)];
const frozenAt = (lane, at) => T.frozenOf[lane].find(one => one.from <= at && (one.until ?? T.end) > at);
const endOf = (item, from = 'from') => item.until ?? item.ended ?? Math.max(T.end, item[from] ?? 0);

// The first moment from `since` on at which `field` of this lane's log is at least `index`.
function reached(lane, field, index, since) {
  const steps = T.progressOf[lane];
  for (let i = Math.max(0, lastAt(steps, since)); i < steps.length; ++i) {
    if (steps[i][field] >= index) return Math.max(steps[i].at, since);
  }
  return null;
}

function timeText(at) {
  return (at / 1e9).toFixed(6) + ' s';
}
function spanText(span) {
  const a = Math.abs(span);
  if (a >= 1e9) return (span / 1e9).toFixed(a >= 1e10 ? 1 : 2) + ' s';
  if (a >= 1e6) return (span / 1e6).toFixed(a >= 1e8 ? 0 : a >= 1e7 ? 1 : 2) + ' ms';
  return (span / 1e3).toFixed(a >= 1e5 ? 0 : 1) + ' µs';
}
const lane = number => T.lanes[number] ?? 'n?';

function operationText(o) {
  let text = `${o.kind} ${o.subject}`;
  if (o.label) text += ` (${o.label})`;
  if (o.token && o.kind === 'release') text += `, token ${tokenText(o.token)}`;
  return text;
}
function messageText(m) {
  const kind = T.kinds[m.kind].name;
  let text = `${kind} ${lane(m.from)} → ${lane(m.to)}`;
  if (m.term) text += `, term ${m.term}`;
  if (kind === 'AppendRequest') text += m.last >= m.first ? `, entries ${m.first}${m.last > m.first ? '–' + m.last : ''}` : ', no entries';
  else if (kind === 'AppendReply') text += m.last ? `, has up to ${m.last}` : ', conflict';
  else if (m.last) text += `, index ${m.last}`;
  if (m.commit) text += `, commit ${m.commit}`;
  return text;
}
function deliveryText(m) {
  if (m.delivery === Delivery.Lost) return m.ended > m.sent ? `lost after ${spanText(m.ended - m.sent)}` : 'lost at once';
  if (m.delivery === Delivery.UnderWay) return 'never arrived while the run lasted';
  return `under way ${spanText(m.ended - m.sent)}`;
}
