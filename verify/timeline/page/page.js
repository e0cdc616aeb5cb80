'use strict';
// User input: keys, wheel, pointer, panels, the address after '#'.

const $ = id => document.getElementById(id);
const root = document.documentElement;

function make(tag, more = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(more)) {
    if (name === 'class') element.className = value;
    else if (name === 'on') element.addEventListener('click', value);
    else element.setAttribute(name, value);
  }
  element.append(...children);  // strings become text, never markup
  return element;
}

let wanted = false;
function refresh() {
  if (wanted) return;
  wanted = true;
  requestAnimationFrame(() => {
    wanted = false;
    paint();
    publish();
  });
}

// For programs that drive the page from outside: what it shows, as attributes.
function publish() {
  root.dataset.lanes = T.lanes.length;
  root.dataset.drawnLanes = scene.lanes.length;
  root.dataset.from = Math.round(view.from);
  root.dataset.until = Math.round(view.until);
  root.dataset.selected = selected.key;
  root.dataset.steps = selected.chain ? selected.chain.steps.length : 0;
  root.dataset.litMessages = selected.chain ? selected.chain.messages.size : 0;
  const v = T.violation, o = v && T.operationById.get(v.operation);
  const box = o && operationBox(o);
  root.dataset.violated = v ? v.id : '';
  root.dataset.momentInView = String(Boolean(v && v.at >= view.from && v.at <= view.until));
  root.dataset.operationInView = String(Boolean(box && box.x + box.width > GUTTER && box.x < scene.width && box.y < scene.height));
  if (!$('events').hidden) laterEvents();
}

// ---- selection

function select(found, options = {}) {
  selected.chain = chainOf(found);
  selected.key = selected.chain ? keyOf(found) : '';
  showCauses();
  if (selected.chain) {
    openTab('causes');
    $('said').textContent = `${selected.chain.title}: ${selected.chain.steps.length} steps`;
    if (options.reveal) revealChain();
  }
  keepAddress();
  refresh();
}
function revealChain() {
  const times = selected.chain.steps.map(step => step.at);
  const from = Math.min(...times), until = Math.max(...times);
  if (from < view.from || until > view.until || until - from < (view.until - view.from) / 12) revealSpan(from, until);
}

function showCauses() {
  const panel = $('causes');
  panel.replaceChildren();
  const chain = selected.chain;
  if (!chain) {
    panel.append(make('p', {}, 'Click a call, a message, a hold, a fault or a step of the log to see its causes and its effects.'));
    const story = T.notes.filter(note => note.weight === Weight.Story).map(note => [note.at, note.text, { type: 'note', item: note }]);
    if (story.length) listRows(panel, story, 'The story:', 300);
    return;
  }
  panel.append(make('h2', {}, chain.title), make('p', {}, chain.about));
  const list = make('ol', { class: 'steps' });
  const first = chain.steps[0]?.at ?? 0;
  chain.steps.forEach((step, i) => list.append(make('li', {}, stepButton(step, i, first))));
  panel.append(list);
  const o = chain.operation;
  if (o?.wholeToken && o.wholeToken !== '0' && T.tokenMark) panel.append(make('p', {}, `Token ${tokenText(o.token)} in full: ${o.wholeToken}`));
}
function stepButton(step, i, first) {
  const number = make('span', { class: 'number' + (step.lost ? ' lost' : step.plain ? ' plain' : '') }, String(i + 1));
  const when = make('span', { class: 'when' }, `${timeText(step.at)}  (+${spanText(step.at - first)})`);
  const words = make('span', {}, when, make('br'), make('span', { class: 'text' }, step.text));
  const button = make('button', { on: () => goTo(step) }, number, words);
  return button;
}
function goTo(step) {
  reveal(step.at);
  play.at = step.at;
  const other = step.operation && step.operation.id !== selected.chain?.operation?.id ? step.operation : null;
  if (other && selected.chain.operation) return select({ type: 'operation', item: other });
  refresh();
}

// ---- what is in view, as a list

let eventsTimer = 0;
function laterEvents() {
  clearTimeout(eventsTimer);
  eventsTimer = setTimeout(showEvents, 120);
}
function showEvents() {
  const rows = [];
  const within = at => at >= view.from && at <= view.until;
  T.states.forEach(s => within(s.at) && rows.push([s.at, `${lane(s.lane)}: ${STATE_NAMES[s.state]}${s.term ? ', term ' + s.term : ''}`, null]));
  T.frozen.forEach(f => within(f.from) && rows.push([f.from, `${lane(f.lane)} is frozen (${f.how})`, null]));
  T.faults.forEach(f => within(f.from) && rows.push([f.from, `fault ${f.ordinal}: ${faultText(f)}`, { type: 'fault', item: f }]));
  T.notes.forEach(n => within(n.at) && rows.push([n.at, (n.lane === null ? '' : lane(n.lane) + ' ') + n.text, { type: 'note', item: n }]));
  T.grants.forEach(g => within(g.granted) && rows.push([g.granted, `${g.lock} to ${lane(g.lane)}, token ${tokenText(g.token)}`, { type: 'grant', item: g }]));
  T.operations.forEach(o => within(o.called) && rows.push([o.called, `${lane(o.lane)} calls ${operationText(o)}`, { type: 'operation', item: o }]));
  if (T.violation && within(T.violation.at)) rows.push([T.violation.at, `${T.violation.id} is violated`, null]);
  rows.sort((a, b) => a[0] - b[0]);
  listRows($('events'), rows, `${rows.length} events`, 300);
}
function listRows(panel, rows, title, most) {
  panel.replaceChildren(make('p', {}, rows.length > most ? `${title}; the first ${most} of them. Zoom in for the others.` : title));
  const list = make('ol', { class: 'steps' });
  for (const [at, words, found] of rows.slice(0, most)) {
    const go = () => { reveal(at); play.at = at; found && found.item.weight !== Weight.Story ? select(found) : refresh(); };
    const line = make('span', {}, make('span', { class: 'when' }, timeText(at)), make('br'), make('span', { class: 'text' }, words));
    list.append(make('li', {}, make('button', { on: go }, make('span'), line)));
  }
  panel.append(list);
}

function showRun() {
  const facts = make('dl');
  for (const [name, value] of T.facts) facts.append(make('dt', {}, name), make('dd', {}, value));
  $('run').append(make('h2', {}, T.title), facts);
  if (T.dropped.length === 0) $('run').append(make('p', {}, 'Everything that happened is on this page.'));
  for (const [what, count] of T.dropped) {
    $('run').append(make('p', { class: 'warning' }, `The oldest ${count} ${what} were dropped to keep the page small.`));
  }
}

function openTab(name) {
  for (const one of ['causes', 'events', 'run']) {
    $(one).hidden = one !== name;
    $('tab-' + one).setAttribute('aria-selected', String(one === name));
  }
  if (name === 'events') showEvents();
}

// ---- searching

function find(words) {
  const sought = words.trim().toLowerCase();
  if (!sought) return;
  const number = Number(sought.replace(/^(token|index|entry|operation)\s*\+?/, ''));
  const rows = [];
  if (sought.startsWith('token')) T.grants.forEach(g => g.token === number && rows.push([g.granted, `${g.lock}, token ${tokenText(g.token)}`, { type: 'grant', item: g }]));
  else if (/^(index|entry)/.test(sought)) (T.entriesAt.get(number) || []).forEach(e => rows.push([e.at, `entry ${e.index}: ${e.text}`, { type: 'entry', item: e }]));
  else {
    T.operations.forEach(o => operationText(o).toLowerCase().includes(sought) && rows.push([o.called, operationText(o), { type: 'operation', item: o }]));
    T.faults.forEach(f => faultText(f).includes(sought) && rows.push([f.from, `fault ${f.ordinal}: ${faultText(f)}`, { type: 'fault', item: f }]));
    T.notes.forEach(n => n.text.toLowerCase().includes(sought) && rows.push([n.at, n.text, { type: 'note', item: n }]));
  }
  rows.sort((a, b) => a[0] - b[0]);
  openTab('events');
  listRows($('events'), rows, `${rows.length} found for "${words.trim()}"`, 300);
  if (rows.length === 1) { select(rows[0][2], { reveal: true }); }
}

// ---- the tip

function tipOf(found, x) {
  const item = found.item;
  switch (found.type) {
    case 'operation': return [operationText(item), `${timeText(item.called)}, ${lane(item.lane)}, operation ${item.id}\n` +
      (item.ended === null ? 'no answer' : `${item.outcome} after ${spanText(item.ended - item.called)}`) + (item.decided ? `, index ${item.decided}` : '')];
    case 'message': return [messageText(item), `${timeText(item.sent)}, ${deliveryText(item)}`];
    case 'grant': return [`${item.lock}: token ${tokenText(item.token)}, ${lane(item.lane)}`, `granted ${timeText(item.granted)} by entry ${item.index}\n` +
      (item.ended === null ? 'not over' : `over ${timeText(item.ended)}: ${item.end}`) +
      (item.trustedFrom === null ? '\nits holder never trusted it' : `\nits holder trusts it from ${timeText(item.trustedFrom)} until ${item.trustedUntil === null ? 'the end' : timeText(item.trustedUntil)}`) +
      (T.tokenMark ? `\nin full: ${item.wholeToken}` : '')];
    case 'fault': return [`fault ${item.ordinal}: ${item.kind.replaceAll('_', ' ')}`, `${timeText(item.from)}\n${faultText(item)}`];
    case 'note': return [item.lane === null ? '' : lane(item.lane), `${timeText(item.at)}\n${item.text}`];
    case 'entry': return [`entry ${item.index}, term ${item.term}`, `${item.text}\nappended ${timeText(item.at)} by ${lane(item.lane)}`];
    default: {
      const state = standsAt(item, found.at), progress = progressAt(item, found.at), frozen = frozenAt(item, found.at);
      return [`${lane(item)}: ${STATE_NAMES[state.state]}${state.term ? ', term ' + state.term : ''}${frozen ? ', frozen (' + frozen.how + ')' : ''}`,
        `${timeText(found.at)}` + (progress ? `\nappended ${progress.appended}, on disk ${progress.durable}\ncommitted ${progress.committed}, applied ${progress.applied}` : '')];
    }
  }
}
function showTip(found, clientX, clientY) {
  const tip = $('tip');
  tip.hidden = !found;
  if (!found) return;
  const [head, body] = tipOf(found);
  tip.replaceChildren(make('b', {}, head), body);
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(clientX + 14, innerWidth - box.width - 6)) + 'px';
  tip.style.top = (clientY + 18 + box.height > innerHeight ? clientY - box.height - 10 : clientY + 18) + 'px';
}

// ---- pointer and wheel

const drag = { x: null, moved: false, overview: false };
function place(event) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}
canvas.addEventListener('pointerdown', event => { drag.x = event.clientX; drag.moved = false; });
addEventListener('pointermove', event => {
  if (drag.overview) return lookAround(event);
  if (drag.x !== null) {
    const dx = event.clientX - drag.x;
    if (!drag.moved && Math.abs(dx) < 4) return;
    drag.moved = true;
    canvas.classList.add('dragging');
    drag.x = event.clientX;
    look(view.from - dx * perPixel(), view.until - dx * perPixel());
    showTip(null);
    return refresh();
  }
  if (event.target !== canvas) return showTip(null);
  const { x, y } = place(event);
  showTip(under(x, y), event.clientX, event.clientY);
});
addEventListener('pointerup', () => {
  drag.x = null;
  drag.overview = false;
  canvas.classList.remove('dragging');
});
canvas.addEventListener('click', event => {
  if (drag.moved) { drag.moved = false; return; }
  const { x, y } = place(event);
  if (y < AXIS && x > GUTTER) { play.at = timeOf(x); return refresh(); }
  select(under(x, y));
});
canvas.addEventListener('dblclick', event => { zoom(1 / 4, timeOf(place(event).x)); refresh(); });
canvas.addEventListener('wheel', event => {
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 900);
  else if (place(event).x < GUTTER) return;  // the lanes scroll
  else zoom(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) / 350), timeOf(place(event).x));
  event.preventDefault();
  refresh();
}, { passive: false });
function lookAround(event) {
  const at = overviewTime(event.clientX - overview.getBoundingClientRect().left), half = (view.until - view.from) / 2;
  look(at - half, at + half);
  refresh();
}
overview.addEventListener('pointerdown', event => { drag.overview = true; lookAround(event); });

// ---- keys

const KEYS = [['← →', 'move'], ['+ −', 'zoom'], ['0', 'whole run'], ['v', 'to the violation'], ['n p', 'next, previous call'],
  ['space', 'play, pause'], ['m', 'all messages, none'], ['/', 'find'], ['t', 'light, dark'], ['Esc', 'select nothing'],
  ['wheel', 'zoom at the pointer'], ['shift wheel, drag', 'move'], ['double click', 'zoom in']];
function onKey(event) {
  if (event.target.tagName === 'INPUT' || event.target.tagName === 'SELECT' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.tagName === 'BUTTON' && (event.key === ' ' || event.key === 'Enter')) return;
  const middle = play.at !== null && play.at > view.from && play.at < view.until ? play.at : (view.from + view.until) / 2;
  const actions = { ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), PageUp: () => pan(-0.9), PageDown: () => pan(0.9), '+': () => zoom(1 / 1.5, middle),
    '=': () => zoom(1 / 1.5, middle), '-': () => zoom(1.5, middle), 0: () => look(0, T.span), v: toViolation, n: () => neighbour(1), p: () => neighbour(-1),
    ' ': togglePlay, m: allTopics, '/': () => $('find').focus(), t: toggleTheme, Escape: () => { $('keys').hidden = true; play.at = null; select(null); }, '?': toggleKeys };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
  refresh();
}
addEventListener('keydown', onKey);

function neighbour(way) {
  if (!T.operations.length) return;
  const present = selected.chain?.operation;
  const i = present ? T.operations.indexOf(present) + way : lastAt(T.operations, (view.from + view.until) / 2, o => o.called) + (way > 0 ? 1 : 0);
  const next = T.operations[Math.max(0, Math.min(T.operations.length - 1, i))];
  reveal(next.called);
  select({ type: 'operation', item: next });
}
function toggleKeys() {
  $('keys').hidden = !$('keys').hidden;
  $('help').setAttribute('aria-expanded', String(!$('keys').hidden));
}
function toggleTheme() {
  root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
  readColours();
  showLegend();
  showTopics();
  refresh();
}
function allTopics() {
  const all = shown.size === TOPICS.length;
  TOPICS.forEach(topic => all ? shown.delete(topic) : shown.add(topic));
  showTopics();
}

// ---- playing

const SPEEDS = [0.0001, 0.001, 0.01, 0.1, 1, 10];
function togglePlay() {
  play.on = !play.on;
  $('play').textContent = play.on ? '❚❚ pause' : '▶ play';
  $('play').setAttribute('aria-pressed', String(play.on));
  if (!play.on) return;
  if (play.at === null || play.at < view.from || play.at >= Math.min(view.until, T.end)) play.at = Math.max(0, view.from);
  play.last = performance.now();
  requestAnimationFrame(advance);
}
function advance(time) {
  if (!play.on) return;
  play.at += Math.max(0, time - play.last) * 1e6 * Number($('speed').value);
  play.last = time;
  if (play.at >= T.end) { play.at = T.end; togglePlay(); }
  const span = view.until - view.from;
  if (play.at > view.until - span * 0.25) look(play.at - span * 0.75, play.at + span * 0.25);
  markStep();
  refresh();
  requestAnimationFrame(advance);
}
function markStep() {
  if (!selected.chain) return;
  const last = lastAt(selected.chain.steps, play.at);
  document.querySelectorAll('#causes ol.steps button').forEach((button, i) => button.classList.toggle('now', i === last));
}

// ---- the opening view

function toViolation() {
  const v = T.violation;
  if (!v) return T.calm !== null ? look(T.calm - 2e9, T.calm + 1e9) : look(0, T.span);
  const operation = T.operationById.get(v.operation), grant = T.grantByToken.get(v.token), entry = v.index ? entryOf(v.index) : null;
  const start = operation ? operation.called : grant ? grant.granted : entry ? entry.at : v.at - 5e8;
  // A long life would make its end invisible; the list of causes leads to its beginning.
  const from = Math.max(Math.min(start, v.at - 5e7), v.at - 4e9);
  look(from - (v.at - from) * 0.12, v.at + (v.at - from) * 0.12);
  const found = operation ? { type: 'operation', item: operation } : grant ? { type: 'grant', item: grant } : entry ? { type: 'entry', item: entry } : null;
  if (found) select(found); else refresh();
}

// "#at=FROM-UNTIL" in nanoseconds, "#select=operation:12", "#theme=dark"; "#press=operation:12" clicks where that is drawn.
function keepAddress() {
  if (selected.key) history.replaceState(null, '', '#select=' + selected.key);
}
function readAddress(address) {
  const parts = new URLSearchParams(address.slice(1));
  if (parts.has('theme')) { root.dataset.theme = parts.get('theme') === 'dark' ? 'dark' : 'light'; readColours(); showLegend(); showTopics(); }
  const window = /^(\d+)-(\d+)$/.exec(parts.get('at') || '');
  if (window) look(Number(window[1]), Number(window[2]));
  if (parts.has('select')) select(foundByKey(parts.get('select')), { reveal: !window });
  if (parts.has('tab')) openTab(['causes', 'events', 'run'].includes(parts.get('tab')) ? parts.get('tab') : 'causes');
  if (parts.has('press')) press(parts.get('press'));
}
function press(key) {
  const found = foundByKey(key);
  if (!found) return;
  select(null);
  const { item } = found, from = item.called ?? item.sent ?? item.granted ?? item.from ?? item.at;
  if (from < view.from || from > view.until) revealSpan(from, Math.min(endOf({ ...item, from }), from + 1e9));
  paint();
  const line = found.type === 'message' && messageLine(found.item);
  const box = found.type === 'operation' ? operationBox(found.item) : found.type === 'grant' ? trustBox(found.item) || grantBox(found.item) :
    found.type === 'fault' ? faultBox(found.item) : line ? { x: (line.x1 + line.x2) / 2, y: (line.y1 + line.y2) / 2, width: 0, height: 0 } : null;
  if (!box) return;
  const place = canvas.getBoundingClientRect();
  const x = (Math.max(box.x, GUTTER) + Math.min(box.x + box.width, scene.width)) / 2, y = box.y + box.height / 2;
  canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: place.left + x, clientY: place.top + y }));
}

// ---- furniture

function showTopics() {
  const used = new Set(T.messages.map(m => T.kinds[m.kind].topic));
  $('topics').replaceChildren(...TOPICS.filter((_, i) => used.has(i)).map(topic => {
    const button = make('button', { 'aria-pressed': String(shown.has(topic)), style: `--of: var(--${topic})`, title: `show or hide: ${topic}` }, topic);
    button.addEventListener('click', () => { shown.has(topic) ? shown.delete(topic) : shown.add(topic); showTopics(); refresh(); });
    return button;
  }));
}
function sample(draw) {
  const box = make('canvas', { width: 52, height: 22 });
  const c = box.getContext('2d');
  c.scale(2, 2);
  draw(c);
  return box;
}
function showLegend() {
  const block = colour => sample(c => { c.fillStyle = colour; c.fillRect(0, 0, 26, 11); });
  const items = [];
  const add = (draw, words) => items.push(make('span', {}, draw, words));
  add(block(C.leader), 'leader');
  if (T.states.some(s => s.state === State.Candidate)) add(block(C.candidate), 'candidate');
  if (T.states.some(s => s.state === State.PreCandidate)) add(block(C.precandidate), 'pre-candidate');
  add(block(C.follower), 'follower');
  add(sample(c => { stripes(c, { x: 0, y: 0, width: 26, height: 11 }, C.down, 5, 2.4); c.strokeStyle = C.down; c.strokeRect(0.5, 0.5, 25, 10); }), 'down');
  if (T.frozen.length) add(sample(c => { c.globalAlpha = 0.4; c.fillStyle = C.frozen; c.fillRect(0, 0, 26, 11); c.globalAlpha = 1; stripes(c, { x: 0, y: 0, width: 26, height: 11 }, C.frozen, 8, 1.6); }), 'frozen');
  if (T.faults.length) add(sample(c => { c.fillStyle = C['fault-fill']; c.fillRect(0, 0, 26, 11); c.fillStyle = C.fault; c.fillRect(0, 0, 3, 11); }), 'fault');
  if (T.messages.length) add(sample(c => { c.strokeStyle = C.ink; c.setLineDash([3, 3]); c.beginPath(); c.moveTo(0, 2); c.lineTo(18, 7); c.stroke(); c.setLineDash([]); c.beginPath(); c.moveTo(16, 4); c.lineTo(22, 10); c.moveTo(16, 10); c.lineTo(22, 4); c.stroke(); }), 'lost');
  if (T.operations.length) add(block(C.requests), 'lock call'), add(block(C.states), 'write'), add(block(C.reads), 'read'), add(block(C.quiet), 'refused or unanswered');
  if (T.grants.length) add(sample(c => { c.globalAlpha = 0.25; c.fillStyle = hue(0); c.fillRect(0, 0, 26, 11); c.globalAlpha = 1; c.strokeStyle = hue(0); c.strokeRect(0.5, 0.5, 25, 10); c.fillStyle = hue(0); c.fillRect(4, 3, 14, 5); }), 'held by the log; inside: trusted by its holder');
  add(sample(c => { c.fillStyle = C.alarm; c.beginPath(); c.moveTo(8, 1); c.lineTo(18, 1); c.lineTo(13, 10); c.fill(); }), 'session lost, write refused');
  $('legend').replaceChildren(...items);
}

function furnish() {
  document.title = T.violation ? `${T.violation.id}: ${T.title}` : T.title;
  $('title').textContent = T.title;
  $('badge').textContent = T.violation ? `✖ ${T.violation.id}` : '✔ nothing violated';
  $('badge').classList.toggle('broken', Boolean(T.violation));
  $('what').textContent = T.violation ? `${T.violation.short} (at ${timeText(T.violation.at)})` : '';
  $('what').title = T.violation ? T.violation.what : '';
  $('command').textContent = T.command;
  $('command-line').hidden = !T.command;
  $('culprit').textContent = T.violation ? 'to the violation' : T.calm !== null ? 'to the end of the faults' : 'from the start';
  $('keys').append(make('dl', {}, ...KEYS.flatMap(([key, what]) => [make('dt', {}, key), make('dd', {}, what)])));
  for (const speed of SPEEDS) $('speed').append(make('option', { value: String(speed) }, speed >= 1 ? `${speed} s/s` : speed >= 0.001 ? `${speed * 1e3} ms/s` : `${speed * 1e6} µs/s`));
  for (const name of ['causes', 'events', 'run']) $('tab-' + name).addEventListener('click', () => openTab(name));
  const buttons = { play: togglePlay, 'zoom-in': () => zoom(1 / 2, (view.from + view.until) / 2), 'zoom-out': () => zoom(2, (view.from + view.until) / 2),
    fit: () => look(0, T.span), culprit: toViolation, theme: toggleTheme, help: toggleKeys };
  for (const [id, action] of Object.entries(buttons)) $(id).addEventListener('click', () => { action(); refresh(); });
  $('copy').addEventListener('click', () => {
    const range = document.createRange();
    range.selectNodeContents($('command'));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand('copy');  // works for a file too, where the clipboard interface does not
    $('copy').textContent = 'copied';
  });
  $('find').addEventListener('keydown', event => { if (event.key === 'Enter') find($('find').value); if (event.key === 'Escape') canvas.focus(); });
}

root.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
readColours();
furnish();
showTopics();
showLegend();
showRun();
showCauses();
paint();  // once, so that places are known
const address = location.hash;  // as it was opened; what is selected changes it
toViolation();
readAddress(address);
$('speed').value = String(SPEEDS.find(speed => speed * 1e9 * 20 >= view.until - view.from) ?? 10);
addEventListener('resize', refresh);
addEventListener('hashchange', () => { readAddress(location.hash); refresh(); });
paint();
publish();
