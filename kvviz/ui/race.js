// Plays two memories side by side on one clock. It folds the events that `kvviz simulate --steps --json` prints; the
// numbers under each memory are those of the same command's rows.

const SPEEDS = [1, 2, 5, 10, 30, 60];
const MOST_TABLE_ROWS = 10; // while it plays
const KINDS = ["used", "reserved", "internal", "rest"];
const SHARES = ["used", "reserved", "internal", "external"];

// Whole percents that add up to 100, as kvviz/race.py rounds them: down, and what is missing to those that lost most.
function percents(parts) {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  const down = parts.map((part) => Math.floor((100 * part) / whole));
  const missing = 100 - down.reduce((sum, part) => sum + part, 0);
  const byLoss = parts.map((part, place) => [-((100 * part) % whole), place]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  for (const [, place] of byLoss.slice(0, missing)) down[place] += 1;
  return down;
}

// --- what the events come to ----------------------------------------------------------------------------------------

class Memory {
  constructor(lane, block) {
    const blocks = Math.floor(lane.pool / block), cells = lane.paged ? blocks : Math.ceil(lane.pool / block);
    Object.assign(this, { lane, block, blocks, cells, changed: new Set() });
    // Paged: whose each block is, of which group of layers, and which of the request's blocks.
    this.owner = new Int32Array(cells);
    this.group = new Int32Array(cells);
    this.logical = new Int32Array(cells);
    this.rewind();
  }

  rewind() {
    this.owner.fill(-1);
    this.all = true; // everything may have changed since it was drawn
    this.step = -1;
    this.next = 0; // of the events
    this.sizes = new Map(); // prompt and output tokens, by request
    this.waiting = [];
    this.running = new Map(); // in the order of admission
    this.leaving = []; // emit their last token in this step
    this.preempted = [];
    this.fresh = new Set(); // blocks given out in this step
    this.gone = 0; // requests served before this step
    this.preemptions = 0; // so far
  }

  to(step) {
    if (step < this.step) this.rewind();
    while (this.step < step) {
      this.step += 1;
      for (const request of this.leaving) {
        this.leave(request);
        this.sizes.delete(request);
      }
      for (const block of this.fresh) this.changed.add(block);
      this.gone += this.leaving.length;
      this.leaving = [];
      this.preempted = [];
      this.fresh.clear();
      const group = this.lane.events[this.next];
      if (group && group[0] === this.step) {
        this.next += 1;
        for (let n = 1; n < group.length; n += 1) this.apply(group[n]);
      }
      // Each request writes a token.
      for (const [request, { tables, chunk }] of this.running) {
        if (this.lane.paged) for (const table of tables) this.changed.add(table[table.length - 1]);
        else this.changed.add(Math.floor((chunk[0] + this.held(request) - 1) / this.block));
      }
    }
  }

  leave(request) {
    const { tables, chunk } = this.running.get(request);
    for (const table of tables) this.free(table);
    if (!this.lane.paged) this.change(chunk);
    this.running.delete(request);
  }

  free(blocks) {
    for (const block of blocks) {
      this.owner[block] = -1;
      this.changed.add(block);
    }
  }

  change([start, slots]) {
    for (let cell = Math.floor(start / this.block); cell * this.block < start + slots; cell += 1) this.changed.add(cell);
  }

  apply([kind, request, tokens = 0, blocks = [], group = 0]) {
    switch (kind) {
      case "r": // arrived: prompt and output
        this.sizes.set(request, [tokens, blocks]);
        this.waiting.push(request);
        break;
      case "x": // never admissible
        this.waiting = this.waiting.filter((other) => other !== request);
        this.sizes.delete(request);
        break;
      case "a": { // admitted: nearly always the head of the queue
        const place = this.waiting.indexOf(request);
        this.waiting.splice(place, 1);
        const tables = this.lane.groups.map(() => []);
        this.running.set(request, { shift: tokens - this.step, tables, asked: 0, chunk: [0, 0] });
        break;
      }
      case "b": { // allocated
        const held = this.running.get(request);
        held.asked = tokens;
        if (!this.lane.paged) {
          held.chunk = Array.isArray(blocks[0]) ? blocks[0] : [blocks[0], blocks.length];
          this.change(held.chunk);
          break;
        }
        const table = held.tables[group], added = numbers(blocks);
        table.push(...added);
        let logical = Math.ceil(this.held(request) / this.block) - added.length;
        for (const block of added) {
          this.owner[block] = request;
          this.group[block] = group;
          this.logical[block] = logical;
          this.fresh.add(block);
          this.changed.add(block);
          logical += 1;
        }
        break;
      }
      case "w": // left its window
        this.free(this.running.get(request).tables[group].splice(0, numbers(blocks).length));
        break;
      case "p": // preempted
        this.leave(request);
        this.waiting.unshift(request);
        this.preempted.push(request);
        this.preemptions += 1;
        break;
      case "f": // emits its last token
        this.leaving.push(request);
        break;
    }
  }

  held(request) { return this.running.get(request).shift + this.step; }

  final(request) {
    const [prompt, output] = this.sizes.get(request);
    return prompt + output - 1;
  }

  slots(request) {
    return this.lane.paged ? Math.ceil(this.held(request) / this.block) * this.block : this.running.get(request).asked;
  }

  get served() { return this.gone + this.leaving.length; }

  figures() {
    const { lane, block } = this;
    let tokens = 0, slots = 0, internal = 0, allocated = 0;
    for (const [request, { tables, chunk }] of this.running) {
      const mine = this.slots(request);
      tokens += this.held(request);
      slots += mine;
      internal += Math.max(0, mine - this.final(request));
      allocated += lane.paged ? tables.reduce((sum, table) => sum + table.length, 0) : chunk[1];
    }
    const many = lane.groups.length;
    const reserved = many * (slots - tokens - internal);
    internal *= many;
    const external = lane.pool - (lane.paged ? allocated * block : slots);
    const free = (lane.paged ? this.blocks : lane.pool) - allocated;
    const used = lane.pool - external - reserved - internal;
    return {
      tokens, allocated, free, used, reserved, internal, external,
      percents: percents([used, reserved, internal, external]),
      hole: lane.paged ? free * block : this.longestGap(),
    };
  }

  longestGap() {
    const chunks = [...this.running.values()].map(({ chunk }) => chunk).sort((a, b) => a[0] - b[0]);
    let longest = 0, last = 0;
    for (const [start, slots] of [...chunks, [this.lane.pool, 0]]) {
      longest = Math.max(longest, start - last);
      last = start + slots;
    }
    return longest;
  }

  // As the command line prints a step.
  row() {
    const { tokens, allocated, free, reserved, internal, external } = this.figures();
    const row = { step: this.step, running: this.running.size, waiting: this.waiting.length };
    if (this.lane.paged) {
      Object.assign(row, { alloc: allocated, free, tokens, preempted: this.preempted.length, hit_tokens: 0 });
    } else {
      Object.assign(row, { tokens, reserved, internal, external, chunks: allocated });
    }
    return { ...row, finished: [...this.leaving].sort((a, b) => a - b) };
  }

  // What is in a block: for each request there, slots of it as [first, end, "used" | "reserved" | "internal" | "rest"].
  contents(cell) {
    const { block, lane } = this, start = cell * block, found = [];
    if (lane.paged) {
      const request = this.owner[cell];
      if (request < 0) return found;
      const before = this.logical[cell] * block, used = Math.min(block, this.held(request) - before);
      const later = Math.max(used, Math.min(block, this.final(request) - before));
      return [{ request, parts: between([0, used, later, block], 0, block) }];
    }
    for (const [request, { chunk: [first, slots], asked }] of this.running) {
      if (first >= start + block || first + slots <= start) continue;
      const held = this.held(request), ends = [held, Math.max(held, Math.min(this.final(request), asked)), asked, slots];
      found.push({ request, parts: between([0, ...ends].map((slot) => first + slot - start), 0, block) });
    }
    return found;
  }
}

// Stretches between the ends of the four kinds, as far as they lie inside.
function between(ends, low, high) {
  const parts = [];
  for (let n = 1; n < ends.length; n += 1) {
    const from = Math.max(low, ends[n - 1]), to = Math.min(high, ends[n]);
    if (to > from) parts.push([from, to, KINDS[n - 1]]);
  }
  return parts;
}

// Blocks as they are written: numbers, and [first, how many] for three or more in a row.
function numbers(runs) {
  return runs.flatMap((run) => (Array.isArray(run) ? Array.from({ length: run[1] }, (_, n) => run[0] + n) : [run]));
}

// --- what it looks like -----------------------------------------------------------------------------------------------

// A hue of its own for every request, by the golden angle; three lightnesses tell those apart whose hues come near.
function colour(request, { strong = false, pale = false, dark = false } = {}) {
  const hue = Math.round(205 + request * 137.508) % 360, level = [0, 9, -9][Math.floor(request / 8) % 3];
  if (strong) return `hsl(${hue} 85% ${dark ? 60 : 38}%)`;
  return pale ? `hsl(${hue} ${dark ? 28 : 40}% ${(dark ? 38 : 70) + level * 0.7}%)` : `hsl(${hue} 48% ${(dark ? 50 : 60) + level}%)`;
}

// Lines that are seen up close and not from afar: a light hatch, once for slots that will be written, once for waste.
function tile(ink, shape, { background = "", alpha = 0.5 } = {}) {
  const canvas = document.createElement("canvas"), side = 12;
  canvas.width = canvas.height = side;
  const pen = canvas.getContext("2d");
  if (background) {
    pen.globalAlpha = 0.16;
    pen.fillStyle = background;
    pen.fillRect(0, 0, side, side);
  }
  pen.strokeStyle = pen.fillStyle = ink;
  pen.globalAlpha = alpha;
  pen.beginPath();
  if (shape === "/") for (const x of [-side, 0, side]) { pen.moveTo(x, side); pen.lineTo(x + side, 0); }
  if (shape === "\\") for (const x of [-side, 0, side]) { pen.moveTo(x, 0); pen.lineTo(x + side, side); }
  if (shape === ".") pen.arc(side / 2, side / 2, 1.2, 0, 7);
  if (shape === ".") pen.fill(); else pen.stroke();
  return pen.createPattern(canvas, "repeat");
}

const tiles = new Map();
function brush(kind, request, look) {
  const own = kind === "used" || kind === "reserved";
  const name = own ? `${kind} ${request} ${look.strong} ${look.pale} ${look.dark}` : kind;
  if (!tiles.has(name)) {
    if (tiles.size > 4000) tiles.clear();
    const ink = own ? colour(request, look) : RULE;
    tiles.set(name, {
      used: () => ink,
      reserved: () => tile(ink, "/", { background: ink, alpha: 0.7 }),
      internal: () => tile(RULE, "\\", { alpha: 0.35 }),
      rest: () => tile(RULE, "."),
    }[kind]());
  }
  return tiles.get(name);
}

// Cells in rows, one a block. Where they are large, a block is as wide as its slots are squares, as on squared paper.
function layout(blocks, block, width) {
  const squares = block <= 8 && blocks * block <= 512;
  const shape = squares ? block : 1, tallest = squares ? 190 : 250, largest = squares ? 30 : 26, least = 3;
  const most = Math.max(1, Math.min(blocks, Math.floor(width / (least * shape))));
  let best = { columns: most, side: least };
  for (let columns = 1; columns <= most; columns += 1) {
    const side = Math.min(largest, width / (columns * shape));
    if (Math.ceil(blocks / columns) * side > tallest) continue;
    // Whole rows are worth cells that are a little smaller.
    const better = side * (blocks % columns ? 0.7 : 1) - best.side * (blocks % best.columns ? 0.7 : 1);
    if (better > 0) best = { columns, side };
  }
  const side = best.side >= 6 ? Math.floor(best.side) : best.side, { columns } = best;
  return { columns, cellWidth: side * shape, cellHeight: side, rows: Math.ceil(blocks / columns), squares };
}

class Panel {
  constructor(section, memory, race) {
    Object.assign(this, { section, memory, race, cursor: null });
    this.canvas = section.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    const at = ({ offsetX, offsetY }) => this.blockAt(offsetX, offsetY);
    this.canvas.onpointermove = (event) => this.point(at(event));
    this.canvas.onpointerleave = () => this.point(null);
    this.canvas.onclick = (event) => { this.point(at(event)); this.choose(); };
    this.canvas.onblur = () => this.point(null);
    this.canvas.onfocus = () => { if (this.cursor === null && this.canvas.matches(":focus-visible")) this.point(0); };
    this.canvas.onkeydown = (event) => {
      const { columns } = this.grid;
      const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
      if (event.key === "Enter" || event.key === " ") this.choose();
      else if (event.key in moves) {
        const last = this.memory.cells - 1;
        this.point(Math.min(last, Math.max(0, (this.cursor ?? 0) + moves[event.key])));
      } else return;
      event.preventDefault();
    };
  }

  resize() {
    const width = this.section.clientWidth;
    if (!width) return;
    this.grid = layout(this.memory.cells, this.memory.block, width);
    const { columns, cellWidth, cellHeight, rows } = this.grid;
    const scale = window.devicePixelRatio || 1;
    const size = { width: Math.min(columns, this.memory.cells) * cellWidth + 1, height: rows * cellHeight + 1 };
    for (const side of ["width", "height"]) {
      this.canvas[side] = Math.round(size[side] * scale);
      this.canvas.style[side] = `${size[side]}px`;
    }
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.section.style.setProperty("--board", `${size.width}px`);
    this.size = size;
    this.background = null;
    this.memory.all = true;
  }

  blockAt(x, y) {
    const { columns, cellWidth, cellHeight } = this.grid;
    const column = Math.floor(x / cellWidth), block = Math.floor(y / cellHeight) * columns + column;
    return column < columns && block >= 0 && block < this.memory.cells ? block : null;
  }

  place(block) {
    const { columns, cellWidth, cellHeight } = this.grid;
    return [(block % columns) * cellWidth, Math.floor(block / columns) * cellHeight];
  }

  // The empty memory, drawn once.
  empty(ink) {
    if (this.background?.ink === ink) return this.background.canvas;
    const canvas = document.createElement("canvas");
    canvas.width = this.canvas.width;
    canvas.height = this.canvas.height;
    const pen = canvas.getContext("2d"), { cellWidth, cellHeight, squares } = this.grid;
    pen.setTransform(this.pen.getTransform());
    pen.strokeStyle = RULE;
    for (let block = 0; block < this.memory.cells; block += 1) {
      const [x, y] = this.place(block);
      pen.globalAlpha = 0.3;
      if (squares) {
        pen.lineWidth = 1;
        const side = cellWidth / this.memory.block;
        for (let n = 1; n < this.memory.block; n += 1) {
          pen.beginPath();
          pen.moveTo(x + n * side + 0.5, y);
          pen.lineTo(x + n * side + 0.5, y + cellHeight);
          pen.stroke();
        }
      }
      pen.globalAlpha = cellHeight >= 6 ? (squares ? 0.9 : 0.45) : 0.2;
      if (cellHeight >= 4) pen.strokeRect(x + 0.5, y + 0.5, cellWidth, cellHeight);
      else { pen.fillStyle = RULE; pen.fillRect(x, y, cellWidth - 0.5, cellHeight - 0.5); }
    }
    this.background = { ink, canvas };
    return canvas;
  }

  // Only what has changed: a step changes a few blocks of thousands.
  draw() {
    if (!this.grid) return;
    const { pen, memory, grid, size } = this, { block, changed } = memory, { cellWidth, cellHeight } = grid;
    const ink = getComputedStyle(this.section).color, background = this.empty(ink), scale = this.canvas.width / size.width;
    let cells = changed;
    if (memory.all || this.ink !== ink) {
      this.ink = ink;
      pen.clearRect(0, 0, size.width, size.height);
      pen.drawImage(background, 0, 0, size.width, size.height);
      cells = Array(memory.cells).keys();
    } else {
      for (const cell of changed) {
        const [x, y] = this.place(cell), w = cellWidth + 1, h = cellHeight + 1;
        pen.clearRect(x, y, w, h);
        pen.drawImage(background, x * scale, y * scale, w * scale, h * scale, x, y, w, h);
      }
    }
    const gap = cellHeight >= 6 ? 1 : 0, slot = (cellWidth - gap) / block, high = cellHeight - gap;
    const named = cellWidth >= 22 && cellHeight >= 14, dark = light(ink), leaving = new Set(memory.leaving);
    for (const cell of cells) {
      const [x, y] = this.place(cell), here = memory.contents(cell);
      for (const { request, parts } of here) {
        // Where there is no room for numbers only the chosen request stands out.
        const look = { dark, strong: !named && request === this.race.chosen, pale: !named };
        pen.globalAlpha = leaving.has(request) ? 0.5 : 1;
        for (const [from, to, kind] of parts) {
          pen.fillStyle = brush(kind, request, look);
          pen.fillRect(x + gap + from * slot, y + gap, (to - from) * slot, high);
        }
      }
      pen.globalAlpha = 1;
      if (named) this.name(cell, here, leaving);
    }
    if (!this.race.calm.matches && memory.lane.paged && cellHeight >= 14) {
      for (const cell of memory.fresh) this.outline(cell, ink, 1.5);
    }
    if (this.cursor !== null) this.outline(this.cursor, ink, 3);
    memory.all = false;
    changed.clear();
  }

  // Each block says whose it is: colour is never all there is.
  name(cell, here, leaving) {
    const said = here.filter(({ parts }) => parts.some(([, , kind]) => kind !== "rest"))
      .map(({ request }) => `${request + 1}${this.letter(cell)}${leaving.has(request) ? "✓" : ""}`);
    if (!said.length) return;
    const { pen, grid: { cellWidth, cellHeight } } = this, [x, y] = this.place(cell), large = cellHeight >= 22;
    pen.font = `600 ${large ? 13 : 10}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const wide = pen.measureText(said.join(",")).width + 8, high = large ? 17 : 12;
    if (wide > cellWidth - 2) return;
    pen.fillStyle = "#262626";
    pen.beginPath();
    pen.roundRect(x + (cellWidth - wide) / 2 + 0.5, y + (cellHeight - high) / 2 + 0.5, wide, high, 3);
    pen.fill();
    pen.fillStyle = "#FFFFFF";
    pen.fillText(said.join(","), x + cellWidth / 2 + 0.5, y + cellHeight / 2 + 1);
  }

  // Of the group of layers, where there are several.
  letter(cell) {
    const { lane, group } = this.memory;
    return lane.groups.length > 1 ? lane.groups[group[cell]][0] : "";
  }

  outline(cell, ink, width) {
    const { pen, grid: { cellWidth, cellHeight } } = this, [x, y] = this.place(cell);
    pen.strokeStyle = ink;
    pen.lineWidth = width;
    // Inside the block, so that it goes when the block is drawn again.
    pen.strokeRect(x + width / 2 + 0.5, y + width / 2 + 0.5, cellWidth - width, cellHeight - width);
  }

  point(block) {
    if (block === this.cursor) return;
    for (const cell of [this.cursor, block]) if (cell !== null) this.memory.changed.add(cell);
    this.cursor = block;
    this.draw();
    this.race.tell(this);
  }

  choose() {
    if (this.cursor === null) return;
    const [holder] = this.memory.contents(this.cursor);
    if (holder) this.race.choose(holder.request);
  }

  // What is in a block, in a sentence.
  sentence(cell) {
    const { words } = this.race.data, { lane, logical, group } = this.memory, here = this.memory.contents(cell);
    if (!here.length) return say(words.free, { block: cell });
    const told = here.map(({ request, parts }) => {
      const slots = { used: 0, reserved: 0, internal: 0, request: request + 1 };
      for (const [from, to, kind] of parts) slots[kind] += to - from;
      const said = say(words.part, slots);
      if (!lane.paged) return said;
      const of = lane.groups.length > 1 ? `, ${lane.groups[group[cell]]}` : "";
      return say(words.of, { part: said, logical: logical[cell], group: of });
    });
    return say(words.cell, { block: cell, parts: told.join(words.separator) });
  }
}

// --- playing -----------------------------------------------------------------------------------------------------------

class Race extends Player {
  constructor(root, data) {
    super(root, data);
    this.chosen = null;
    this.panels = [...root.querySelectorAll(".lane")].map((section, n) => {
      return new Panel(section, new Memory(data.lanes[n], data.block), this);
    });
    this.begin();
    this.choose(0);
  }

  get last() { return this.data.end; }

  get speed() { return Number(this.find("speed").value); }

  resize() {
    for (const panel of this.panels) panel.resize();
    this.draw();
  }

  label() {
    super.label();
    const { data: { words, lanes, end }, find, panels } = this;
    for (const [n, { section }] of panels.entries()) {
      section.querySelector("h4").textContent = lanes[n].title;
      for (const name of SHARES) section.querySelector(`.${name} .name`).textContent = words[name];
    }
    for (const name of ["speed", "table"]) find(`${name}-label`).firstChild.textContent = `${words[name]} `;
    find("served").textContent = words.served;
    for (const [n, side] of ["left", "right"].entries()) find(side).textContent = lanes[n].title;
    find("hint").textContent = words.hint;
    const speed = end <= 30 ? 2 : 30;
    find("speed").replaceChildren(...SPEEDS.map((n) => new Option(String(n), String(n), n === speed, n === speed)));
    // Everybody who ever waits: told by the events themselves.
    const requests = new Set();
    for (const { events } of lanes) for (const [, ...group] of events) for (const [kind, r] of group) if (kind === "r") requests.add(r);
    find("request").replaceChildren(...[...requests].sort((a, b) => a - b).map((r) => new Option(String(r + 1), String(r))));
  }

  wire() {
    super.wire();
    this.find("speed").onchange = () => { if (this.playing) this.play(); };
    this.find("request").onchange = (event) => this.choose(Number(event.target.value));
  }

  button() {
    this.writeTable();
    super.button();
  }

  go(step) {
    this.step = step;
    for (const { memory } of this.panels) memory.to(step);
    if (!this.playing || step >= this.data.end) this.button();
    this.draw();
    this.write();
  }

  choose(request) {
    this.chosen = request;
    for (const { memory } of this.panels) memory.all = true;
    this.draw();
    this.find("request").value = String(request);
    this.writeTable();
  }

  draw() { for (const panel of this.panels) panel.draw(); }

  // The numbers around the memories.
  write() {
    const { data: { words, end, lanes }, find, step } = this;
    const named = say(words.step, { step: count(step), end: count(end) });
    this.stand(named);
    const [left, right] = this.panels.map(({ memory }) => memory.served);
    put(find("score"), `${count(left)} : ${count(right)}`);
    for (const [n, panel] of this.panels.entries()) {
      const { memory, section } = panel, figures = memory.figures(), { done, title } = lanes[n];
      for (const name of SHARES) {
        put(section.querySelector(`.${name} .value`), `${figures.percents[SHARES.indexOf(name)]}%`);
        section.querySelector(`.bar .${name}`).style.flexGrow = figures[name];
      }
      put(section.querySelector(".hole"), say(words.hole, { count: count(figures.hole) }));
      const over = done !== null && step > done;
      const facts = over ? [say(words.done, { step: count(done) })] : [
        say(memory.leaving.length ? words.finishing : words.running, {
          count: count(memory.running.size), finishing: count(memory.leaving.length),
        }),
        say(words.queue, { count: count(memory.waiting.length) }),
      ];
      if (memory.preemptions) facts.push(say(words.preemptions, { count: count(memory.preemptions) }));
      put(section.querySelector(".facts"), facts.join(" · "));
      const events = [];
      if (memory.preempted.length) events.push(say(words.lost, { requests: few(memory.preempted, words) }));
      if (memory.leaving.length) events.push(say(words.last, { requests: few(memory.leaving, words) }));
      put(section.querySelector(".events"), events.join(" · "));
      queue(section.querySelector(".queue"), over ? [] : memory.waiting);
      panel.canvas.setAttribute("aria-label", say(words.memory, { side: title, step: named }));
      if (panel.cursor !== null) this.tell(panel);
    }
    this.writeTable();
  }

  tell(panel) {
    put(this.find("hint"), panel.cursor === null ? this.data.words.hint : panel.sentence(panel.cursor));
  }

  writeTable() {
    const { data: { words, block }, chosen, panels, find } = this;
    if (chosen === null) return;
    const columns = [words.logical], cells = [];
    let rows = 0, written = 0;
    for (const { memory } of panels) {
      const { lane } = memory, held = memory.running.get(chosen), many = lane.paged && lane.groups.length > 1;
      for (const [group, name] of lane.groups.entries()) {
        columns.push(many ? `${lane.title} ${name}` : lane.title);
        if (!held) { cells.push([]); continue; }
        const logical = Math.ceil((lane.paged ? memory.held(chosen) : held.asked) / block);
        const skipped = lane.paged ? logical - held.tables[group].length : 0;
        rows = Math.max(rows, logical);
        written = Math.max(written, Math.ceil(memory.held(chosen) / block));
        cells.push(Array.from({ length: logical }, (_, n) => {
          if (n < skipped) return words.freed;
          const first = held.chunk[0] + n * block, last = Math.min(first + block, held.chunk[0] + held.asked) - 1;
          const where = lane.paged ? say(words.physical, { block: held.tables[group][n - skipped] })
            : say(words.slots, { first, last });
          const filled = Math.max(0, Math.min(block, memory.held(chosen) - n * block));
          return say(words.filled, { where, filled, all: lane.paged ? block : last - first + 1 });
        }));
      }
    }
    // While it plays, a long table is shown around the block that is written; at rest all of it is there to scroll.
    const most = this.playing ? MOST_TABLE_ROWS : rows, writing = Math.max(0, Math.min(rows, written + 2) - MOST_TABLE_ROWS);
    const top = this.playing ? writing : 0;
    const body = Array.from({ length: Math.min(rows - top, most) }, (_, row) => {
      const n = top + row;
      return [String(n), ...cells.map((column) => column[n] ?? words.unreserved)];
    });
    const signature = JSON.stringify([columns, body, rows, chosen, this.playing]);
    if (signature === this.tableShown) return;
    this.tableShown = signature;
    const row = (tag, texts) => {
      const line = document.createElement("tr");
      line.append(...texts.map((said) => Object.assign(document.createElement(tag), { textContent: said })));
      return line;
    };
    find("blocks").hidden = !rows;
    find("head").replaceChildren(row("th", columns));
    find("body").replaceChildren(...body.map((texts) => row("td", texts)));
    find("rows").setAttribute("aria-label", say(words.rows, { request: chosen + 1 }));
    // What was scrolled to stays; another request begins where it is written.
    if (chosen !== this.tableOf || this.playing) find("rows").scrollTop = 0;
    const line = find("body").children[writing];
    if (chosen !== this.tableOf && !this.playing && line) find("rows").scrollTop = line.offsetTop - find("head").offsetHeight;
    this.tableOf = this.playing ? null : chosen;
    const more = most < rows ? say(words.more, { count: count(rows), first: top, last: top + most - 1 }) : "";
    find("more").textContent = rows ? more : say(words.notrunning, { request: chosen + 1 });
  }

  sentence() {
    const { data: { words, end, lanes }, step } = this, values = {};
    for (const [n, side] of ["left", "right"].entries()) {
      const { memory } = this.panels[n];
      values[side] = lanes[n].title;
      values[`${side}_served`] = count(memory.served);
      values[`${side}_running`] = count(memory.running.size);
      values[`${side}_used`] = `${memory.figures().percents[0]}%`;
    }
    return say(words.now, { ...values, step: say(words.step, { step: count(step), end: count(end) }) });
  }

  // For tests: the step as the command line prints it, and who holds which blocks.
  state() {
    return {
      step: this.step,
      frames: this.frames,
      lanes: this.panels.map(({ memory }) => ({
        row: memory.row(),
        served: memory.served,
        waiting: [...memory.waiting],
        hole: memory.figures().hole,
        tables: Object.fromEntries([...memory.running].map(([request, { tables, chunk }]) => {
          return [request, memory.lane.paged ? tables.map((table) => [...table]) : chunk];
        })),
      })),
    };
  }
}

const MOST_NAMED = 8;
function few(requests, words) {
  const named = requests.slice(0, MOST_NAMED).map((request) => request + 1).join(", ");
  return say(words.named, { count: requests.length, named: requests.length > MOST_NAMED ? `${named}, …` : named });
}

// Whether text of this colour is written on a dark page.
function light(ink) {
  const [red, green, blue] = ink.match(/[\d.]+/g).map(Number);
  return red + green + blue > 384;
}

// Who waits, in the colour that their blocks will have.
function queue(list, waiting) {
  const shown = waiting.slice(0, 12), signature = `${waiting.length}: ${shown}`;
  if (list.dataset.shown === signature) return;
  list.dataset.shown = signature;
  list.replaceChildren(...shown.map((request) => {
    const item = document.createElement("li");
    item.textContent = request + 1;
    item.style.borderColor = colour(request);
    return item;
  }));
  if (waiting.length > shown.length) list.append(Object.assign(document.createElement("li"), { textContent: "…" }));
}

export default mount("race", Race);
