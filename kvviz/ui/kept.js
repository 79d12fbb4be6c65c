// Layers side by side on one token axis, filled as tokens arrive. Which tokens are kept and how many bytes is worked out
// beforehand, for every step: here it is only drawn.

const SPEED = 8; // steps a second
const LANE = 36, TALLEST = 30, LEAST = 5;

const make = (tag, name, said = "") => Object.assign(document.createElement(tag), { className: name, textContent: said });

class Lane {
  constructor(data, kept) {
    Object.assign(this, { data, kept });
    this.section = make("section", "lane");
    const title = make("div", "title");
    this.facts = make("span", "facts");
    title.append(make("h4", "", data.title), this.facts);
    this.canvas = make("canvas", "");
    this.canvas.setAttribute("role", "img");
    this.section.append(title, make("p", "about", [data.about, data.whose].filter(Boolean).join(" · ")), this.canvas);
  }

  // The tokens that it keeps, whatever for.
  tokens(step) {
    const kept = this.data.kept[step].filter(([first, end]) => end > first);
    if (!kept.length) return null;
    return [Math.min(...kept.map(([first]) => first)), Math.max(...kept.map(([, end]) => end))];
  }

  told(step) {
    const { words, tokens } = this.kept.data, kept = this.tokens(step);
    if (!this.data.tracks.some(({ fixed }) => !fixed)) return words.fixed;
    const [first, end] = kept ?? [0, 0];
    const said = say(words.kept, { kept: count(end - first), tokens: count(tokens[step]) });
    return kept ? say(words.from, { kept: said, first: count(first + 1), last: count(end) }) : said;
  }

  sentence(step) {
    const { words } = this.kept.data, [, bytes] = this.data.bytes[step];
    return say(words.lane, { title: this.data.title, kept: this.told(step), bytes });
  }

  draw(step, ink) {
    const { data, kept: { data: { tokens }, gutter }, canvas } = this;
    const width = this.section.clientWidth, scale = window.devicePixelRatio || 1;
    if (!width) return;
    if (canvas.width !== Math.round(width * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(LANE * scale);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${LANE}px`;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, LANE);
    const steps = tokens.length - 1, cell = (width - gutter - 1) / steps, foot = LANE - 3, gap = cell > 7 ? 1.5 : 0.8;
    for (let place = 0; place < steps; place += 1) {
      const left = gutter + place * cell;
      if (place >= step) { // not here yet
        pen.fillStyle = RULE;
        pen.globalAlpha = 0.5;
        pen.fillRect(left, foot, cell - gap, 1);
        pen.globalAlpha = 1;
        continue;
      }
      const [from, to] = [tokens[place], tokens[place + 1]];
      let top = foot, least = to;
      for (const [n, { colour, tall, fixed }] of data.tracks.entries()) {
        if (fixed) continue;
        const [first, end] = data.kept[step][n], a = Math.max(first, from), b = Math.min(end, to);
        const high = Math.max(LEAST, tall * TALLEST);
        if (b > a) {
          least = Math.min(least, a);
          pen.fillStyle = colour;
          pen.fillRect(left + ((a - from) / (to - from)) * cell, top - high, ((b - a) / (to - from)) * cell - gap, high);
          top -= high;
        }
      }
      if (least > from) { // seen, and not kept
        const wide = ((least - from) / (to - from)) * cell - gap;
        pen.strokeStyle = RULE;
        pen.setLineDash([1.5, 2]);
        pen.lineWidth = 1.2;
        if (wide > 2) pen.strokeRect(left + 0.6, foot - 9, wide - 1.2, 9);
        pen.setLineDash([]);
      }
    }
    for (const { colour, fixed } of data.tracks) if (fixed) this.box(pen, colour, fixed, ink);
    pen.fillStyle = ink; // up to here tokens have arrived
    pen.fillRect(gutter + step * cell - 1, 0, 1.5, LANE);
  }

  // What is kept whole, whatever the length.
  box(pen, colour, said, ink) {
    const wide = this.kept.gutter - 10;
    pen.beginPath();
    pen.roundRect(1, 3, wide, LANE - 6, 6);
    pen.globalAlpha = 0.25;
    pen.fillStyle = colour;
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 2.5;
    pen.strokeStyle = colour;
    pen.stroke();
    pen.fillStyle = ink;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const font = getComputedStyle(pen.canvas).fontFamily;
    let size = 13;
    do pen.font = `600 ${size}px ${font}`; while (pen.measureText(said).width > wide - 6 && (size -= 1) > 9);
    pen.fillText(said, 1 + wide / 2, LANE / 2 + 0.5);
  }
}

class Kept extends Player {
  constructor(root, data) {
    super(root, data);
    this.fixed = data.lanes.some(({ tracks }) => tracks.some(({ fixed }) => fixed));
    this.lanes = data.lanes.map((lane) => new Lane(lane, this));
    this.find("lanes").replaceChildren(...this.lanes.map(({ section }) => section));
    this.begin();
  }

  get last() { return this.data.tokens.length - 1; }

  get speed() { return SPEED; }

  // Room for what does not lie on the axis: as wide in every lane, so that the axes stand below each other.
  get gutter() { return this.fixed ? (this.root.clientWidth < 640 ? 92 : 138) : 0; }

  label() {
    super.label();
    const { data: { words }, find } = this;
    for (const name of ["legend_kept", "legend_dropped", "legend_state"]) find(name).textContent = words[name];
    find("if-fixed").hidden = !this.fixed;
  }

  go(step) {
    const { data: { words, tokens, totals }, find } = this;
    this.step = step;
    this.stand(say(words.step, { tokens: count(tokens[step]), end: count(tokens[this.last]) }));
    for (const lane of this.lanes) {
      const [, bytes] = lane.data.bytes[step];
      lane.facts.textContent = `${lane.told(step)} · ${bytes}`;
      lane.canvas.setAttribute("aria-label", lane.sentence(step));
    }
    find("total").textContent = totals.length ? say(words.total, { bytes: totals[step][1] }) : "";
    if (!this.playing) this.button();
    this.draw();
  }

  draw() {
    const ink = getComputedStyle(this.root).color;
    for (const lane of this.lanes) lane.draw(this.step, ink);
  }

  sentence() {
    const { words } = this.data;
    return say(words.now, {
      step: this.find("step").textContent,
      lanes: this.lanes.map((lane) => lane.sentence(this.step)).join(" "),
    });
  }

  // For tests: what is drawn.
  state() {
    const { data: { tokens, totals } , step } = this;
    return {
      step,
      tokens: tokens[step],
      total: totals.length ? totals[step][0] : null,
      lanes: this.lanes.map(({ data }) => ({ letter: data.letter, kept: data.kept[step], bytes: data.bytes[step][0] })),
      said: this.find("now").textContent,
    };
  }
}

export default mount("kept", Kept);
