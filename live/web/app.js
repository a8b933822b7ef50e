// The page of package live. It knows two things of the server: history.json, the last
// 15 minutes, and events, a frame each second; frame.go says what is in them. Everything
// that the server sends is text to show (textContent), never markup.
//
//   1 numbers in words     4 drawing              7 the what-if curve
//   2 history              5 parts and cards      8 bars, map and lists
//   3 connection           6 the flow             9 the page

// ---- 1 numbers in words -------------------------------------------------------------------

const SPACE = '\u00a0'; // between a number and its unit, where no line may break
const NONE = '–';
const SECOND = 1e9, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR; // in ns

const formats = [0, 1, 2].map(n => new Intl.NumberFormat('en', { maximumFractionDigits: n }));
const steady = [0, 1, 2].map(n => new Intl.NumberFormat('en', { maximumFractionDigits: n, minimumFractionDigits: n }));
const isNumber = Number.isFinite;
const sum = list => list.reduce((a, b) => a + b, 0);

/** digits writes x with three significant digits; by steady formats with zeros behind the point,
 * so that a figure that changes each second keeps its width. */
function digits(x, by = formats) {
  const size = Math.abs(x);
  return by[size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2].format(x);
}

/** scaled writes x in the largest of units that leaves at least 1. */
function scaled(x, base, units, by) {
  let i = 0;
  while (Math.abs(x) >= base * 0.9995 && i < units.length - 1) { x /= base; i++; }
  return digits(x, by) + units[i];
}

/** number: 0, 0.42, 8.1, 4,567, 12.3k, 4.5M. */
function number(x, by) {
  if (!isNumber(x)) return NONE;
  if (x > 0 && x < 0.005) return '<' + SPACE + '0.01';
  return Math.abs(x) < 9999.5 ? digits(x, by) : scaled(x, 1000, ['', 'k', 'M', 'G', 'T'], by);
}

const rate = x => isNumber(x) ? number(x, steady) + '/s' : NONE;
const times = x => isNumber(x) ? digits(x) + SPACE + '×' : NONE;

function bytes(x) {
  return isNumber(x) ? scaled(x, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'].map(u => SPACE + u)) : NONE;
}

const bytesPerSecond = x => isNumber(x) ? bytes(x) + '/s' : NONE;

/** duration writes nanoseconds: 180 ns, 1.2 µs, 14 min, 5.2 h. */
function duration(ns) {
  if (!isNumber(ns)) return NONE;
  const size = Math.abs(ns);
  if (size < 120 * SECOND) return scaled(ns, 1000, ['ns', 'µs', 'ms', 's'].map(u => SPACE + u));
  const [unit, name] = size < 2 * HOUR ? [MINUTE, 'min'] : size < 2 * DAY ? [HOUR, 'h'] : [DAY, 'd'];
  return formats[ns / unit < 9.95 ? 1 : 0].format(ns / unit) + SPACE + name;
}

/** percent never rounds up to 100 %, nor down to 0 %. */
function percent(share) {
  if (!isNumber(share)) return NONE;
  if (share > 0.9995 && share < 1) return steady[2].format(Math.floor(share * 1e4) / 100) + SPACE + '%';
  if (share > 0 && share < 0.0005) return '<' + SPACE + '0.1' + SPACE + '%';
  return (share === 0 || share === 1 ? formats : steady)[1].format(share * 100) + SPACE + '%';
}

/** factor writes a size's multiple: ¼×, ½×, 1×, 8×. */
const factor = f => ({ 0.25: '¼', 0.5: '½' }[f] ?? digits(f)) + '×';

const clocks = [{ hour: '2-digit', minute: '2-digit' }, { hour: '2-digit', minute: '2-digit', second: '2-digit' }]
  .map(o => new Intl.DateTimeFormat('en', { ...o, hourCycle: 'h23' }));
const clock = (ms, seconds = true) => clocks[+seconds].format(ms);

// ---- 2 history ----------------------------------------------------------------------------

const LENGTH = 900; // samples, one a second

/** increasing makes times increase: where the server's clock was set back, those before move with it. */
function increasing(time) {
  const list = [...time];
  for (let i = list.length - 2, back = 0; i >= 0; i--) {
    list[i] -= back;
    if (list[i] >= list[i + 1]) {
      back += list[i] - list[i + 1] + 1000;
      list[i] = list[i + 1] - 1000;
    }
  }
  return list;
}

/** History holds the series of all caches and of the process, as long as their times. */
class History {
  constructor(json, old) {
    this.run = json.run;
    this.time = increasing(json.time ?? []);
    this.process = { ...json.process };
    this.caches = (json.caches ?? []).map(series => ({ ...series }));
    this.marks = [];
    this.#take(json.last);
    if (this.time.length === 0) this.#append(json.last);
    if (old && old.run !== this.run && old.names === this.names) this.#precede(old);
  }

  /** allMarks are moments at which the cache that is shown became another one: { time, what }. */
  get allMarks() { return [...this.marks, ...this.last.caches[this.shown]?.marks ?? []]; }

  get names() { return JSON.stringify(this.last.caches.map(c => c.name)); }

  /** precede puts in front what was before the server's restart: it has forgotten that, the page has not. */
  #precede(old) {
    const before = old.time.length, own = this.time.length;
    const join = (series, earlier) => {
      for (const name of new Set([...Object.keys(earlier), ...Object.keys(series)])) {
        const gaps = n => new Array(n).fill(null);
        series[name] = [...earlier[name] ?? gaps(before), ...series[name] ?? gaps(own)].slice(-LENGTH);
      }
    };
    if (old.shown === this.shown) this.marks = [...old.allMarks, { time: this.time[0], what: 'restart' }].slice(-LENGTH);
    join(this.process, old.process);
    this.caches.forEach((series, i) => join(series, old.caches[i]));
    this.time = increasing([...old.time, ...this.time]).slice(-LENGTH);
  }

  /** follows tells whether a frame is the next one: otherwise the history has to be fetched. */
  follows(frame) {
    return frame.run === this.run && frame.seq === this.seq + 1 && frame.shown === this.shown && frame.caches.length === this.caches.length;
  }

  push(frame) { this.#take(frame); this.#append(frame); }

  #take(frame) {
    this.seq = frame.seq;
    this.last = frame;
    this.shown = frame.shown;
    frame.caches.forEach((_, i) => { this.caches[i] ??= {}; });
    this.curve = frame.caches[frame.shown]?.curve ?? this.curve; // it comes anew every few seconds
  }

  #append(frame) {
    this.time.push(Date.parse(frame.time));
    if (this.time.at(-1) <= this.time.at(-2)) this.time = increasing(this.time);
    this.#extend(this.process, frame.process);
    frame.caches.forEach((cache, i) => this.#extend(this.caches[i], cache.now ?? {}));
    if (this.time.length > LENGTH) this.time.shift();
  }

  /** extend appends a sample; a series that is new, or has no figure now, gets a gap. */
  #extend(series, now) {
    for (const name in now) series[name] ??= new Array(this.time.length - 1).fill(null);
    for (const name in series) {
      series[name].push(now[name] ?? null);
      if (series[name].length > LENGTH) series[name].shift();
    }
  }
}

/** buckets cuts times into steps that begin at multiples of step, so that they stay the same
 * while time goes on. Each has its samples' indices [a, b), which may be none. */
function buckets(time, from, to, step) {
  const list = [];
  let i = 0;
  for (let t = Math.floor(from / step) * step; t <= to; t += step) {
    while (i < time.length && time[i] < t) i++;
    const a = i;
    while (i < time.length && time[i] < t + step) i++;
    list.push({ time: t + step / 2, a, b: i });
  }
  return list;
}

// Of a series in a bucket: undefined if there is no figure.

function total(series, name, a, b) {
  let sum = 0, n = 0;
  for (let i = a; i < b; i++) if (isNumber(series[name]?.[i])) { sum += series[name][i]; n++; }
  return n ? { sum, n } : undefined;
}

const mean = (name, scale = 1) => (series, a, b) => {
  const t = total(series, name, a, b);
  return t && t.sum / t.n * scale;
};

/** ratio of two series; over is how many samples at least are taken together, each of 5 s. */
const ratio = (above, below, over = 1) => (series, a, b) => {
  const from = Math.max(0, Math.min(a, b - over));
  const [x, y] = [total(series, above, from, b), total(series, below, from, b)];
  return x && y && y.sum > 0 ? x.sum / y.sum : undefined;
};

/** typical is the mean of a quantile over the seconds that have one, worst the highest. */
const typical = (name, scale = 1) => (series, a, b) => {
  const list = (series[name] ?? []).slice(a, b).filter(x => x > 0);
  return list.length ? sum(list) / list.length * scale : undefined;
};

const worst = (name, scale = 1) => (series, a, b) => {
  const list = (series[name] ?? []).slice(a, b).filter(x => x > 0);
  return list.length ? Math.max(...list) * scale : undefined;
};

/** highest is worst where 0 is a figure: no pause in a second is a good one. */
const highest = (name, scale = 1) => (series, a, b) => {
  const list = (series[name] ?? []).slice(a, b).filter(isNumber);
  return list.length ? Math.max(...list) * scale : undefined;
};

const ever = (series, name) => (series[name] ?? []).some(x => x > 0);

// ---- 3 connection -------------------------------------------------------------------------

const SILENCE = 4000; // ms without a frame after which the page says so

/** Connection keeps a History up to date: it fetches it, follows the events, and fetches it
 * again after a gap or a restart of the server. While the page is hidden it rests. Both are those of a cache. */
class Connection {
  constructor(cache, changed) {
    this.changed = changed;
    this.cache = cache;
    this.state = 'connecting';
    this.tries = 0;
    document.addEventListener('visibilitychange', () => document.hidden ? this.rest() : this.start());
    addEventListener('pagehide', () => this.rest());
    addEventListener('pageshow', e => e.persisted && this.start());
    setInterval(() => this.#watch(), 1000);
  }

  /** choose follows another cache. */
  choose(cache) {
    if (cache === this.cache) return;
    this.cache = cache;
    this.rest();
    this.start();
  }

  get #query() { return '?cache=' + encodeURIComponent(this.cache); }

  start() {
    if (this.events || document.hidden) return;
    this.#fetch();
    this.#listen();
  }

  rest() {
    clearTimeout(this.again);
    this.events?.close();
    this.events = undefined;
  }

  #listen() {
    this.heard ??= performance.now();
    this.begun = performance.now();
    this.events = new EventSource('events' + this.#query);
    this.events.addEventListener('frame', e => this.#hear(e));
    this.events.addEventListener('error', () => {
      this.#tell('reconnecting');
      if (this.events?.readyState === EventSource.CLOSED) this.#retry(); // the browser has given up: an HTTP error
    });
  }

  #retry() {
    this.rest();
    const wait = Math.min(1000 * 2 ** this.tries++, 10000) * (0.75 + Math.random() / 2);
    this.again = setTimeout(() => this.start(), wait);
  }

  #watch() {
    const silence = performance.now() - Math.max(this.heard ?? 0, this.begun ?? 0);
    if (this.state === 'reconnecting') this.changed(false); // the figures grow old
    if (!this.events || silence < SILENCE || this.closed) return; // of closed caches there is no news
    this.#tell('reconnecting');
    if (silence > 4 * SILENCE) this.#retry();
  }

  #hear(event) {
    let frame;
    try { frame = JSON.parse(event.data); } catch { return; }
    this.heard = performance.now();
    this.tries = 0;
    if (this.history && frame.run !== this.history.run) this.restarted = performance.now();
    if (!this.history || this.fetching) return void this.#fetch(frame);
    if (frame.run === this.history.run && frame.seq <= this.history.seq) return this.#tell(this.#live());
    if (!this.history.follows(frame)) return void this.#fetch(frame);
    this.history.push(frame);
    this.#tell(this.#live(), true);
  }

  get closed() { const caches = this.history?.last.caches ?? []; return caches.length > 0 && caches.every(c => c.closed); }

  #live() { return performance.now() - this.restarted < 12000 ? 'restarted' : 'live'; }

  /** fetch gets the history; frames that come meanwhile wait for it. */
  async #fetch(frame) {
    if (frame) (this.waiting ??= []).push(frame);
    if (this.fetching) return;
    this.fetching = true;
    const query = this.#query;
    try {
      const answer = await fetch('history.json' + query, { cache: 'no-store' });
      if (!answer.ok) throw new Error(`history.json: ${answer.status}`);
      this.history = new History(await answer.json(), this.history);
      for (const f of this.waiting ?? []) if (this.history.follows(f)) this.history.push(f);
      this.#tell(this.#live(), true);
    } catch {
      this.#tell('reconnecting');
      if (this.events) { this.rest(); this.#retry(); }
    } finally {
      this.fetching = false;
      this.waiting = undefined;
      if (query !== this.#query) this.#fetch();
    }
  }

  #tell(state, news = false) {
    if (state === this.state && !news) return;
    this.state = state;
    this.changed(news);
  }
}

// ---- 4 drawing ----------------------------------------------------------------------------

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat(2).filter(c => c !== undefined && c !== false));
  return node;
}

const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

/** show sets an element's text, if it is another one: screen readers and layout stay quiet. */
function show(node, text) { if (node.textContent !== text) node.textContent = text; }

const at = x => Math.round(x * 10) / 10; // a tenth of a pixel is enough for a path

/** axes are the kinds of figures: how they are written, and the step between ticks that is about x. */
const axes = {
  count: { unit: 'per second', write: rate, step: decimal, tick: (v, top) => (top < 10000 ? number(v) : number(v / 1000) + 'k') + '/s' },
  times: { unit: '×', write: times, step: decimal },
  bytes: { unit: 'bytes', write: bytes, step: x => 2 ** Math.ceil(Math.log2(x)) },
  bytesPerSecond: { unit: 'bytes per second', write: bytesPerSecond, step: x => 2 ** Math.ceil(Math.log2(x)) },
  duration: { unit: 'time', write: duration, step: stepOfTime },
  percent: { unit: '%', write: percent, step: decimal, tick: v => digits(v * 100) + SPACE + '%' },
};

function decimal(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 2.5, 5, 10].find(m => m * power >= x * 0.9999) * power;
}

const timeSteps = [1, 2, 5, 10, 15, 20, 30].map(m => m * MINUTE).concat([1, 2, 3, 6, 12].map(h => h * HOUR));
function stepOfTime(x) {
  if (x < 10 * SECOND) return decimal(x);
  if (x <= 30 * SECOND) return (x <= 20 * SECOND ? 20 : 30) * SECOND;
  return timeSteps.find(s => s >= x) ?? decimal(x / DAY) * DAY;
}

/** ticks of an axis from 0 that reaches max: where it ends, and their values. */
function ticks(axis, max, height) {
  if (!(max > 0)) return { top: 1, values: [0] };
  const step = axes[axis].step(max / Math.max(2, Math.floor(height / 42)));
  const n = Math.max(1, Math.ceil(max / step - 1e-6));
  return { top: n * step, values: Array.from({ length: n + 1 }, (_, i) => i * step) };
}

/** path of points, with a gap where y is not a number. One point alone is drawn as a dot. */
function path(points) {
  let d = '', pen = false;
  points.forEach(([x, y], i) => {
    if (!isNumber(y)) { pen = false; return; }
    d += `${pen ? 'L' : 'M'}${at(x)} ${at(y)}`;
    if (!pen && !isNumber(points[i + 1]?.[1])) d += 'h.01';
    pen = true;
  });
  return d;
}

/** ribbon is the area between two lines, over each stretch without a gap. half is half a bucket. */
function ribbon(xs, lower, upper, half) {
  let d = '';
  for (let i = 0; i < xs.length; i++) {
    if (!isNumber(upper[i])) continue;
    let j = i;
    while (j + 1 < xs.length && isNumber(upper[j + 1])) j++;
    const along = (ys, k) => `${at(xs[k] - (k === i && i === j ? half : 0))} ${at(ys[k])}`;
    const ahead = [], back = [];
    for (let k = i; k <= j; k++) { ahead.push(along(upper, k)); back.unshift(along(lower, k)); }
    if (i === j) { ahead.push(`${at(xs[i] + half)} ${at(upper[i])}`); back.unshift(`${at(xs[i] + half)} ${at(lower[i])}`); }
    d += `M${ahead.join('L')}L${back.join('L')}Z`;
    i = j;
  }
  return d;
}

/** Around a plot there is the same room everywhere, so that axes of cards are in line. */
const MARGIN = { left: 66, right: 10, top: 8, bottom: 22 };

function frameOf(width, height) {
  return { left: MARGIN.left, top: MARGIN.top, right: width - MARGIN.right, bottom: height - MARGIN.bottom,
    width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
}

function drawY(box, scale, axis) {
  const y = v => box.bottom - v / scale.top * box.height, write = axes[axis].tick ?? axes[axis].write;
  return scale.values.map(v => [
    svg('path', { class: v ? 'rule' : 'rule base', d: `M${box.left} ${Math.round(y(v)) + 0.5}H${box.right}` }),
    svg('text', { class: 'axis', x: box.left - 8, y: at(y(v) + 4), 'text-anchor': 'end' }, v === 0 ? '0' : write(v, scale.top)),
  ]).flat();
}

const timeTicks = [5, 10, 15, 30, 60, 120, 180, 300].map(s => s * 1000);

function drawTimes(box, from, to) {
  const x = t => box.left + (t - from) / (to - from) * box.width;
  const step = timeTicks.find(s => s / (to - from) * box.width >= 68) ?? 300000;
  const list = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    const text = clock(t, step < 60000), half = text.length * 3.2;
    if (x(t) - half < box.left - 4 || x(t) + half > box.right + MARGIN.right) continue;
    list.push(svg('path', { class: 'rule base', d: `M${Math.round(x(t)) + 0.5} ${box.bottom}v4` }),
      svg('text', { class: 'axis', x: at(x(t)), y: box.bottom + 17, 'text-anchor': 'middle' }, text));
  }
  return list;
}

/** drawMarks draws what changed, as lines across a plot. */
const drawMarks = (box, view) => view.history.allMarks.filter(m => m.time >= view.from && m.time <= view.to).map(m => {
  const x = Math.round(box.left + (m.time - view.from) / (view.to - view.from) * box.width) + 0.5;
  return svg('g', { class: 'change' }, svg('title', {}, `${clock(m.time)}: ${m.what}`), svg('path', { d: `M${x} ${box.top}V${box.bottom}m-4 0h8l-4 -6z` }));
});

/** changesAt is what changed at the cursor. */
const changesAt = view => view.history.allMarks.filter(m => Math.abs(m.time - view.cursor) < (view.to - view.from) / 150).map(m => `, ${m.what}`).join('');

const swatch = (kind, colour, dash) => svg('svg', { class: `swatch c-${colour}`, viewBox: '0 0 18 10', 'aria-hidden': 'true' },
  kind === 'area' ? svg('rect', { class: 'area', x: 2, width: 14, height: 10, rx: 2 })
    : svg('path', { class: `line d${dash ?? 0}`, d: 'M0 5H18' }));

/** legend lists names with their values: { mark, name, value, key, raw }; { rest } begins a line. */
const legend = items => items.map(i => html('li', { class: i.rest && 'break' }, i.mark, i.name,
  i.value !== undefined && [' ', html('b', { 'data-series': i.key, 'data-value': i.raw }, i.value)], ' '));

// ---- 5 parts and cards --------------------------------------------------------------------

// A view is what is to be drawn: { history, index, frame, series, has, curve, from, to, cursor, which }.
// A part is an element with update(view), and for screen readers table(view) and summary(view).
// A card is a part, or more, under a heading.

/** page is told what keys and pointers do in a part. */
const page = { cursor: undefined, pinned: undefined, redraw() {}, say() {} };

/** sizes of plots, as the browser tells them: to ask for one between two changes of the page would
 * have it laid out anew each time. */
const measured = new WeakMap();
const observer = globalThis.ResizeObserver && new ResizeObserver(entries => {
  for (const e of entries) measured.set(e.target, { width: e.contentRect.width, height: e.contentRect.height });
  page.redraw();
});

function sizeOf(area) {
  if (!measured.get(area)?.width) measured.set(area, { width: area.clientWidth, height: area.clientHeight });
  return measured.get(area);
}

/** plotArea is a focusable place for an SVG that fills it. pick(x) follows the pointer, move(by)
 * the arrow keys and returns what to say; leave forgets both. A click pins a moment, Escape frees it. */
function plotArea(title, { pick, move, leave, pin }) {
  const drawing = svg('svg', { role: 'img', 'aria-label': title });
  const follow = e => { const r = area.getBoundingClientRect(); pick(e.clientX - r.left, e.clientY - r.top, r.width); page.redraw(); };
  const area = html('div', { class: 'plot', tabindex: 0, role: 'group', 'aria-label': `${title}: arrow keys read values`,
    onpointermove: follow, onpointerdown: e => { follow(e); pin?.(true); },
    onpointerleave: () => { leave(); page.redraw(); },
    onblur: () => { leave(); page.redraw(); },
    onkeydown: e => {
      const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[e.key];
      if (e.key === 'Escape') { pin?.(false); leave(); }
      else if (by === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
      else { const say = move(by); page.redraw(); page.say(say()); e.preventDefault(); return; }
      page.redraw();
    } }, drawing);
  observer.observe(area);
  return { area, drawing };
}

/** paint replaces a drawing. Its summary follows at a slow pace. */
function paint(drawing, nodes, unit, summary, slowly) {
  drawing.replaceChildren(...nodes);
  if (unit) drawing.dataset.unit = unit;
  if (slowly || !drawing.hasAttribute('aria-description')) drawing.setAttribute('aria-description', summary());
}

const whole = height => ({ top: 1, values: height < 130 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1] });
const bucketSteps = [1, 2, 3, 5, 10, 15, 30, 60].map(s => s * 1000);
const isLive = view => view.cursor === undefined;

/** timePlot draws series over time: as lines, or as areas that are stacked.
 * options: { title, axis, stacked, series: [{ name, colour, dash, of(series, a, b), always }], full: top of the axis,
 * process: whether the series are the process's }. */
function timePlot(options) {
  let drawn; // what was drawn last: for pointers and keys
  const readout = html('ul', { class: 'legend', 'data-readout': options.title });
  const move = by => {
    const known = drawn.cells.filter(c => c.b > c.a);
    const i = known.indexOf(drawn.cells[drawn.cursor]);
    const to = known[Math.min(Math.max((i < 0 ? known.length : i) + by, 0), known.length - 1)];
    page.cursor = to?.time;
    return () => `${to ? clock(to.time) : 'no data'}: ${drawn.values.map(v => `${v.name} ${v.write(v.list[drawn.cells.indexOf(to)])}`).join(', ')}`;
  };
  const pick = (x, _, width) => {
    const box = frameOf(width, 0), share = (x - box.left) / box.width;
    page.cursor = share < 0 || share > 1 ? undefined : drawn.from + share * (drawn.to - drawn.from);
  };
  const pin = on => {
    page.pinned = on ? page.cursor : undefined;
    if (!on) page.cursor = undefined;
    choose({ at: on && page.cursor ? Math.round(page.cursor) : undefined });
  };
  const { area, drawing } = plotArea(options.title, { pick, move, leave: () => { page.cursor = page.pinned; }, pin });

  const write = axes[options.axis].write;

  function compute(view, width) {
    const series = options.process ? view.history.process : view.series;
    const step = bucketSteps.find(s => s / (view.to - view.from) * width >= 2.4) ?? 60000;
    const cells = buckets(view.history.time, view.from, view.to, step), n = view.history.time.length;
    const values = options.series
      .map(s => ({ ...s, write: s.write ?? write, now: s.of(series, n - 1, n), list: cells.map(c => c.b > c.a ? s.of(series, c.a, c.b) : undefined) }))
      .filter(s => s.always || s.list.some(x => x > 0));
    const latest = cells.findLastIndex(c => c.b > c.a);
    const cursor = isLive(view) ? -1 : cells.findIndex(c => Math.abs(c.time - view.cursor) <= step / 2 && c.b > c.a);
    return { step, cells, values, latest, cursor, from: view.from, to: view.to };
  }

  function drawSeries(box, d, scale) {
    const xs = d.cells.map(c => box.left + Math.min(Math.max((c.time - d.from) / (d.to - d.from), 0), 1) * box.width);
    const y = v => isNumber(v) ? box.bottom - Math.min(v / scale.top, 1) * box.height : undefined;
    if (!options.stacked) {
      return d.values.map(s => svg('path', { class: `line d${s.dash ?? 0} c-${s.colour}`, d: path(xs.map((x, i) => [x, y(s.list[i])])) }));
    }
    const half = d.step / (d.to - d.from) * box.width / 2;
    let below = d.cells.map(() => 0);
    return d.values.map(s => {
      if (s.apart) return svg('path', { class: `line d${s.dash} c-${s.colour}`, d: path(xs.map((x, i) => [x, y(s.list[i])])) });
      const above = below.map((v, i) => isNumber(s.list[i]) ? v + s.list[i] : undefined);
      const [low, high] = [below.map(y), above.map(y)];
      below = above.map((v, i) => v ?? below[i]);
      return [svg('path', { class: `area c-${s.colour}`, d: ribbon(xs, low, high, half) }),
        svg('path', { class: 'top-edge', d: path(xs.map((x, i) => [x, high[i]])) })];
    }).flat();
  }

  function highestOf(d) {
    const tops = options.stacked ? d.cells.map((_, i) => sum(d.values.filter(s => !s.apart).map(s => s.list[i] ?? 0))).concat(d.values.filter(s => s.apart).flatMap(s => s.list.filter(isNumber))) : d.values.map(s => s.list.filter(isNumber)).flat();
    return Math.max(0, ...tops);
  }

  function summary() {
    const told = drawn.values.map(s => {
      const list = s.list.filter(isNumber);
      if (list.length === 0) return `${s.name}: no figures`;
      return `${s.name} ${s.write(s.now)}, between ${s.write(Math.min(...list))} and ${s.write(Math.max(...list))}`;
    });
    return `${told.join('; ') || 'Nothing yet'}. From ${clock(drawn.from, false)} to ${clock(drawn.to, false)}.`;
  }

  return {
    timed: true,
    element: html('div', { class: 'part' }, readout, area),
    update(view) {
      const { width, height } = sizeOf(area);
      if (!width) return;
      const box = frameOf(width, height), d = drawn = compute(view, box.width);
      const scale = options.full ? whole(height) : ticks(options.axis, highestOf(d), box.height);
      const nodes = [...drawY(box, scale, options.axis), ...drawTimes(box, view.from, view.to), ...drawSeries(box, d, scale), ...drawMarks(box, view)];
      const empty = d.values.every(s => !s.list.some(isNumber)) ? 'no figures in this time' : !options.full && highestOf(d) === 0 ? 'none in this time' : '';
      if (empty) nodes.push(svg('text', { class: 'lit', x: at(box.left + box.width / 2), y: at(box.top + box.height / 2), 'text-anchor': 'middle' }, empty));
      if (d.cursor >= 0) {
        const x = Math.round(box.left + (d.cells[d.cursor].time - d.from) / (d.to - d.from) * box.width) + 0.5;
        nodes.push(svg('path', { class: 'cursor', d: `M${x} ${box.top}V${box.bottom}` }));
      }
      paint(drawing, nodes, axes[options.axis].unit, summary, view.slowly);
      const i = d.cursor >= 0 ? d.cursor : d.latest;
      readout.replaceChildren(...legend(d.values.map(s => ({
        mark: swatch(options.stacked && !s.apart ? 'area' : 'line', s.colour, s.dash), name: s.name, value: s.write(d.cursor >= 0 ? s.list[i] : s.now), key: s.key, raw: s.key && raw(view, s.key),
      }))),
        html('li', { class: 'unseen' }, d.cursor >= 0 ? clock(d.cells[i].time) : 'now'));
    },
    table(view) {
      const d = compute(view, 40); // some twenty rows
      return table(options.title, ['time', ...d.values.map(s => s.name)],
        d.cells.filter(c => c.b > c.a).map(c => [clock(c.time), ...d.values.map(s => s.write(s.list[d.cells.indexOf(c)]))]).reverse());
    },
  };
}

function table(title, heads, rows) {
  return html('table', {}, html('caption', {}, title),
    html('thead', {}, html('tr', {}, heads.map(h => html('th', { scope: 'col' }, h)))),
    html('tbody', {}, rows.map(([first, ...rest]) => html('tr', {}, html('th', { scope: 'row' }, first), rest.map(c => html('td', {}, c))))));
}

/** radios are a choice of one: options are [value, its text or nodes]. */
function radios(title, name, options, value, choose) {
  return html('fieldset', { class: 'choice' }, html('legend', { class: 'unseen' }, title), options.map(([v, nodes]) => html('label', {},
    html('input', { type: 'radio', name, value: v, checked: v === value, onchange: () => choose(v) }), nodes)));
}

let cardCount = 0;

/** card puts parts under a heading. options: { chart, title, titleOf(view), unit(view), parts, shown(view), wide, two, controls }. */
function card(options) {
  const heading = html('h3', { id: `heading-${++cardCount}` }, options.title);
  const unit = html('span', { class: 'unit' });
  const withTable = options.parts.filter(p => p.table), timed = options.parts.some(p => p.timed);
  const tables = html('div', { class: 'tables', tabindex: 0, role: 'region', 'aria-label': `${options.title}: table`, hidden: true });
  const body = html('div', { class: 'part' + (options.two ? ' two' : '') }, options.parts.map(p => p.element));
  const toggle = html('button', { type: 'button', 'aria-expanded': 'false', 'aria-label': `${options.title} as a table`, onclick: () => {
    tables.hidden = !tables.hidden;
    body.hidden = !tables.hidden;
    toggle.setAttribute('aria-expanded', String(!tables.hidden));
    filled = false;
    page.redraw();
  } }, 'table');
  let filled = false;
  const element = html('figure', { 'data-chart': options.chart, 'aria-labelledby': heading.id,
    class: ['card', options.chart, options.wide && 'wide'].filter(Boolean).join(' ') },
    html('div', { class: 'head' }, heading, unit, options.controls, withTable.length > 0 && toggle), body, tables);
  return {
    element,
    update(view) {
      element.hidden = !(options.shown?.(view) ?? true);
      if (element.hidden) return;
      element.classList.toggle('closed', !!view.cache.closed);
      if (options.titleOf) show(heading, options.titleOf(view));
      for (const p of options.parts) p.update(view);
      unit.replaceChildren(...[options.unit?.(view) ?? ''].flat(), timed && !isLive(view) ? `, at ${clock(view.cursor)}${changesAt(view)}` : '');
      unit.dataset.unit = unit.textContent;
      if (!tables.hidden && (!filled || view.slowly)) tables.replaceChildren(...withTable.map(p => p.table(view)));
      filled = true;
    },
  };
}

/** sentences are a part with a list of lines that tell(view) returns; a line may be [text, class]. */
function sentences(tell, attributes) {
  const list = html('ul', { class: 'say', ...attributes });
  let before;
  return { element: list, update(view) {
    const lines = tell(view), key = JSON.stringify(lines);
    if (key === before) return; // leaves a selection of the text alone
    before = key;
    list.replaceChildren(...lines.map(l => Array.isArray(l) ? html('li', { class: l[1] }, l[0]) : html('li', {}, l)));
    list.hidden = lines.length === 0;
  } };
}

// ---- 6 the flow ---------------------------------------------------------------------------

/** tiersOf lists who answers reads, in the order in which they are asked. */
function tiersOf(has) {
  return [
    { key: 'front', name: 'Front', what: 'front', hits: 'front_hits', shown: has.front },
    { key: 'ram', name: 'RAM', what: 'RAM', hits: 'ram_hits', shown: true, note: ', sampled' },
    { key: 'ssd', name: 'SSD', what: 'SSD', hits: 'ssd_hits', shown: has.ssd },
    { key: 'shared', name: 'Shared', what: 'shared tier', hits: 'shared_hits', shown: has.shared },
  ].filter(t => t.shown);
}

/** flowOf is who answers how many reads a second, at the cursor or now. */
function flowOf(view) {
  const of = name => now(view, name) ?? 0, quantiles = key => ({ p50: of(key + '_p50_ns') || undefined, p99: of(key + '_p99_ns') || undefined });
  const stations = tiersOf(view.has).map(t => ({ ...t, rate: of(t.hits), ...quantiles(t.key) }));
  const rate = of('misses');
  const end = view.has.loads ? { key: 'load', name: 'Load', hits: 'loads', rate, loads: of('loads'), ...quantiles('load') } : { key: 'miss', name: 'Miss', hits: 'misses', rate };
  return { reads: sum(stations.map(t => t.rate)) + rate, misses: rate, stations: [...stations, end] };
}

/** flowPart draws reads as a stream of layers, one for each tier that answers: at its tier a layer
 * turns off, and the rest flows on. Widths are in proportion. On a wide page the stream flows to the
 * right and layers turn down; on a narrow one it flows down and they turn right: the same figure
 * with its axes exchanged. */
function flowPart() {
  let flow, narrow;
  let picked = -1;
  const spoken = html('p', { class: 'unseen', 'data-readout': 'flow' });
  const part = s => percent(flow.reads ? s.rate / flow.reads : 0);
  const tell = s => `${s.name}: ${rate(s.loads ?? s.rate)}, ${part(s)} of reads${s.p50 ? `, p50 ${duration(s.p50)}, p99 ${duration(s.p99)}` : ''}`;
  const { area, drawing } = plotArea('How requests flow', { pick() {}, leave() { picked = -1; }, move: by => {
    picked = Math.min(Math.max(picked + by, 0), flow.stations.length - 1);
    return () => tell(flow.stations[picked]);
  } });

  /** layers gives each station its layer's edges across the stream, the first at the outer side. */
  function layers(thick) {
    const least = r => r > 0 ? 1.5 : 0;
    let v = thick;
    return flow.stations.map(s => {
      const width = flow.reads ? Math.max(least(s.rate), s.rate / flow.reads * thick) : 0;
      const layer = { ...s, a: v - width, b: v, width };
      v -= width;
      return layer;
    });
  }

  /** turn is the outline of a layer that flows from u0 to u and turns off to v = end, with an arrow. */
  function turn(l, u0, u, end, P, v0) {
    const r = 9, R = r + l.width, sweep = narrow ? 0 : 1, wing = Math.max(0, 3.5 - l.width / 3), tip = 5 + l.width / 8;
    const arc = (radius, way, to) => `A${at(radius)} ${at(radius)} 0 0 ${way} ${to}`;
    const outer = `M${P(u0, v0 + l.a)}L${P(u, v0 + l.a)}${arc(R, sweep, P(u + R, v0 + l.a + R))}L${P(u + R, end)}`;
    const arrow = `L${P(u + R + wing, end)}L${P(u + r + l.width / 2, end + tip)}L${P(u + r - wing, end)}L${P(u + r, end)}`;
    return `${outer}${arrow}L${P(u + r, v0 + l.b + r)}${arc(r, 1 - sweep, P(u, v0 + l.b))}L${P(u0, v0 + l.b)}Z`;
  }

  function label(s, x, y, colour) {
    const below = text => svg('tspan', { x, dy: 16 }, text);
    const lines = [svg('tspan', { x, dy: 0, class: 'strong', 'data-series': s.hits, 'data-value': s.raw }, rate(s.loads ?? s.rate)),
      s.key === 'load' ? below(['for ', svg('tspan', { 'data-series': 'misses', 'data-value': flow.raw.misses }, rate(s.rate)), ' misses']) : below(`${part(s)} of reads`)];
    if (s.p50) lines.push(below(`p50 ${duration(s.p50)}${s.note ?? ''}`), below(`p99 ${duration(s.p99)}${s.note ?? ''}`));
    return [svg('text', { class: 'name', x, y: y - 18 }, s.name),
      svg('rect', { class: `stratum c-${colour}`, x: x - 9, y: y - 28, width: 3, height: 12, rx: 1.5 }),
      svg('text', { x, y }, lines)];
  }

  function draw(width) {
    const n = flow.stations.length, thick = width < 620 ? 52 : width < 1500 ? 64 : 88, list = layers(thick);
    const column = 147; // what a tier and its words need, without its layer's width
    const needed = 36 + n * column + sum(list.map(l => l.width));
    narrow = width < needed;
    const spare = narrow ? 0 : (width - needed) / (n + 0.4); // the inlet takes a part of it
    const inlet = narrow ? 46 : 36 + 0.4 * spare, v0 = narrow ? 4 : 26, gap = narrow ? 4 : 8;
    let u = inlet;
    for (const l of list) { l.u = u; u += narrow ? 96 : column + l.width + spare; }
    const height = narrow ? inlet + n * 96 : v0 + thick + 94;
    const P = (u, v) => narrow ? `${at(v)} ${at(u)}` : `${at(u)} ${at(v)}`;
    const end = v0 + thick + (narrow ? 26 : 58);
    const nodes = [], texts = [];
    list.forEach((l, i) => {
      const u = l.u + gap;
      const colour = i === n - 1 ? 'miss' : l.key;
      nodes.push(svg('path', { class: `stratum c-${colour}`, d: l.width > 0 ? turn(l, 0, u, end, P, v0) : '' }));
      if (l.width === 0) nodes.push(svg('path', { class: 'unknown', d: `M${P(u + 9, v0 + thick)}L${P(u + 9, end)}` }));
      if (narrow) texts.push(...label(l, end + 24, u + 22, colour));
      else texts.push(...label(l, at(u + 9 + l.width + 20), v0 + thick + 40, colour));
      if (!narrow && i < n - 1) {
        const rest = sum(flow.stations.slice(i + 1).map(s => s.rate));
        const text = `${rate(rest)} ${i === n - 2 ? 'missed' : `to ${flow.stations[i + 1].what}`}`;
        texts.push(svg('text', { class: 'note', x: at(list[i + 1].u + gap), y: v0 - 9, 'text-anchor': 'end' }, text));
      }
    });
    const reads = svg('tspan', { class: 'strong', 'data-series': 'reads', 'data-value': flow.raw.reads }, rate(flow.reads));
    const head = narrow
      ? svg('text', { x: v0 + thick + 12, y: 18 }, reads, ' reads')
      : svg('text', { x: 0, y: v0 - 9 }, reads, ' reads');
    drawing.setAttribute('height', height);
    const bed = flow.reads === 0 && svg('path', { class: 'unknown', d: `M${P(0, v0 + thick)}L${P(list.at(-1).u + gap + 9, v0 + thick)}` });
    return [bed, ...nodes.reverse(), head, ...texts].filter(Boolean);
  }

  return {
    timed: true,
    element: html('div', { class: 'part' }, area, spoken),
    update(view) {
      flow = flowOf(view);
      flow.raw = view.cache.now ?? {};
      for (const s of flow.stations) s.raw = flow.raw[s.hits];
      const { width } = sizeOf(area);
      if (!width) return;
      paint(drawing, draw(width), 'per second', () => `${rate(flow.reads)} reads. ${flow.stations.map(tell).join('. ')}.`, view.slowly);
      area.style.height = `${drawing.getAttribute('height')}px`;
      if (picked >= 0 || view.slowly) show(spoken, tell(flow.stations[Math.max(picked, 0)]));
    },
    table: () => table('How requests flow', ['who answers', 'a second', 'share of reads', 'p50', 'p99'],
      flow.stations.map(s => [s.name, rate(s.loads ?? s.rate), part(s), duration(s.p50), duration(s.p99)])),
  };
}

// ---- 7 the what-if curve ------------------------------------------------------------------

const valid = p => p?.state === 'valid';

/** reason says why a point has no figures. */
function reason(p) {
  if (p.state === 'filling') return `${Math.floor((p.filled ?? 0) * 100)}${SPACE}% filled`;
  return p.state === 'few keys' ? 'few keys' : p.state;
}

const lost = curve => curve.load_time_ns > 0 ? 'loads' : 'misses';

/** windowOf says which reads a curve is about. */
const windowOf = sizes => sizes?.reads > 0 && [`Over the last ${number(sizes.reads)} reads, ${duration(sizes.window_ns)}.`, 'small'];

/** curvePart draws the miss ratio by size, of RAM or of RAM and SSD as one. */
function curvePart() {
  let which = 'ram', picked = -1, drawn, shown, hasBoth = false;
  const readout = html('ul', { class: 'legend', 'data-readout': 'curve' });
  const choose = value => { which = value; picked = -1; page.redraw(); };
  const choice = radios('Memory that changes', 'curve', [['ram', ['RAM']], ['both', ['RAM + SSD']]], which, choose);
  const words = p => `${bytes(p.bytes)}, ${factor(p.factor)}: `
    + (valid(p) ? `${percent(p.miss_ratio)} miss${p.error > 0 ? `, within ${percent(p.error)}` : ''}; ${rate(p.loads_per_second)} ${lost(shown)}` : reason(p));
  const { area, drawing } = plotArea('What-if curve', {
    pick: x => { if (drawn?.xs.length) picked = drawn.xs.reduce((best, at, i) => Math.abs(at - x) < Math.abs(drawn.xs[best] - x) ? i : best, 0); },
    leave: () => { picked = -1; },
    move: by => {
      const n = drawn?.points.length ?? 0;
      picked = Math.min(Math.max((picked < 0 ? drawn.present : picked) + by, 0), n - 1);
      return () => n ? words(drawn.points[picked]) : 'no curve';
    },
  });
  const advise = sentences(view => [...(sizesOf(view)?.advice ?? []), windowOf(sizesOf(view))].filter(Boolean));
  const sizesOf = view => view.curve?.[which];

  function drawPoint(p, i, x, y, box, covered) {
    if (!valid(p)) {
      const [anchor, dx] = i === 0 ? ['start', -8] : i === drawn.points.length - 1 ? ['end', 8] : ['middle', 0];
      return [svg('path', { class: 'unknown', d: `M${at(x)} ${box.top + 2}V${box.bottom}` }),
        svg('text', { class: 'note lit', y: at(box.bottom - 22), 'text-anchor': anchor },
          reason(p).split(/ (?=few|filled|keys)/).map((t, k) => svg('tspan', { x: at(x + dx), dy: k ? 13 : 0 }, t)))];
    }
    const cap = 4, [high, low] = [y(p.miss_ratio + p.error), y(Math.max(0, p.miss_ratio - p.error))].map(at);
    return [svg('path', { class: 'whisker', d: `M${at(x)} ${high}V${low}M${at(x - cap)} ${high}h${2 * cap}M${at(x - cap)} ${low}h${2 * cap}` }),
      !covered && svg('circle', { class: 'dot', cx: at(x), cy: at(y(p.miss_ratio)), r: i === picked ? 6 : 4.5 })].filter(Boolean);
  }

  function draw(sizes, width, height) {
    const box = frameOf(width, height), points = sizes.points, good = points.filter(valid);
    box.bottom -= 13; box.height -= 13; // a second line of labels
    const inner = { left: box.left + 18, width: box.width - 36 };
    const x = p => inner.left + Math.log2(p.bytes / points[0].bytes) / Math.max(1, Math.log2(points.at(-1).bytes / points[0].bytes)) * inner.width;
    const highest = Math.max(sizes.miss_ratio || 0, ...good.map(p => p.miss_ratio + p.error));
    const scale = ticks('percent', good.length ? Math.min(1, Math.max(highest, 0.001) * 1.02) : 1, box.height);
    const y = v => box.bottom - Math.min(v / scale.top, 1.02) * box.height;
    drawn = { points, xs: points.map(x), present: points.findIndex(p => p.factor === 1) };
    const nodes = drawY(box, scale, 'percent');
    const every = inner.width / points.length < 50 ? 2 : 1; // labels that have room, the present size among them
    for (const [i, p] of points.entries()) {
      nodes.push(svg('path', { class: 'rule base', d: `M${Math.round(x(p)) + 0.5} ${box.bottom}v4` }));
      if ((i - drawn.present) % every) continue;
      nodes.push(svg('text', { class: 'axis', x: at(x(p)), y: box.bottom + 17, 'text-anchor': 'middle' }, bytes(p.bytes)),
        svg('text', { class: 'axis note', x: at(x(p)), y: box.bottom + 31, 'text-anchor': 'middle' }, p.factor === 1 ? 'now' : factor(p.factor)));
    }
    const now = points[drawn.present];
    if (now) nodes.push(svg('path', { class: 'present', d: `M${Math.round(x(now)) + 0.5} ${box.top}V${box.bottom}` }));
    const [low, high] = [-1, 1].map(sign => points.map(p => valid(p) ? y(Math.max(0, p.miss_ratio + sign * p.error)) : undefined));
    nodes.push(svg('path', { class: 'band', d: ribbon(points.map(x), low, high, 0) }),
      svg('path', { class: 'line', d: path(points.map(p => [x(p), valid(p) ? y(p.miss_ratio) : undefined])) }));
    const covered = now && sizes.miss_ratio > 0 && Math.abs(y(now.miss_ratio) - y(sizes.miss_ratio)) < 6; // by the tick
    points.forEach((p, i) => nodes.push(...drawPoint(p, i, x(p), y, box, p === now && i !== picked && covered)));
    if (now && sizes.miss_ratio > 0) { // a tick, as on a list: this one is measured
      const d = `M${at(x(now) - 5)} ${at(y(sizes.miss_ratio) - 2)}l5 5 9 -12`;
      nodes.push(svg('path', { class: 'measured halo', d }), svg('path', { class: 'measured', d }));
    }
    return nodes;
  }

  const mark = (...nodes) => svg('svg', { class: `swatch c-${which === 'ram' ? 'ram' : 'ssd'}`, viewBox: '0 0 18 10', 'aria-hidden': 'true' }, nodes);

  /** check is what is read without a point being picked: whether the curve can be believed. */
  const check = (sizes, p) => [
    { mark: mark(svg('path', { class: 'whisker', d: 'M9 -2V12M6 -2h6M6 12h6' }), svg('circle', { class: 'dot', cx: 9, cy: 5, r: 4 })),
      name: 'estimate, right in 19 of 20 cases' },
    sizes.points.some(p => !valid(p)) && { mark: mark(svg('path', { class: 'unknown', d: 'M9 -2V12' })), name: 'not known yet' },
    { rest: true },
    sizes.miss_ratio > 0 && { mark: mark(svg('path', { class: 'measured', d: 'M3 4l4 5 7-9' })), name: 'measured', value: percent(sizes.miss_ratio) },
    sizes.simulated > 0 && { name: 'simulated', value: percent(sizes.simulated) },
    p?.keys > 0 && { name: 'sampled keys', value: number(p.keys) },
  ];

  const figures = p => valid(p) ? [
    { name: 'miss', value: percent(p.miss_ratio) + (p.error > 0 ? ` ± ${percent(p.error)}` : '') }, { name: 'of bytes', value: percent(p.byte_miss_ratio) },
    { name: lost(shown), value: rate(p.loads_per_second) }, p.ssd_reads_per_second > 0 && { name: 'SSD reads', value: rate(p.ssd_reads_per_second) },
    p.life_ns > 0 && { name: 'entries live', value: duration(p.life_ns) }, { name: 'sampled keys', value: number(p.keys) },
  ] : [{ name: 'not known:', value: reason(p) }];

  const cells = p => valid(p) ? [percent(p.miss_ratio), percent(p.error), percent(p.byte_miss_ratio), rate(p.loads_per_second), rate(p.ssd_reads_per_second),
    duration(p.life_ns || undefined), duration(p.saved_ns_per_hour || undefined)] : new Array(7).fill(NONE);

  function showReadout(sizes) {
    const p = drawn.points[picked < 0 ? drawn.present : picked];
    readout.replaceChildren(...(picked < 0 ? legend(check(sizes, p).filter(Boolean)) : [
      html('li', {}, html('b', {}, `${bytes(p.bytes)} (${factor(p.factor)})`)), ...legend(figures(p).filter(Boolean))]));
  }

  return {
    choice,
    unit: () => hasBoth ? (which === 'ram' ? 'reads that miss RAM, by its size' : 'reads that miss both, by their size') : 'reads that miss, by size',
    element: html('div', { class: 'part' }, readout, area, advise.element),
    update(view) {
      hasBoth = (view.curve?.both?.points?.length ?? 0) > 0;
      choice.hidden = !hasBoth;
      if (!hasBoth) which = 'ram';
      shown = view.curve ?? {};
      const curve = sizesOf(view), has = (curve?.points?.length ?? 0) > 0;
      advise.update(view);
      area.hidden = readout.hidden = !has;
      area.classList.toggle('c-ram', which === 'ram');
      area.classList.toggle('c-ssd', which === 'both');
      const { width, height } = sizeOf(area);
      if (!has || !width) return;
      paint(drawing, draw(curve, width, height), '%', () => curve.points.map(words).join('. '), view.slowly);
      showReadout(curve);
    },
    table: view => table('Miss ratio by size', ['size', 'of the present', 'state', 'sampled keys', 'miss ratio', '±', 'of bytes', 'loads', 'SSD reads', 'entries live', 'saved an hour'],
      (sizesOf(view)?.points ?? []).map(p => [bytes(p.bytes), factor(p.factor), valid(p) ? 'valid' : reason(p), number(p.keys), ...cells(p)])),
  };
}

// ---- 8 bars, map and lists ----------------------------------------------------------------

/** now is a figure of the last 5 s, or of those before the cursor. */
function now(view, name) {
  const i = isLive(view) ? -1 : view.history.time.findIndex(t => t >= view.cursor);
  return i < 0 ? view.cache.now?.[name] : view.series[name]?.[i] ?? undefined;
}

const stat = (view, name) => view.cache.stats?.[name];

/** figure is a series in words; for programs that read the page, its raw figure too. */
const figure = (view, name, write) => html('span', { 'data-series': name, 'data-value': raw(view, name) }, write(now(view, name)));
const raw = (view, name) => view.cache.now?.[name] ?? undefined;

/** bars are shares of a whole. tell(view) lists { label, note, parts: [{ colour, share, name, value }],
 * used: whether it is the one in use, series: that note tells of }. */
function bars(tell, kind = '') {
  const list = html('ul', { class: `bars ${kind}` });
  const fillTrack = parts => html('div', { class: 'track', 'aria-hidden': 'true' }, parts.map(p => {
    const part = html('i', { class: `c-${p.colour}`, title: p.name });
    part.style.width = `${Math.min(Math.max(p.share || 0, 0), 1) * 100}%`;
    return part;
  }));
  const names = parts => parts.length > 1 && html('ul', { class: 'legend' },
    legend(parts.map(p => ({ mark: swatch('area', p.colour), name: p.name, value: p.value }))));
  return { element: list, update: view => list.replaceChildren(...tell(view).map(b => html('li', { class: 'bar' + (b.used ? ' used' : '') },
    html('div', { class: 'label' }, html('span', {}, b.label, b.used && html('span', { class: 'tag' }, 'in use')),
      html('span', { 'data-series': b.series, 'data-value': b.series && raw(view, b.series) }, b.note)),
    fillTrack(b.parts), names(b.parts)))) };
}

/** memoryBars are RAM and SSD against their budgets. */
function memoryBars(view) {
  const budget = now(view, 'ram_budget_bytes') ?? 0, used = now(view, 'ram_used_bytes') ?? 0;
  const record = now(view, 'ram_record_bytes') ?? 0, index = now(view, 'ram_index_bytes') ?? 0, overhead = now(view, 'ram_overhead_bytes') ?? 0;
  const whole = Math.max(budget, used) || 1, other = Math.max(0, used - record - index - overhead);
  const part = (name, colour, size, of) => ({ name, colour, share: size / of, value: bytes(size) });
  const list = [{
    label: 'RAM', note: `${bytes(used)} of ${bytes(budget)} (${percent(used / whole)})`, series: 'ram_used_bytes',
    parts: [part('records', 'ram', record, whole), part('index', 'front', index, whole), part('bookkeeping', 'slate', overhead, whole),
      other > whole / 500 && part(view.has.ssd ? 'SSD tier’s memory, free room' : 'free room in segments', 'stone', other, whole)].filter(Boolean),
  }];
  if (view.has.ssd) list.push(ssdBar(view, part));
  return list;
}

function ssdBar(view, part) {
  const files = now(view, 'ssd_bytes') ?? 0, whole = Math.max(now(view, 'ssd_budget_bytes') ?? 0, files) || 1;
  const of = whole > files ? ` of ${bytes(whole)}` : '';
  const bar = { label: 'SSD', note: `${bytes(files)} in files${of}, ${number(now(view, 'ssd_entries'))} entries`, series: 'ssd_bytes' };
  const segments = now(view, 'ssd_segments') ?? 0;
  if (segments === 0) return { ...bar, parts: [part('in files', 'ssd', files, whole)] };
  const free = files * (now(view, 'ssd_free_segments') ?? 0) / segments, live = (files - free) * (now(view, 'ssd_live_share') ?? 0);
  return { ...bar, parts: [part('live', 'ssd', live, whole), part('dead', 'stone', Math.max(0, files - live - free), whole), part('free', 'free', free, whole)] };
}

/** planBars are the scores of the settings that the eviction policy could use. */
const planBars = view => (view.cache.policy?.settings ?? []).map((s, i) => ({
  label: s.name, note: digits(s.score * 100) + SPACE + '%', used: i === view.cache.policy.current, parts: [{ colour: 'ram', share: s.score, name: s.name }],
}));

function planWords(view) {
  const p = view.cache.policy, used = p?.settings?.[p.current];
  if (!used) return ['Not known.'];
  if (p.filling) return [`In use: ${used.name}. Nothing has been evicted yet, so there is nothing to choose.`];
  const best = p.settings.reduce((a, b) => b.score > a.score ? b : a);
  const others = p.settings.filter(s => s !== used), next = others.reduce((a, b) => b.score > a.score ? b : a, others[0]);
  if (best.score <= 0) return [`In use: ${used.name}. No miniature cache has had hits lately.`];
  if (best !== used && best.score > used.score) {
    return [`In use: ${used.name}. The miniature cache under “${best.name}” has more hits just now: the rule changes at the next choice, if it stays so.`];
  }
  const lead = !next ? '' : next.score > used.score * 0.999 ? '; the next has about as many' : `; the next has ${percent(1 - next.score / used.score)} fewer`;
  return [`In use: ${used.name}. Of miniature caches that live on a sample of the requests, its own has the most hits${lead}.`];
}

const FREE = 255, OPEN = 254, FAILING = 253;

function segmentsOf(cache) {
  let cells = [];
  try { cells = Array.from(atob(cache.segments ?? ''), c => c.charCodeAt(0)); } catch { /* not base64: no map */ }
  return { cells, each: Math.max(1, cache.segments_per_cell ?? 1) };
}

const segmentKinds = [
  ...[20, 40, 60, 80, 100].map((top, i) => ({ name: i ? `to ${top} %` : `to ${top} % live`, css: `seg${i}` })),
  { name: 'free', css: 'seg-free' }, { name: 'being written', css: 'seg-open' }, { name: 'failing', css: 'seg-failing' },
];
const kindOf = c => c === FREE ? 5 : c === OPEN ? 6 : c >= FAILING ? 7 : Math.min(4, Math.floor(c / 20));
function cellWords(c, i, each) {
  const place = each > 1 ? `segments ${i * each}–${(i + 1) * each - 1}` : `segment ${i}`;
  return `${place}: ${c <= 100 ? `${c}${SPACE}% live${each > 1 ? ', of those that are full' : ''}` : segmentKinds[kindOf(c)].name}`;
}

/** segmentMap has a square for each segment of the log, or for as many as make 1,024 squares, in
 * the order of the file. */
function segmentMap() {
  let picked = -1, map = { cells: [], each: 1 }, grid;
  const readout = html('ul', { class: 'legend', 'data-readout': 'segments' });
  const { area, drawing } = plotArea('Segments of the log', {
    pick: (x, y) => {
      const i = grid ? Math.floor(y / grid.pitch) * grid.columns + Math.floor(x / grid.pitch) : -1;
      picked = x < grid?.columns * grid?.pitch && i < map.cells.length ? i : -1;
    },
    leave: () => { picked = -1; },
    move: by => {
      picked = Math.min(Math.max(picked + by, 0), map.cells.length - 1);
      return () => map.cells.length ? cellWords(map.cells[picked], picked, map.each) : 'no segments';
    },
  });

  /** layout finds the largest squares of which all have room. */
  function layout(n, width, height) {
    let pitch = Math.min(24, Math.sqrt(width * height / n));
    while (pitch > 3 && Math.ceil(n / Math.floor(width / pitch)) * pitch > height) pitch -= 0.1;
    return { pitch, columns: Math.max(1, Math.floor(width / pitch)) };
  }

  const count = k => map.cells.filter(c => kindOf(c) === k).length; // squares
  const squares = () => map.each > 1 ? `squares of ${map.each} segments` : 'segments';
  const square = kind => svg('svg', { class: 'swatch', viewBox: '0 0 18 10', 'aria-hidden': 'true' },
    svg('rect', { class: `seg ${kind.css}`, x: 6, width: 10, height: 10 }));
  const summary = () => {
    const live = map.cells.filter(c => c <= 100), share = live.length ? percent(sum(live) / live.length / 100) : NONE;
    return `${map.cells.length} ${squares()}: ${share} live on average, ${segmentKinds.slice(5).map((s, k) => `${count(5 + k)} ${s.name}`).join(', ')}`;
  };

  return {
    element: html('div', { class: 'part' }, readout, area),
    update(view) {
      map = segmentsOf(view.cache);
      const { width, height } = sizeOf(area);
      if (!width || map.cells.length === 0) {
        paint(drawing, [], 'segments', summary, true);
        readout.replaceChildren(html('li', {}, 'no segments yet'));
        return;
      }
      grid = layout(map.cells.length, width, height);
      const { pitch, columns } = grid, size = Math.floor(pitch) - (pitch > 6 ? 2 : 1);
      const place = i => [Math.round(i % columns * pitch), Math.round(Math.floor(i / columns) * pitch)];
      const shapes = segmentKinds.map(() => '');
      map.cells.forEach((c, i) => {
        const k = kindOf(c), inset = k === 5 ? 0.5 : 0, [x, y] = place(i);
        shapes[k] += `M${x + inset} ${y + inset}h${size - 2 * inset}v${size - 2 * inset}h${2 * inset - size}z`;
      });
      const nodes = shapes.map((d, k) => d && svg('path', { class: `seg ${segmentKinds[k].css}`, d })).filter(Boolean);
      if (picked >= 0) { const [x, y] = place(picked); nodes.push(svg('rect', { class: 'picked', x, y, width: size, height: size })); }
      paint(drawing, nodes, 'segments', summary, view.slowly);
      readout.replaceChildren(...picked >= 0 ? [html('li', {}, html('b', {}, cellWords(map.cells[picked], picked, map.each)))]
        : legend([...map.each > 1 ? [{ name: squares(), value: number(map.cells.length) }] : [], ...segmentKinds.map((s, k) => ({ mark: square(s), name: s.name, value: number(count(k)) })).filter((_, k) => k < 5 || count(k) > 0)]));
    },
    table: () => table('Segments of the log', ['state', squares()], segmentKinds.map((s, k) => [s.name, number(count(k))])),
  };
}

/** namespaceBars are the misses of the namespaces that have the most of them. */
function namespaceBars(view) {
  const list = Object.entries(view.cache.namespaces ?? {}).sort(([, a], [, b]) => b.misses - a.misses);
  const whole = sum(list.map(([, n]) => n.misses)) || 1;
  return list.map(([label, n]) => ({ label, note: `${rate(n.misses)}, ${percent(n.misses / n.reads)} of its reads`, parts: [{ colour: 'miss', share: n.misses / whole, name: label }] }));
}

/** hotKeys lists the keys that are read most, for as long as its button is pressed. */
function hotKeys() {
  const list = html('ol', { class: 'bars' }), none = 'Nothing is sampled before the button is pressed.', words = html('p', { class: 'small' }, none);
  let view, open = false, timer;
  async function look() {
    const answer = await fetch('hotkeys.json?cache=' + encodeURIComponent(view.cache.name), { cache: 'no-store' }).then(a => a.json()).catch(() => ({}));
    if (!open) return;
    const keys = answer.keys ?? [];
    show(words, keys.length ? `Of ${number(answer.reads)} reads, a sample of the last ${duration(answer.seconds * SECOND)}.` : 'Sampling…');
    list.replaceChildren(...keys.map(k => html('li', { class: 'label' }, html('b', {}, k.key), ` ${k.namespace ? `of ${k.namespace}, ` : ''}${percent(k.share)}`)));
    timer = setTimeout(look, 2000);
  }
  const toggle = html('button', { type: 'button', 'aria-pressed': 'false', onclick: () => {
    open = !open;
    toggle.setAttribute('aria-pressed', String(open));
    clearTimeout(timer);
    list.replaceChildren();
    show(words, none);
    if (open) look();
  } }, 'sample');
  return { toggle, element: html('div', { class: 'part' }, list, words), update(v) { view = v; } };
}

/** facts are figures with their names: tell(view) lists [name, value]. */
function facts(tell) {
  const list = html('dl', { class: 'facts' });
  const one = ([name, value]) => html('div', {}, html('dt', {}, name), html('dd', {}, value));
  return { element: list, update: view => list.replaceChildren(...tell(view).map(one)) };
}

/** dayBars are the bytes written to the SSD in a day. */
function dayBars(view) {
  const budget = now(view, 'ssd_day_budget_bytes') ?? 0, done = now(view, 'ssd_day_bytes') ?? 0, forecast = now(view, 'ssd_day_forecast_bytes') ?? 0;
  const whole = Math.max(budget, done, forecast) || 1;
  const note = x => bytes(x) + (budget > 0 ? ` (${percent(x / budget)} of the budget)` : '');
  const bar = (label, x, colour, series) => ({ label, note: note(x), parts: [{ colour, share: x / whole, name: label }], series });
  return [bar('Written in 24 hours', done, 'ssd', 'ssd_day_bytes'),
    bar('A day like the last hour', forecast, budget > 0 && forecast > budget ? 'bad' : 'stone', 'ssd_day_forecast_bytes')];
}

function dayWords(view) {
  const budget = now(view, 'ssd_day_budget_bytes') ?? 0, forecast = now(view, 'ssd_day_forecast_bytes') ?? 0;
  if (!(budget > 0)) return [['No WriteBudget: nothing holds writes below what the device endures.', 'small']];
  const admitted = stat(view, 'ssd_admitted_percent');
  const pace = forecast > budget ? '. At this pace it holds values back' : '';
  const room = admitted > 0 && admitted < 100 ? `; ${admitted}${SPACE}% of what admission lets in has room` : '';
  return [[`WriteBudget, from the device’s endurance: ${bytes(budget)} a day${pace}${room}.`, 'small']];
}

function mirrorWords(view) {
  const age = stat(view, 'ssd_mirror_age') ?? 0, left = stat(view, 'ssd_unmirrored') ?? 0;
  if (!(age > 0)) return [];
  const alone = left > 0 ? `; ${number(left)} entries, ${bytes(stat(view, 'ssd_unmirrored_bytes') ?? 0)}, were in RAM alone after the last pass` : '';
  return [[`A kill costs what is younger than ${duration(age)} (MirrorEvery)${alone}.`, 'small']];
}

const states = {
  online: 'online', none: 'none', recovering: 'recovering', offline: 'offline', stalled: 'stalled: the disk is behind',
};

/** doneOf says how far a recovery is, if that is known. */
const doneOf = health => health.recover_done > 0 && health.recover_done < 1 ? `${percent(health.recover_done)} done` : '';

/** troubles lists the tiers of a cache that are not well: [tier, state, ...why]. */
function troubles(cache) {
  if (cache.closed) return [['', 'closed']];
  const h = cache.health ?? {}, list = [];
  const ill = state => state && state !== 'none' && state !== 'online';
  if (ill(h.ssd)) list.push(['SSD', h.ssd, since(cache), doneOf(h), h.ssd_reason]);
  if (ill(h.shared)) list.push(['Shared tier', h.shared, h.shared_note]);
  return list;
}

/** since says when a tier came into its state: Go's zero time is no time. */
function since(cache) {
  const t = Date.parse(cache.health?.since ?? '');
  if (!(t > 0)) return '';
  return `since ${Date.now() - t < 20 * 3600e3 ? clock(t) : new Date(t).toLocaleString('en-CA', { hourCycle: 'h23' })}`;
}

/** healthPart says the state of each tier, and why. */
function healthPart() {
  const list = html('ul', { class: 'states' });
  return { element: list, update(view) {
    const c = view.cache, h = c.health ?? {};
    const rows = [['RAM', c.closed ? 'closed' : 'online'], ['SSD', h.ssd ?? 'none', since(c), doneOf(h), h.ssd_reason], ['Shared tier', h.shared ?? 'none', h.shared_note]];
    list.replaceChildren(...rows.map(([tier, state, ...why]) => html('li', {}, html('b', {}, tier),
      html('span', { class: 'pill', 'data-state': state }, states[state] ?? state), html('span', {}, why.filter(Boolean).join(', ')))));
  } };
}

const errorCounters = {
  ssd_read_errors: 'SSD reads failed', ssd_read_timeouts: 'SSD reads too late', ssd_reads_rejected: 'SSD reads not begun',
  ssd_write_errors: 'SSD writes failed', ssd_corrupt: 'wrong checksums', ssd_switched_off: 'SSD switched off',
  ssd_dropped: 'not demoted, disk behind', ssd_index_full: 'not demoted, index full',
  shared_errors: 'shared tier errors', shared_breaker_opened: 'shared servers given up', shared_epochs: 'feed interruptions',
  load_errors: 'load errors', load_timeouts: 'load timeouts', load_panics: 'load panics', load_store_errors: 'loads not stored',
  mismatches: 'values of another type', decode_errors: 'values not decoded',
};

const errorFacts = view => Object.entries(errorCounters)
  .map(([name, text]) => [text, stat(view, name)]).filter(([, n]) => n > 0).map(([text, n]) => [text, number(n)]);
const errorWords = view => [[`${errorFacts(view).length ? 'Counted' : 'No errors counted'} since the cache was opened.`, 'small']];

// ---- 9 the page ---------------------------------------------------------------------------

const share = name => ratio(name, 'reads');

// Of a plot, line is a series that is always listed, layer one that is if it is not 0 throughout.
const line = (name, colour, dash, of, key) => ({ name, colour, dash, of, key, always: true });
const layer = (name, colour, of, dash) => ({ name, colour, of, dash });

/** cards are what is shown of a cache, in the order of an operator's questions. */
function cards() {
  const curve = curvePart(), hot = hotKeys(), ssdOnly = view => view.has.ssd;
  return [
    card({
      chart: 'flow', title: 'How requests flow', wide: true, parts: [flowPart()],
      unit: view => ['reads a second, by who answers them; ', figure(view, 'sets', rate), ' sets, ', figure(view, 'deletes', rate), ' deletes'],
    }),
    card({ chart: 'hits', title: 'Hit ratio by tier', unit: () => 'share of reads', parts: [timePlot({
      title: 'Hit ratio by tier', axis: 'percent', stacked: true, full: true, series: [
        layer('front', 'front', share('front_hits')), line('RAM', 'ram', 0, share('ram_hits')), layer('SSD', 'ssd', share('ssd_hits')),
        layer('shared', 'shared', share('shared_hits')), line('missed', 'miss', 0, share('misses')),
      ] })] }),
    card({ chart: 'curve', title: 'What if the cache were larger?', unit: curve.unit, controls: curve.choice, parts: [curve] }),
    card({
      chart: 'memory', title: 'Memory', titleOf: view => view.has.ssd ? 'Memory and SSD' : 'Memory',
      unit: view => [figure(view, 'entries', number), ' entries in RAM'],
      parts: [bars(memoryBars), timePlot({
      title: 'Shares in use', axis: 'percent', full: true, series: [
        line('RAM in use', 'ram', 0, ratio('ram_used_bytes', 'ram_budget_bytes')), layer('live in the log', 'ssd', mean('ssd_live_share'), 1),
      ] })],
    }),
    card({ chart: 'age', title: 'Age at eviction', unit: () => 'since entries came to RAM or were last kept there', parts: [timePlot({
      title: 'Age at eviction', axis: 'duration', series: [
        line('p50', 'ram', 0, typical('age_p50_ms', 1e6)), line('p90', 'slate', 1, typical('age_p90_ms', 1e6)),
      ] })] }),
    card({ chart: 'evictions', title: 'Evictions by cause', unit: () => 'entries a second', parts: [timePlot({
      title: 'Evictions by cause', axis: 'count', stacked: true, series: [
        line('no room', 'miss', 0, mean('evicted_capacity')), layer('demoted to SSD', 'ssd', mean('evicted_demoted')),
        layer('expired', 'stone', mean('evicted_expired')), layer('replaced', 'front', mean('evicted_replaced')),
        layer('deleted', 'slate', mean('evicted_deleted')), { ...layer('left the SSD, too', 'sand', mean('evicted_ssd'), 1), apart: true },
        layer('invalidated', 'shared', mean('evicted_invalidated')), layer('tag', 'rose', mean('evicted_tag')),
        layer('quota', 'ram', mean('evicted_quota')),
      ] })] }),
    card({
      chart: 'loads', title: 'Loads', two: true, shown: view => view.has.loads,
      unit: view => `values a second, and the time of a loader’s call; ${number(now(view, 'loads_active'))} running`,
      parts: [timePlot({ title: 'Loads', axis: 'count', series: [
        line('loads', 'miss', 0, mean('loads')), line('errors', 'bad', 1, mean('load_errors'), 'load_errors'), line('stale answers', 'shared', 3, mean('stale_served')),
        layer('timeouts', 'rose', mean('load_timeouts'), 4), layer('refreshes among the loads', 'front', mean('refreshes'), 1), layer('“not found” remembered', 'stone', mean('negative_hits'), 2),
      ] }), timePlot({ title: 'Time of a load', axis: 'duration', series: [
        line('p50', 'miss', 0, typical('load_p50_ns')), line('p99', 'slate', 1, worst('load_p99_ns')),
      ] })],
    }),
    card({
      chart: 'policy', title: 'How entries are chosen', unit: () => 'which stay: hits of a miniature cache under each rule, as a share of the best',
      parts: [bars(planBars, 'plan'), sentences(planWords)],
    }),
    card({ chart: 'namespaces', title: 'Misses by namespace', unit: () => 'a second', shown: view => Object.keys(view.cache.namespaces ?? {}).length > 0, parts: [bars(namespaceBars)] }),
    card({ chart: 'keys', title: 'Keys read most', unit: () => 'share of the reads that RAM answers', shown: view => !!view.frame.process?.hot_keys, controls: hot.toggle, parts: [hot] }),
    card({ chart: 'segments', title: 'Segments of the log', unit: () => 'in the order of the file', shown: ssdOnly, parts: [segmentMap()] }),
    card({
      chart: 'writes', title: 'Writes to the SSD', unit: () => 'bytes written for each byte of values, and a day', two: true, shown: ssdOnly,
      parts: [timePlot({ title: 'Write amplification', axis: 'times', series: [
        line('amplification, over 30 s', 'ssd', 0, ratio('ssd_written_bytes', 'ssd_user_bytes', 30)),
      ] }), timePlot({ title: 'Bytes written', axis: 'bytesPerSecond', series: [
        line('to the files', 'ssd', 0, mean('ssd_written_bytes')), line('of values', 'slate', 1, mean('ssd_user_bytes')),
      ] }), bars(dayBars), sentences(dayWords), sentences(mirrorWords)],
    }),
    card({ chart: 'above', title: 'Above the cache', unit: () => 'counted by who uses it', shown: view => view.cache.above?.length > 0, parts: [facts(aboveFacts)] }),
    card({ chart: 'gc', title: 'Pauses of Go’s garbage collector', unit: () => 'of the whole process', parts: [timePlot({
      title: 'Pauses of the garbage collector', axis: 'duration', process: true, series: [
        line('longest', 'slate', 0, highest('gc_pause_max_ms', 1e6)), line('median', 'stone', 1, typical('gc_pause_p50_ms', 1e6)),
      ] }), facts(processFacts), sentences(gcWords)] }),
    card({ chart: 'health', title: 'Health', parts: [healthPart(), facts(errorFacts), sentences(errorWords)] }),
  ];
}

const aboveFacts = view => view.cache.above.map(c => [c.name.replaceAll('_', ' '), /bytes$/.test(c.name) ? bytes(c.value) : number(c.value)]);

function processFacts(view) {
  const p = view.frame.process ?? {};
  return [['share of CPU', percent(p.gc_cpu_share)], ['heap', bytes(p.heap_bytes)], ['goroutines', number(p.goroutines)], ['collections', number(p.gc_cycles)]];
}

/** gcWords say what to do where the collector runs often, as a heap beside a cache may be small. */
function gcWords(view) {
  const p = view.frame.process ?? {};
  if (!(p.gc_cpu_share > .1)) return [];
  return [`Go’s collector takes ${percent(p.gc_cpu_share)} of the processors. It runs each time the heap, ${bytes(p.heap_bytes)}, has doubled, and `
    + 'the cache’s memory does not count. A larger GOGC, or GOGC=off and a GOMEMLIMIT with room for garbage, makes it run less often.'];
}

/** viewOf gathers what cards need of a cache. */
function viewOf(history, index, range, slowly) {
  const frame = history.last, cache = frame.caches[index], series = history.caches[index] ?? {};
  const to = history.time.at(-1), span = to - history.time[0];
  const stats = cache.stats ?? {}, health = cache.health ?? {};
  return {
    history, index, frame, cache, series, slowly, curve: history.curve, cursor: page.cursor,
    from: to - Math.min(range, Math.max(60000, span)), to,
    has: {
      front: ever(series, 'front_hits'), loads: ever(series, 'loads') || stats.loads > 0,
      ssd: ever(series, 'ssd_bytes') || (health.ssd ?? 'none') !== 'none',
      shared: ever(series, 'shared_hits') || (health.shared ?? 'none') !== 'none',
    },
  };
}

const nameOf = (cache, index) => cache.name.trim() || `cache ${index + 1}`;

/** measures are the columns of the list of caches: [name, figure to sort by, words]. */
const measures = [
  ['reads', f => f.now.reads, f => rate(f.now.reads)],
  ['hit', f => -f.hit, f => percent(f.hit)],
  ['missed', f => f.now.misses, f => rate(f.now.misses)],
  ['RAM', f => f.now.ram_budget_bytes, f => `${bytes(f.now.ram_budget_bytes)}, ${percent(f.now.ram_used_bytes / (f.now.ram_budget_bytes || 1))} used`],
  ['if RAM doubled', f => -parseFloat(f.twice?.replace('−', '-')) || 0, f => f.twice ?? NONE],
];

const ranks = { well: 0, closed: 1, recovering: 2, stalled: 3, offline: 4 };

function headlineOf(cache) {
  const now = cache.now ?? {}, state = troubles(cache)[0]?.[1] ?? 'well';
  return { ...cache, now, state, rank: ranks[state] ?? 2, hit: now.reads > 0 ? 1 - now.misses / now.reads : undefined };
}

/** overviewRow is a cache in one line, a link if there are others. Its elements stay, so that a click
 * is not lost between two frames. */
function overviewRow(index, cache, alone) {
  const pill = html('span', { class: 'pill' }), line = svg('path', { class: 'line' });
  const cells = measures.map(([name]) => [html('b'), html('span', {}, name)]);
  const parts = [html('span', { class: 'name' }, html('b', {}, nameOf(cache, index)), pill), cells.map(c => html('span', { class: 'figure' }, c)),
    svg('svg', { class: 'spark c-ram', viewBox: '0 0 110 30', 'aria-hidden': 'true' }, line)];
  const element = alone ? html('div', { class: 'cache' }, parts) : html('a', { class: 'cache' }, parts);
  const row = { element, name: nameOf(cache, index), update(history, selected) {
    const f = row.figures = headlineOf(history.last.caches[index]);
    measures.forEach(([, , write], i) => show(cells[i][0], write(f)));
    show(pill, f.state);
    pill.dataset.state = f.state;
    line.setAttribute('d', sparkline(history, history.caches[index] ?? {}));
    if (alone) return;
    element.setAttribute('aria-current', String(index === selected));
    element.href = link({ cache: row.name, at: undefined });
  } };
  return row;
}

const MANY = 8; // caches that need no order

/** overview is the list of caches. Many can be filtered and sorted, the worst first: by state, then by misses. */
function overview(place) {
  let rows = [], listed, sorted = 0;
  const filter = html('input', { type: 'search', placeholder: 'filter', 'aria-label': 'Filter caches by name', oninput: () => { choose({ filter: filter.value || undefined }); arrange(); } });
  const count = html('span', { role: 'status' }), list = html('div', { class: 'rows' });
  const orders = html('select', { 'aria-label': 'Order of caches', onchange: () => { choose({ sort: orders.value || undefined }); arrange(); } },
    [['', 'worst first'], ['name', 'by name'], ...measures.map(([name], i) => [String(i), `by ${name}`])].map(([value, text]) => html('option', { value }, text)));
  const tools = html('div', { class: 'tools' }, filter, orders, count);
  place.append(tools, list);

  function arrange() {
    sorted = performance.now();
    const { filter: words = '', sort = '' } = chosen();
    if (filter.value !== words) filter.value = words;
    orders.value = sort;
    const of = measures[sort]?.[1], figure = r => of(r.figures) || 0;
    const before = sort === 'name' ? (a, b) => a.name.localeCompare(b.name) : of ? (a, b) => figure(b) - figure(a)
      : (a, b) => b.figures.rank - a.figures.rank || b.figures.now.misses - a.figures.now.misses;
    const shown = rows.length > MANY ? rows.filter(r => r.name.toLowerCase().includes(words.toLowerCase())).sort(before) : rows;
    if (shown.some((r, i) => list.children[i] !== r.element) || list.children.length !== shown.length) list.replaceChildren(...shown.map(r => r.element));
    const ill = rows.filter(r => r.figures.rank > 0).length;
    show(count, `${shown.length < rows.length ? `${shown.length} of ` : ''}${rows.length} caches, ${ill ? `${ill} not well` : 'all well'}`);
  }

  return { update(history, selected) {
    const caches = history.last.caches, names = caches.map(c => c.name).join('\n');
    if (names !== listed) {
      listed = names;
      sorted = 0;
      rows = caches.map((c, i) => overviewRow(i, c, caches.length === 1));
      tools.hidden = rows.length <= MANY;
      place.classList.toggle('many', rows.length > MANY);
    }
    for (const r of rows) r.update(history, selected);
    if (!sorted || performance.now() - sorted > 5000) arrange(); // not each second: rows would flee from a click
  } };
}

/** sparkline is the path of the hit ratio, as large as there is room. */
function sparkline(history, series) {
  const to = history.time.at(-1), list = buckets(history.time, history.time[0], to, 15000).map(c => share('misses')(series, c.a, c.b));
  const known = list.filter(isNumber).map(m => 1 - m), low = Math.min(...known), height = Math.max(Math.max(...known) - low, 0.02);
  return path(list.map((m, i) => [i / Math.max(1, list.length - 1) * 108 + 1, isNumber(m) ? 27 - (1 - m - low) / height * 24 : undefined]));
}

/** alerts are the caches that are not well: [state, what, why]. */
const alerts = frame => frame.caches.flatMap((c, i) => troubles(c).map(([tier, state, ...why]) =>
  [state, `${nameOf(c, i)}: ${tier} ${state}`, why.filter(Boolean).join(', ')]));

const alertBox = ([state, what, why]) => html('p', { class: 'alert', 'data-state': state }, html('b', {}, what), why && html('span', {}, ` – ${why}`));

/** chosen is what the link says: the cache, the minutes, a moment, how caches are listed. */
function chosen() {
  const [cache, rest] = location.hash.slice(1).split('?');
  const all = Object.fromEntries(new URLSearchParams(rest));
  try { all.cache = decodeURIComponent(cache) || undefined; } catch { /* a broken link: the first cache */ }
  return all;
}

/** link is that of what is chosen, with changes: a part that is undefined is as by default. */
function link(changes) {
  const { cache = '', ...rest } = { ...chosen(), ...changes };
  const query = new URLSearchParams(Object.entries(rest).filter(([, v]) => v !== undefined)).toString();
  return `#${encodeURIComponent(cache)}${query && '?' + query}`;
}

const choose = changes => history.replaceState(null, '', link(changes));

const remembered = { // storage may be forbidden
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* for this visit only */ } },
};

function startTheme(button) {
  const themes = ['auto', 'light', 'dark'];
  const apply = theme => {
    if (theme === 'auto') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = theme;
    button.replaceChildren(html('span', {}, 'theme: '), theme);
  };
  let theme = themes.find(t => t === remembered.get('firn.theme')) ?? 'auto';
  button.addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    remembered.set('firn.theme', theme);
    apply(theme);
  });
  apply(theme);
}

const connectionWords = {
  connecting: 'connecting', live: 'live', reconnecting: 'reconnecting…', restarted: 'server restarted, live', closed: 'closed',
};
/** age is how long ago something was, in ms, in whole seconds or minutes. */
const age = ms => ms < 120e3 ? `${Math.round(ms / 1000)}${SPACE}s` : `${Math.round(ms / 60e3)}${SPACE}min`;

const SLOWLY = 15000; // ms between new summaries for screen readers

function start() {
  const $ = id => document.getElementById(id);
  const ranges = [1, 5, 15];
  let range = [chosen().min, remembered.get('firn.range')].map(Number).find(m => ranges.includes(m)) ?? 15;
  let section, list = [], selected = -1, spoken = 0, queued = false, alerted = '';
  const caches = overview($('overview'));

  startTheme($('theme'));
  document.querySelector('.skip').addEventListener('click', e => { e.preventDefault(); $('main').focus(); }); // the hash names a cache
  const minutes = ranges.map(m => [m, [String(m), html('span', {}, ' min')]]);
  $('range').replaceWith(radios('Time shown', 'range', minutes, range, m => { range = m; remembered.set('firn.range', m); choose({ min: m }); page.redraw(); }));

  const wanted = caches => Math.max(0, caches.findIndex((c, i) => nameOf(c, i) === chosen().cache));

  function build(index, caches) {
    selected = index;
    list = cards();
    section = html('section', { 'data-cache': index, 'aria-labelledby': 'cache-name' },
      html('h2', { id: 'cache-name', class: 'unseen' }, nameOf(caches[index], index)), html('div', { class: 'grid' }, list.map(c => c.element)));
    $('main').replaceChildren(section);
  }

  function drawHead(frame) {
    caches.update(connection.history, wanted(frame.caches));
    const found = alerts(frame), key = JSON.stringify(found);
    if (key !== alerted) { alerted = key; $('alerts').replaceChildren(...found.map(alertBox)); }
    const p = frame.process ?? {};
    show($('process'), `${p.go ?? 'Go'}, heap ${bytes(p.heap_bytes)}, ${number(p.goroutines)} goroutines`);
    $('statsviz').hidden = !/^(https?:\/\/|\/|\.)/.test(p.statsviz ?? '');
    if (!$('statsviz').hidden) $('statsviz').href = p.statsviz;
    document.title = `${frame.caches.some(c => troubles(c).length) ? '⚠ ' : ''}${nameOf(frame.caches[selected], selected)} – firn`;
  }

  /** fitLast has the last card take what is left of its row, in two columns and in three. */
  function fitLast() {
    const before = list.filter(c => !c.element.hidden).length - 2; // without the first, which takes a row, and itself
    for (const columns of [2, 3]) list.at(-1).element.style.setProperty(`--span${columns}`, `span ${columns - before % columns}`);
  }

  function draw() {
    queued = false;
    const history = connection.history;
    const state = connection.state === 'live' && connection.closed ? 'closed' : connection.state;
    const seeing = ['live', 'restarted', 'closed'].includes(state);
    show($('connection'), connectionWords[state] + (seeing || !history ? '' : ` figures are ${age(performance.now() - connection.heard)} old`));
    $('connection').dataset.state = state;
    document.documentElement.dataset.connection = seeing ? 'live' : 'lost';
    if (!history) return;
    const frame = history.last;
    show($('clock'), clock(Date.parse(frame.time)));
    if (frame.caches.length > 0) drawCache(history, frame);
    else $('main').replaceChildren(html('p', { class: 'empty' }, 'There is no cache to show: live.Handler was given none.'));
    document.documentElement.dataset.run = frame.run;
    document.documentElement.dataset.seq = frame.seq;
  }

  function drawCache(history, frame) {
    const index = frame.shown;
    connection.choose(frame.caches[wanted(frame.caches)].name);
    if (index !== selected || !section) build(index, frame.caches);
    const slowly = performance.now() - spoken > SLOWLY || spoken === 0;
    if (slowly) spoken = performance.now();
    const view = viewOf(history, index, range * 60000, slowly);
    drawHead(frame);
    for (const c of list) c.update(view);
    fitLast();
  }

  page.redraw = () => { if (!queued) { queued = true; requestAnimationFrame(draw); } };
  page.say = text => show($('spoken'), text);
  const connection = new Connection(chosen().cache ?? '', () => draw());
  page.cursor = page.pinned = +chosen().at || undefined;
  addEventListener('hashchange', () => { page.cursor = page.pinned = +chosen().at || undefined; draw(); });
  connection.start();
}

if (globalThis.document) start();
