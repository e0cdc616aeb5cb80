'use strict';
// Where everything is: the window of time that is seen, the rows on the stage, and what lies under a point.

const view = { from: 0, until: T.span };
const shown = new Set(TOPICS.filter(topic => topic !== 'heartbeats'));
const selected = { chain: null, key: '' };
const play = { on: false, at: null, speed: 1, last: 0 };
const GUTTER = 116, AXIS = 24, FAULT_ROW = 15, BAND = 15, NARROWEST = 2e4;

const scene = { width: 0, height: 0, faults: null, lanes: [], locks: [], stairs: null };

const xOf = at => GUTTER + (at - view.from) / (view.until - view.from) * (scene.width - GUTTER);
const timeOf = x => view.from + (x - GUTTER) / (scene.width - GUTTER) * (view.until - view.from);
const perPixel = () => (view.until - view.from) / Math.max(1, scene.width - GUTTER);

function look(from, until) {
  const span = Math.min(Math.max(until - from, NARROWEST), T.span * 1.04);
  const middle = (from + until) / 2;
  from = Math.min(Math.max(middle - span / 2, -T.span * 0.02), T.span * 1.02 - span);
  view.from = from;
  view.until = from + span;
}
function zoom(factor, at) {
  const share = (at - view.from) / (view.until - view.from);
  const span = Math.min(Math.max((view.until - view.from) * factor, NARROWEST), T.span * 1.04);
  look(at - share * span, at - share * span + span);
}
const pan = share => look(view.from + share * (view.until - view.from), view.until + share * (view.until - view.from));
function reveal(at) {
  const span = view.until - view.from;
  if (at < view.from + span * 0.05 || at > view.until - span * 0.05) look(at - span / 2, at + span / 2);
}
function revealSpan(from, until) {
  const pad = Math.max((until - from) * 0.15, 2e6);
  look(from - pad, until + pad);
}

// ---- rows

// Bars on as few rows as they need, at most `most`; those beyond share the last one.
function pack(items, most, from, until) {
  const free = [];
  for (const item of items) {
    let row = free.findIndex(end => end <= from(item));
    if (row < 0) row = free.length < most ? free.length : most - 1;
    free[row] = Math.max(free[row] || 0, until(item));
    item.row = row;
  }
  return Math.max(1, free.length);
}
const faultRows = T.faults.length ? pack(T.faults, 5, f => f.from, f => Math.max(endOf(f), f.from + T.span / 400)) : 0;
const OPERATION_ROWS = 4;
const operationRows = T.operationsOf.map(items => items.length ? pack(items, OPERATION_ROWS, o => o.called, o => endOf(o, 'called')) : 0);

function arrange(width, room) {
  scene.width = width;
  let y = AXIS;
  scene.faults = faultRows ? { y, height: faultRows * FAULT_ROW + 6 } : null;
  if (scene.faults) y += scene.faults.height;
  const lockHeight = T.locks.size ? 20 + T.locks.size * 27 : 0;
  const most = Math.max(0, ...operationRows);
  const smallest = BAND + 20 + most * 6;
  const stairs = T.progress.length ? Math.min(150, Math.max(96, room * 0.2)) : 0;
  const height = Math.min(most ? (stairs ? 104 : 140) : 72, Math.max(smallest, (room - y - lockHeight - stairs - 4) / T.lanes.length));
  scene.pitch = most ? Math.min(14, (height - BAND - 18) / most) : 6;
  scene.lanes = T.lanes.map((_, number) => {
    const top = y + number * height;
    const band = top + (most ? 12 : (height - BAND) / 2);
    return { top, height, band, middle: band + BAND / 2, operations: band + BAND + 3 };
  });
  y += height * T.lanes.length;
  scene.locks = [...T.locks.keys()].map((name, i) => ({ name, y: y + 18 + i * 27, height: 22 }));
  if (lockHeight) scene.locksTop = y;
  y += lockHeight;
  scene.stairs = stairs ? { y, height: Math.max(stairs, room - y - 2) } : null;
  scene.height = scene.stairs ? y + scene.stairs.height : Math.max(y, room);
}

function operationBox(o) {
  const row = scene.lanes[o.lane];
  const x = xOf(o.called), end = xOf(endOf(o, 'called'));
  return { x, y: row.operations + o.row * scene.pitch, width: Math.max(2.5, end - x), height: scene.pitch - 1 };
}
function grantBox(g) {
  const row = scene.locks.find(one => one.name === g.lock);
  const x = xOf(g.granted), end = xOf(g.ended ?? T.end);
  return { x, y: row.y, width: Math.max(2, end - x), height: row.height };
}
function trustBox(g) {
  if (g.trustedFrom === null) return null;
  const row = scene.locks.find(one => one.name === g.lock);
  const x = xOf(g.trustedFrom), end = xOf(Math.min(g.trustedUntil ?? T.end, T.end));
  return { x, y: row.y + 5, width: Math.max(1.5, end - x), height: row.height - 10 };
}
function faultBox(f) {
  const x = xOf(f.from);
  return { x, y: scene.faults.y + 3 + f.row * FAULT_ROW, width: Math.max(4, xOf(endOf(f)) - x), height: FAULT_ROW - 3 };
}
function messageLine(m) {
  const from = scene.lanes[m.from], to = scene.lanes[m.to];
  const down = m.to > m.from;
  const y1 = down ? from.band + BAND : from.band, y2 = down ? to.band : to.band + BAND;
  const x1 = xOf(m.sent);
  if (m.delivery === Delivery.Arrived) return { x1, y1, x2: xOf(m.ended), y2 };
  const share = 0.45;  // lost ones end on their way
  return { x1, y1, x2: Math.max(x1 + 3, Math.min(xOf(m.ended), x1 + 40)), y2: y1 + (y2 - y1) * share };
}
const visible = (from, until) => until >= view.from && from <= view.until;
const isShown = m => shown.has(TOPICS[T.kinds[m.kind].topic]) || (selected.chain !== null && selected.chain.messages.has(m.number));

// The log indexes that the window shows.
function stairRange() {
  let low = Infinity, high = 0;
  T.lanes.forEach((_, number) => {
    const first = progressAt(number, view.from), last = progressAt(number, view.until);
    if (last) { low = Math.min(low, (first ?? T.progressOf[number][0]).applied); high = Math.max(high, last.appended); }
  });
  if (low > high) low = high;
  const spare = Math.max(1, (high - low) * 0.06);
  return { low: Math.max(0, low - spare), high: high + spare };
}
const stairY = (index, range) =>
  scene.stairs.y + scene.stairs.height - 8 - (index - range.low) / (range.high - range.low) * (scene.stairs.height - 30);

// ---- what is under the pointer

const inside = (box, x, y, spare = 1) =>
  box && x >= box.x - spare && x <= box.x + box.width + spare && y >= box.y - spare && y <= box.y + box.height + spare;

function distanceToLine(line, x, y) {
  const dx = line.x2 - line.x1, dy = line.y2 - line.y1;
  const share = Math.min(1, Math.max(0, ((x - line.x1) * dx + (y - line.y1) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - line.x1 - share * dx, y - line.y1 - share * dy);
}

function under(x, y) {
  if (x < GUTTER) return null;
  return underLanes(x, y) || underLocks(x, y) || underFaults(x, y) || underStairs(x, y) || underMessages(x, y) || underBands(x, y);
}

function underLanes(x, y) {
  for (const lane of scene.lanes) {
    if (y < lane.operations - 2 || y > lane.top + lane.height) continue;
    let best = null;
    for (const o of T.operationsOf[scene.lanes.indexOf(lane)]) {
      if (visible(o.called, endOf(o, 'called')) && inside(operationBox(o), x, y)) best = o;
    }
    if (best) return { type: 'operation', item: best };
  }
  let note = null, least = 6;
  for (const n of T.notes) {
    if (!visible(n.at, n.at)) continue;
    const distance = Math.hypot(xOf(n.at) - x, noteY(n) - y);
    if (distance < least) { least = distance; note = n; }
  }
  return note && { type: 'note', item: note };
}
const noteY = n => n.lane === null ? 13 : scene.lanes[n.lane].band - 5;

function underLocks(x, y) {
  for (const row of scene.locks) {
    if (y < row.y || y > row.y + row.height) continue;
    let best = null;
    for (const g of T.locks.get(row.name)) {
      if (inside(trustBox(g), x, y, 0) || (inside(grantBox(g), x, y, 0) && !best)) best = g;
    }
    if (best) return { type: 'grant', item: best };
  }
  return null;
}

function underFaults(x, y) {
  if (!scene.faults || y < scene.faults.y || y > scene.faults.y + scene.faults.height) return null;
  const fault = T.faults.find(f => inside(faultBox(f), x, y));
  return fault ? { type: 'fault', item: fault } : null;
}

function underStairs(x, y) {
  if (!scene.stairs || y < scene.stairs.y) return null;
  const range = stairRange();
  const share = (scene.stairs.y + scene.stairs.height - 8 - y) / (scene.stairs.height - 30);
  const entry = entryOf(Math.round(range.low + share * (range.high - range.low)));
  return entry ? { type: 'entry', item: entry, at: timeOf(x) } : null;
}

function underMessages(x, y) {
  let best = null, least = 5;
  for (const m of T.messages) {
    if (m.sent > view.until) break;
    if (m.ended < view.from || !isShown(m)) continue;
    const distance = distanceToLine(messageLine(m), x, y);
    if (distance < least) { least = distance; best = m; }
  }
  return best && { type: 'message', item: best };
}

function underBands(x, y) {
  const number = scene.lanes.findIndex(lane => y >= lane.band && y <= lane.band + BAND);
  return number < 0 ? null : { type: 'replica', item: number, at: timeOf(x) };
}

function chainOf(found) {
  if (!found) return null;
  const item = found.item;
  switch (found.type) {
    case 'operation': return causesOfOperation(item);
    case 'grant': return causesOfGrant(item);
    case 'entry': return causesOfEntry(item);
    case 'message': return causesOfMessage(item);
    case 'fault': return causesOfMoment(`fault ${item.ordinal}: ${item.kind}`, faultText(item), item.from, item.lanes[0]);
    case 'note': return causesOfMoment('event', item.text, item.at, item.lane);
    default: return null;
  }
}
function keyOf(found) {
  if (found.type === 'operation') return `operation:${found.item.id}`;
  if (found.type === 'entry') return `entry:${found.item.index}`;
  return `${found.type}:${found.item.number}`;
}
function foundByKey(key) {
  const [type, number] = key.split(':');
  const item = { operation: () => T.operationById.get(Number(number)), entry: () => entryOf(Number(number)), grant: () => T.grants[number],
    message: () => T.messages[number], fault: () => T.faults[number], note: () => T.notes[number] }[type]?.();
  return item ? { type, item } : null;
}
function faultText(f) {
  let text = f.kind.replaceAll('_', ' ');
  if (f.links.length) text += ' of ' + short(f.links.map(([a, b]) => `${lane(a)}→${lane(b)}`).join(' '), 60);
  else if (f.lanes.length) text += ' of ' + f.lanes.map(lane).join(' ');
  return endOf(f) > f.from ? `${text}, for ${spanText(endOf(f) - f.from)}` : text;
}
