'use strict';
// Draws the scene. A frame costs what is visible: arrows that would fall on the same pixels are drawn once.

const canvas = document.getElementById('canvas');
const overview = document.getElementById('overview');
const ink = canvas.getContext('2d');
const small = overview.getContext('2d');
const FONT = '"DejaVu Sans", system-ui, "Segoe UI", sans-serif';
// By replica, in this order; told apart by the colour-blind too (Okabe and Ito).
const LIGHT_HUES = ['#0072b2', '#d98200', '#008f68', '#b8588f', '#3a9fd4', '#7a5fc0', '#8a7a00', '#5f6b76'];
const DARK_HUES = ['#4aaee8', '#f0ae2b', '#2fc193', '#e48fbe', '#8ad0f7', '#ab93e8', '#d3c33f', '#a0acb7'];
let hues = LIGHT_HUES;
let C = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ['paper', 'panel', 'line', 'ink', 'quiet', 'grid', 'stripe', 'leader', 'candidate', 'precandidate', 'follower', 'down', 'frozen',
    'on-leader', 'on-light', 'alarm', 'fine', 'select', 'fault', 'fault-fill', 'head', ...TOPICS];
  C = Object.fromEntries(names.map(name => [name, style.getPropertyValue('--' + name).trim()]));
  hues = document.documentElement.dataset.theme === 'dark' ? DARK_HUES : LIGHT_HUES;
}
const hue = number => hues[number % hues.length];
const stateColour = state => [C.down, C.follower, C.precandidate, C.candidate, C.leader][state];

function stripes(context, box, colour, gap = 6, width = 2) {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  const first = Math.floor((Math.max(box.x, 0) - box.height) / gap) * gap, last = Math.min(box.x + box.width, 8192);
  for (let x = first; x < last; x += gap) {
    context.moveTo(x, box.y + box.height);
    context.lineTo(x + box.height, box.y);
  }
  context.stroke();
  context.restore();
}
// Within the stage only: a bar may be seconds long and a pixel a microsecond.
function clipped(from, until) {
  const x = Math.max(GUTTER, xOf(from)), end = Math.min(scene.width, xOf(until));
  return { x, width: end - x };
}
function text(words, x, y, colour, size = 11, weight = '') {
  ink.fillStyle = colour;
  ink.font = `${weight} ${size}px ${FONT}`;
  ink.fillText(words, x, y);
}

function paint() {
  const started = performance.now();
  const ratio = devicePixelRatio || 1;
  const scroll = document.getElementById('scroll');
  arrange(scroll.clientWidth, scroll.clientHeight);
  if (canvas.width !== Math.round(scene.width * ratio) || canvas.height !== Math.round(scene.height * ratio)) {
    canvas.width = Math.round(scene.width * ratio);
    canvas.height = Math.round(scene.height * ratio);
    canvas.style.height = scene.height + 'px';
  }
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  ink.fillStyle = C.paper;
  ink.fillRect(0, 0, scene.width, scene.height);
  ink.textBaseline = 'middle';
  paintGround();
  ink.save();
  ink.beginPath();
  ink.rect(GUTTER, 0, scene.width - GUTTER, scene.height);
  ink.clip();
  paintFaults();
  paintMessages();
  paintBands();
  paintOperations();
  paintNotes();
  paintLocks();
  paintStairs();
  paintChain();
  paintMoments();
  paintPlay();
  ink.restore();
  paintGutter();
  paintAxis();
  paintOverview();
  document.documentElement.dataset.frameMs = (performance.now() - started).toFixed(1);
}

function paintGround() {
  scene.lanes.forEach((lane, number) => {
    if (number % 2 === 0) {
      ink.fillStyle = C.stripe;
      ink.fillRect(0, lane.top, scene.width, lane.height);
    }
  });
  ink.strokeStyle = C.line;
  ink.lineWidth = 1;
  ink.beginPath();
  for (const y of [scene.lanes[0]?.top, scene.locks.length ? scene.locksTop : undefined, scene.stairs?.y]) {
    if (y !== undefined) { ink.moveTo(0, Math.round(y) + 0.5); ink.lineTo(scene.width, Math.round(y) + 0.5); }
  }
  ink.stroke();
  const { step, first } = ticks();
  ink.strokeStyle = C.grid;
  ink.beginPath();
  for (let at = first; at <= view.until; at += step) {
    const x = Math.round(xOf(at)) + 0.5;
    if (x > GUTTER) { ink.moveTo(x, AXIS); ink.lineTo(x, scene.height); }
  }
  ink.stroke();
}

function ticks() {
  const wish = perPixel() * 110;
  let step = 1000;
  for (let i = 0; step < wish; ++i) step *= [2, 2.5, 2][i % 3];
  return { step, first: Math.ceil(Math.max(view.from, 0) / step) * step };
}

function paintAxis() {
  const { step, first } = ticks();
  const digits = Math.max(0, Math.min(6, Math.ceil(9 - Math.log10(step) - 1e-9)));
  ink.fillStyle = C.paper;
  ink.fillRect(0, 0, scene.width, AXIS - 1);
  for (let at = first; at <= view.until; at += step) {
    const x = xOf(at);
    if (x > GUTTER + 4 && x < scene.width - 40) text((at / 1e9).toFixed(digits) + ' s', x + 3, 8, C.quiet, 10.5);
  }
  text(spanText(view.until - view.from) + ' shown', 8, 9, C.quiet, 10.5);
  for (const note of T.notes) {
    if (note.lane === null && visible(note.at, note.at)) drawNote(note);
  }
}

function paintFaults() {
  if (!scene.faults) return;
  for (const fault of T.faults) {
    if (!visible(fault.from, endOf(fault))) continue;
    const box = faultBox(fault);
    const x = Math.max(box.x, GUTTER), width = Math.min(box.x + box.width, scene.width) - x;
    ink.fillStyle = C['fault-fill'];
    ink.fillRect(x, box.y, width, box.height);
    ink.fillStyle = C.fault;
    ink.fillRect(box.x, box.y, box.width > 6 ? 2.5 : 1, box.height);
    const name = `${fault.ordinal ? fault.ordinal + ' ' : ''}${faultLabel(fault)}`;
    if (width > 26) text(fit(name, width - 7, 10), x + 5, box.y + box.height / 2, C.ink, 10);
    if (perPixel() < 3e7) paintFaultOnLanes(fault);
  }
}
const faultLabel = f => f.kind.replaceAll('_', ' ') + (f.lanes.length && f.lanes.length < T.lanes.length ? ' ' + f.lanes.map(lane).join(' ') : '');

// Where it strikes: a wash over the lanes it touches.
function paintFaultOnLanes(fault) {
  const lanes = fault.lanes.length ? fault.lanes : T.lanes.map((_, number) => number);
  const { x, width } = clipped(fault.from, endOf(fault));
  ink.globalAlpha = 0.16;
  ink.fillStyle = C.fault;
  for (const number of lanes) {
    const row = scene.lanes[number];
    ink.fillRect(x, row.top + 1, Math.max(1, width), 4);
  }
  ink.globalAlpha = 1;
}

const widths = new Map();
function fit(words, width, size) {
  ink.font = `${size}px ${FONT}`;
  const key = size + words;
  if (!widths.has(key)) { if (widths.size > 20000) widths.clear(); widths.set(key, ink.measureText(words).width); }
  const whole = widths.get(key);
  if (whole <= width) return words;
  const letters = Math.floor(words.length * width / whole) - 1;
  return letters < 2 ? '' : words.slice(0, letters) + '…';
}

// ---- messages

function paintMessages() {
  const seen = new Set(), column = new Uint8Array((scene.width + 2) * T.lanes.length * T.lanes.length * TOPICS.length);
  const paths = TOPICS.map(() => new Path2D());
  const lostPaths = TOPICS.map(() => new Path2D());
  const heads = [];
  const crowded = perPixel() > 4e5;  // above 0.4 ms a pixel slopes and heads say nothing
  let drawn = 0;
  const chosen = selected.chain ? selected.chain.messages : null;
  for (const m of T.messages) {
    if (m.sent > view.until) break;
    if (m.ended < view.from || !isShown(m) || chosen?.has(m.number)) continue;
    const topic = T.kinds[m.kind].topic;
    if (crowded && m.ended - m.sent < perPixel() && m.delivery === Delivery.Arrived) {  // upright: one of a kind in each column of pixels
      const x = Math.max(0, Math.round(xOf(m.sent)));
      const cell = ((x * T.lanes.length + m.from) * T.lanes.length + m.to) * TOPICS.length + topic;
      if (column[cell]) continue;
      column[cell] = 1;
    }
    const line = messageLine(m);
    const key = (((Math.round(line.x1) * 4096 + Math.round(line.x2)) * 8 + m.from) * 8 + m.to) * 16 + topic * 2 + (m.delivery === Delivery.Lost ? 1 : 0);
    if (seen.has(key)) continue;
    seen.add(key);
    const path = (m.delivery === Delivery.Arrived ? paths : lostPaths)[topic];
    path.moveTo(line.x1, line.y1);
    path.lineTo(line.x2, line.y2);
    if (!crowded && drawn < 4000) heads.push([m, line, topic]);
    ++drawn;
  }
  ink.lineWidth = drawn > 2500 ? 0.6 : 1;
  const strength = (drawn > 6000 ? 0.35 : drawn > 1500 ? 0.55 : 0.85) * (chosen ? 0.3 : 1);
  TOPICS.forEach((topic, i) => {
    ink.globalAlpha = strength;
    ink.strokeStyle = C[topic];
    ink.stroke(paths[i]);
    ink.setLineDash([3, 3]);
    ink.stroke(lostPaths[i]);
    ink.setLineDash([]);
  });
  for (const [m, line, topic] of heads) m.delivery === Delivery.Arrived ? arrowHead(line, C[topic], 5) : cross(line.x2, line.y2, C[topic], 2.5);
  ink.globalAlpha = 1;
}
function arrowHead(line, colour, size) {
  const angle = Math.atan2(line.y2 - line.y1, line.x2 - line.x1);
  ink.fillStyle = colour;
  ink.beginPath();
  ink.moveTo(line.x2, line.y2);
  ink.lineTo(line.x2 - size * Math.cos(angle - 0.45), line.y2 - size * Math.sin(angle - 0.45));
  ink.lineTo(line.x2 - size * Math.cos(angle + 0.45), line.y2 - size * Math.sin(angle + 0.45));
  ink.fill();
}
function cross(x, y, colour, size) {
  ink.strokeStyle = colour;
  ink.beginPath();
  ink.moveTo(x - size, y - size); ink.lineTo(x + size, y + size);
  ink.moveTo(x - size, y + size); ink.lineTo(x + size, y - size);
  ink.stroke();
}

// ---- replicas

function paintBands() {
  scene.lanes.forEach((row, number) => {
    const states = T.statesOf[number];
    let until = view.until, drawnTo = Infinity;
    for (let i = lastAt(states, view.until); i >= -1; --i) {
      const state = i < 0 ? { at: Math.min(0, view.from), state: State.Down, term: 0 } : states[i];
      const { x, width } = clipped(state.at, Math.min(until, T.end));
      until = state.at;
      if (x < drawnTo - 0.4 || width > 0.8) {
        paintState(row, state, x, Math.max(width, 0.8));
        drawnTo = x;
      }
      if (state.at < view.from) break;
    }
    for (const one of T.frozenOf[number]) paintFrozen(row, one);
  });
}
function paintState(row, state, x, width) {
  const box = { x, y: row.band, width, height: BAND };
  if (state.state === State.Down) {
    ink.fillStyle = C.paper;
    ink.fillRect(x, row.band, width, BAND);
    stripes(ink, box, C.down, 5, 2.4);
    ink.strokeStyle = C.down;
    ink.strokeRect(x + 0.5, row.band + 0.5, Math.max(0, width - 1), BAND - 1);
    if (width > 44) label('down', x, row, width, C.ink, true);
    return;
  }
  ink.fillStyle = stateColour(state.state);
  ink.fillRect(x, row.band, width, BAND);
  const term = state.term ? `term ${state.term}` : '';
  const name = state.state === State.Follower ? term : `${STATE_NAMES[state.state]} · ${term}`;
  const words = fit(name, width - 8, 10.5);
  if (width > 30 && words) text(words, x + 4, row.band + BAND / 2 + 0.5, state.state === State.Leader ? C['on-leader'] : C['on-light'], 10.5,
    state.state === State.Leader ? '600' : '');
}
function label(words, x, row, width, colour, ground) {
  ink.font = `600 10.5px ${FONT}`;
  const size = ink.measureText(words).width + 8, middle = x + width / 2;
  if (ground) { ink.fillStyle = C.paper; ink.fillRect(middle - size / 2, row.band + 1, size, BAND - 2); }
  text(words, middle - size / 2 + 4, row.band + BAND / 2 + 0.5, colour, 10.5, '600');
}
function paintFrozen(row, one) {
  const until = one.until ?? T.end;
  if (!visible(one.from, until)) return;
  const { x, width } = clipped(one.from, until);
  const box = { x, y: row.band - 3, width: Math.max(2, width), height: BAND + 6 };
  ink.globalAlpha = 0.4;
  ink.fillStyle = C.frozen;
  ink.fillRect(box.x, box.y, box.width, box.height);
  ink.globalAlpha = 1;
  stripes(ink, box, C.frozen, 8, 1.6);
  ink.strokeStyle = C.frozen;
  ink.lineWidth = 1.5;
  ink.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
  ink.lineWidth = 1;
  if (width > 56) label('frozen', x, row, width, C.ink, true);
}

function operationColour(o) {
  if (o.ended === null || (o.outcome !== 'ok' && o.outcome !== '')) return C.quiet;
  return ['acquire', 'release', 'open', 'close', 'check'].includes(o.kind) ? C.requests : READS.has(o.kind) || o.kind === 'local get' ? C.reads : C.states;
}
function paintOperations() {
  const chosen = selected.chain ? selected.chain.operations : null;
  for (const operations of T.operationsOf) {
    const drawnTo = new Float64Array(OPERATION_ROWS).fill(-1e9);
    for (const o of operations) {
      if (o.called > view.until) break;
      if (!visible(o.called, endOf(o, 'called'))) continue;
      const box = operationBox(o), mine = chosen?.has(o.id);
      if (!mine && box.x + box.width < drawnTo[o.row] + 0.7) continue;
      drawnTo[o.row] = box.x + box.width;
      const x = Math.max(box.x, GUTTER - 2), width = Math.max(2.5, Math.min(box.x + box.width, scene.width + 2) - x);
      ink.globalAlpha = mine || !chosen ? 1 : 0.35;
      ink.fillStyle = mine ? C.select : operationColour(o);
      if (o.ended === null) ink.fillRect(x, box.y + box.height / 2 - 1, width, 2);
      else ink.fillRect(x, box.y, Math.max(1.5, width - 0.7), box.height);
      if (box.height < 9 || width < 34 || o.ended === null) continue;
      text(fit(operationText(o), width - 6, 9), x + 3, box.y + box.height / 2 + 0.5, C.paper, 9);
    }
  }
  ink.globalAlpha = 1;
}

function paintNotes() {
  const seen = new Set();
  for (const note of T.notes) {
    if (note.lane === null || !visible(note.at, note.at)) continue;
    const key = (Math.round(xOf(note.at) / 2) * T.lanes.length + note.lane) * 8 + note.weight;
    if (seen.has(key)) continue;
    seen.add(key);
    drawNote(note);
  }
}
function drawNote(note) {
  const x = xOf(note.at), y = noteY(note);
  if (x < GUTTER) return;
  const strong = note.weight !== Weight.Plain;
  ink.fillStyle = note.weight === Weight.Loss || note.weight === Weight.Refused ? C.alarm : note.weight === Weight.Members ? C.members : note.weight === Weight.Story ? C.select : C.quiet;
  ink.globalAlpha = strong ? 1 : 0.6;
  ink.beginPath();
  if (note.weight === Weight.Members || note.weight === Weight.Story) { ink.moveTo(x, y - 4.5); ink.lineTo(x + 4.5, y); ink.lineTo(x, y + 4.5); ink.lineTo(x - 4.5, y); }
  else { const s = strong ? 4.5 : 2.6; ink.moveTo(x - s, y - s); ink.lineTo(x + s, y - s); ink.lineTo(x, y + s); }
  ink.fill();
  ink.globalAlpha = 1;
}

// ---- locks

function paintLocks() {
  const chosen = selected.chain ? selected.chain.grants : null;
  for (const row of scene.locks) {
    let drawnTo = -1e9;
    for (const grant of T.locks.get(row.name)) {
      if (!visible(grant.granted, Math.max(grant.ended ?? T.end, grant.trustedUntil ?? 0))) continue;
      const box = grantBox(grant);
      if (box.x + box.width < drawnTo + 1 && !chosen?.has(grant.number)) continue;
      drawnTo = box.x + box.width;
      paintGrant(grant, box, trustBox(grant), chosen);
    }
  }
}
// The frame is what the log says, the bar inside what the holder believes.
function paintGrant(grant, box, trust, chosen) {
  const colour = hue(grant.lane);
  const x = Math.max(box.x, GUTTER - 3), width = Math.min(box.x + box.width, scene.width + 3) - x;
  ink.globalAlpha = chosen && !chosen.has(grant.number) ? 0.45 : 1;
  if (width > 0) {
    ink.fillStyle = colour;
    ink.save(); ink.globalAlpha *= 0.2; ink.fillRect(x, box.y, width, box.height); ink.restore();
    ink.strokeStyle = chosen?.has(grant.number) ? C.select : colour;
    ink.lineWidth = chosen?.has(grant.number) ? 2 : 1;
    if (width > 2) ink.strokeRect(x + 0.5, box.y + 0.5, width - 1, box.height - 1);
    ink.lineWidth = 1;
  }
  if (trust) {
    const from = Math.max(trust.x, GUTTER - 3), wide = Math.min(trust.x + trust.width, scene.width + 3) - from;
    ink.fillStyle = colour;
    if (wide > 0) ink.fillRect(from, trust.y, wide, trust.height);
    const words = fit(`${tokenText(grant.token)} ${lane(grant.lane)}`, wide - 4, 10.5);
    if (words && wide > 16) text(words, from + 3, trust.y + trust.height / 2 + 0.5, C.paper, 10.5, '600');
  } else if (width > 16) {
    text(fit(`${tokenText(grant.token)} ${lane(grant.lane)}`, width - 6, 10.5), x + 4, box.y + box.height / 2, C.ink, 10.5);
  }
  ink.globalAlpha = 1;
}

// ---- the log

function paintStairs() {
  if (!scene.stairs) return;
  const range = stairRange();
  ink.strokeStyle = C.grid;
  const step = Math.max(1, 10 ** Math.floor(Math.log10((range.high - range.low) / 2)));
  ink.beginPath();
  for (let index = Math.ceil(range.low / step) * step; index <= range.high; index += step) {
    const y = Math.round(stairY(index, range)) + 0.5;
    ink.moveTo(GUTTER, y); ink.lineTo(scene.width, y);
  }
  ink.stroke();
  T.lanes.forEach((_, number) => {
    paintStair(number, 'appended', range, 0.9, 0.45, []);
    paintStair(number, 'committed', range, 1.2, 0.75, [2, 2]);
    paintStair(number, 'applied', range, 2, 1, []);
  });
}
function paintStair(number, field, range, width, alpha, dash) {
  const steps = T.progressOf[number];
  let i = Math.max(0, lastAt(steps, view.from));
  if (!steps.length || steps[i].at > view.until) return;
  const shift = (number - (T.lanes.length - 1) / 2) * 1.3;  // equal ones stay apart
  ink.strokeStyle = hue(number);
  ink.lineWidth = width;
  ink.globalAlpha = alpha;
  ink.setLineDash(dash);
  ink.beginPath();
  let x = Math.max(GUTTER, xOf(steps[i].at)), y = stairY(steps[i][field], range) + shift;
  ink.moveTo(x, y);
  for (++i; i < steps.length && steps[i].at <= view.until; ++i) {
    const nextX = xOf(steps[i].at), nextY = stairY(steps[i][field], range) + shift;
    const down = steps[i - 1].at < view.until && nextX - x < 0.4 && i + 1 < steps.length && xOf(steps[i + 1].at) - x < 0.4;
    if (nextY === y || down) continue;
    ink.lineTo(nextX, y);
    ink.lineTo(nextX, nextY);
    x = nextX; y = nextY;
  }
  ink.lineTo(Math.min(scene.width, xOf(Math.min(T.end, view.until))), y);
  ink.stroke();
  ink.setLineDash([]);
  ink.globalAlpha = 1;
  ink.lineWidth = 1;
}

// ---- what is selected, and the moments that matter

function paintChain() {
  const chain = selected.chain;
  if (!chain) return;
  ink.lineWidth = 2.2;
  for (const number of chain.messages) {
    const m = T.messages[number];
    if (!visible(m.sent, m.ended)) continue;
    const line = messageLine(m);
    ink.strokeStyle = m.delivery === Delivery.Arrived ? C.select : C.alarm;
    ink.setLineDash(m.delivery === Delivery.Arrived ? [] : [4, 3]);
    ink.beginPath(); ink.moveTo(line.x1, line.y1); ink.lineTo(line.x2, line.y2); ink.stroke();
    ink.setLineDash([]);
    m.delivery === Delivery.Arrived ? arrowHead(line, C.select, 8) : cross(line.x2, line.y2, C.alarm, 4);
  }
  if (scene.stairs) {
    const range = stairRange();
    ink.strokeStyle = C.select;
    ink.lineWidth = 1;
    ink.setLineDash([6, 4]);
    for (const index of chain.entries) {
      if (index < range.low || index > range.high) continue;
      const y = stairY(index, range);
      ink.beginPath(); ink.moveTo(GUTTER, y); ink.lineTo(scene.width, y); ink.stroke();
      text(`${index}`, GUTTER + 4, y - 7, C.select, 10.5, '600');
    }
    ink.setLineDash([]);
  }
  paintNumbers(chain);
}
// The numbers of the steps, as in the list beside; those that would cover each other give way.
function paintNumbers(chain) {
  const taken = [];
  chain.steps.forEach((step, i) => {
    if (!visible(step.at, step.at) || !scene.lanes[step.lane]) return;
    const x = xOf(step.at), y = scene.lanes[step.lane].middle;
    if (x < GUTTER || taken.some(([a, b]) => Math.abs(a - x) < 15 && Math.abs(b - y) < 15)) return;
    taken.push([x, y]);
    ink.beginPath();
    ink.arc(x, y, 7.5, 0, 7);
    ink.fillStyle = step.lost ? C.alarm : C.select;
    ink.fill();
    ink.strokeStyle = C.paper;
    ink.lineWidth = 1;
    ink.stroke();
    const words = String(i + 1);
    text(words, x - words.length * 2.9, y + 0.5, C.paper, 9.5, '700');
  });
}

function paintMoments() {
  if (T.calm !== null) upright(T.calm, C.fine, 'faults are over', [5, 4]);
  if (T.violation) upright(T.violation.at, C.alarm, T.violation.id, []);
}
function upright(at, colour, words, dash) {
  const x = xOf(at);
  if (x < GUTTER - 1 || x > scene.width + 1) return;
  ink.strokeStyle = colour;
  ink.lineWidth = 1.6;
  ink.setLineDash(dash);
  ink.beginPath(); ink.moveTo(x, AXIS - 8); ink.lineTo(x, scene.height); ink.stroke();
  ink.setLineDash([]);
  ink.font = `600 10.5px ${FONT}`;
  const width = ink.measureText(words).width + 8;
  const left = x + width > scene.width ? x - width : x;
  ink.fillStyle = colour;
  ink.fillRect(left, scene.height - 15, width, 15);
  text(words, left + 4, scene.height - 7, C.paper, 10.5, '600');
  ink.lineWidth = 1;
}

function paintPlay() {
  if (play.at === null) return;
  const x = xOf(play.at);
  ink.strokeStyle = C.head;
  ink.lineWidth = 1;
  ink.beginPath(); ink.moveTo(x, 0); ink.lineTo(x, scene.height); ink.stroke();
  ink.fillStyle = C.head;
  ink.beginPath(); ink.moveTo(x - 6, AXIS - 12); ink.lineTo(x + 6, AXIS - 12); ink.lineTo(x, AXIS - 3); ink.fill();
  for (const m of T.messages) {
    if (m.sent > play.at) break;
    if (m.ended <= play.at || !isShown(m)) continue;
    const line = messageLine(m), share = (play.at - m.sent) / (m.ended - m.sent || 1);
    ink.fillStyle = C[TOPICS[T.kinds[m.kind].topic]];
    ink.beginPath();
    ink.arc(x, line.y1 + (line.y2 - line.y1) * share, 4, 0, 7);
    ink.fill();
  }
}

// ---- the sides

function paintGutter() {
  ink.fillStyle = C.panel;
  ink.fillRect(0, AXIS, GUTTER - 1, scene.height - AXIS);
  ink.fillStyle = C.line;
  ink.fillRect(GUTTER - 1, 0, 1, scene.height);
  if (scene.faults) text('faults', 8, scene.faults.y + 10, C.quiet, 11);
  const at = play.at ?? Math.min(T.violation && T.violation.at <= view.until && T.violation.at >= view.from ? T.violation.at : view.until, T.end);
  scene.lanes.forEach((row, number) => {
    const state = standsAt(number, at), progress = progressAt(number, at);
    ink.fillStyle = hue(number);
    ink.fillRect(0, row.top + 3, 4, row.height - 6);
    const name = fit(T.lanes[number], 62, 13);
    text(name, 10, row.middle + 1, C.ink, 13, '700');
    const side = 18 + ink.measureText(name).width;
    const words = frozenAt(number, at) ? 'frozen' : STATE_NAMES[state.state];
    text(fit(words, GUTTER - side - 2, 10), side, row.middle + 1, state.state === State.Leader ? C.leader : state.state === State.Down ? C.alarm : C.quiet, 10,
      state.state === State.Leader ? '700' : '');
    if (progress && row.height > 50) text(`applied ${progress.applied} of ${progress.appended}`, 10, row.middle + 15, C.quiet, 9.5);
  });
  if (scene.locks.length) text('locks', 8, scene.locksTop + 10, C.quiet, 11);
  for (const row of scene.locks) text(fit(row.name, GUTTER - 16, 11), 10, row.y + row.height / 2, C.ink, 11);
  if (scene.stairs) paintStairScale();
}
function paintStairScale() {
  const range = stairRange();
  text('log index', 8, scene.stairs.y + 10, C.quiet, 11);
  text('━ applied', 8, scene.stairs.y + 27, C.quiet, 9.5);
  text('┅ committed', 8, scene.stairs.y + 40, C.quiet, 9.5);
  text('─ appended', 8, scene.stairs.y + 53, C.quiet, 9.5);
  ink.textAlign = 'right';
  text(String(Math.floor(range.high)), GUTTER - 6, Math.max(scene.stairs.y + 20, stairY(Math.floor(range.high), range)), C.quiet, 10);
  text(String(Math.ceil(range.low)), GUTTER - 6, stairY(Math.ceil(range.low), range), C.quiet, 10);
  ink.textAlign = 'left';
}

let ground = null;  // of the overview: it changes with size and theme only
function paintOverview() {
  const ratio = devicePixelRatio || 1, width = overview.clientWidth, height = overview.clientHeight;
  const key = [width, height, ratio, C.paper].join();
  if (!ground || ground.key !== key) {
    overview.width = Math.round(width * ratio);
    overview.height = Math.round(height * ratio);
    ground = { key, image: overviewGround(width, height, ratio) };
  }
  small.setTransform(1, 0, 0, 1, 0, 0);
  small.drawImage(ground.image, 0, 0);
  small.setTransform(ratio, 0, 0, ratio, 0, 0);
  const x = overviewX(view.from), end = overviewX(view.until);
  small.fillStyle = C.select;
  small.globalAlpha = 0.13;
  small.fillRect(x, 0, Math.max(2, end - x), height);
  small.globalAlpha = 1;
  small.strokeStyle = C.select;
  small.strokeRect(x + 0.5, 0.5, Math.max(2, end - x) - 1, height - 1);
}
const overviewX = at => GUTTER + at / T.span * (overview.clientWidth - GUTTER - 6);
const overviewTime = x => (x - GUTTER) / (overview.clientWidth - GUTTER - 6) * T.span;

function overviewGround(width, height, ratio) {
  const image = new OffscreenCanvas(Math.round(width * ratio), Math.round(height * ratio));
  const c = image.getContext('2d');
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = C.panel;
  c.fillRect(0, 0, width, height);
  c.fillStyle = C.fault;
  c.globalAlpha = 0.18;
  for (const fault of T.faults) c.fillRect(overviewX(fault.from), 0, Math.max(1, overviewX(endOf(fault)) - overviewX(fault.from)), height);
  c.globalAlpha = 1;
  const row = (height - 8) / T.lanes.length;
  T.lanes.forEach((_, number) => {
    T.statesOf[number].forEach((state, i, states) => {
      const x = overviewX(state.at), end = overviewX(states[i + 1]?.at ?? T.end);
      c.fillStyle = stateColour(state.state);
      c.fillRect(x, 4 + number * row, Math.max(0.6, end - x), Math.max(1.5, row - 1.5));
    });
    for (const one of T.frozenOf[number]) {
      c.fillStyle = C.frozen;
      c.fillRect(overviewX(one.from), 4 + number * row, Math.max(1, overviewX(one.until ?? T.end) - overviewX(one.from)), Math.max(1.5, row - 1.5));
    }
  });
  for (const [at, colour] of [[T.calm, C.fine], [T.violation && T.violation.at, C.alarm]]) {
    if (at === null) continue;
    c.fillStyle = colour;
    c.fillRect(overviewX(at) - 1, 0, 2, height);
  }
  c.fillStyle = C.quiet;
  c.font = `10.5px ${FONT}`;
  c.textBaseline = 'middle';
  c.fillText('whole run', 8, height / 2 - 6);
  c.fillText((T.end / 1e9).toFixed(2) + ' s', 8, height / 2 + 8);
  return image;
}
