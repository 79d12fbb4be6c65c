// What every player does: one step after another at the screen's own rate, buttons and a slider, and a sentence once
// nobody moves any more. The file of a player stands behind this one in one script: a class with `last` and `speed`,
// `go(step)`, `draw()`, `sentence()` and `state()`.

const RULE = "#808080";

// "{count}", and "{count:request|requests}" for the word that goes with it.
const say = (template, values) => template.replace(/{(\w+)(?::([^|}]*)\|([^}]*))?}/g, (_, name, one, more) => {
  return one === undefined ? values[name] : String(values[name]) === "1" ? one : more;
});
const count = (n) => n.toLocaleString("en-US");

class Player {
  constructor(root, data) {
    Object.assign(this, { root, data, playing: false, sent: data.start, frames: 0 });
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.find = (name) => root.querySelector(`.${name}`);
  }

  begin() {
    this.label();
    this.wire();
    this.go(this.data.start);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.root);
    this.redraw = () => this.draw();
    this.dark.addEventListener("change", this.redraw);
    this.root.state = () => this.state();
  }

  end() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.later);
    this.observer.disconnect();
    this.dark.removeEventListener("change", this.redraw);
  }

  label() {
    const { data: { words }, find } = this;
    this.root.setAttribute("aria-label", words.label);
    for (const name of ["back", "forward"]) {
      find(name).title = words[name];
      find(name).setAttribute("aria-label", words[name]);
    }
    find("scrub").setAttribute("aria-label", words.scrub);
    find("scrub").max = this.last;
    find("calm").textContent = this.calm.matches ? words.calm : "";
  }

  wire() {
    const { find } = this;
    find("play").onclick = () => (this.playing ? this.pause() : this.play());
    find("back").onclick = () => this.stop(this.step - 1);
    find("forward").onclick = () => this.stop(this.step + 1);
    find("scrub").oninput = (event) => this.stop(Number(event.target.value));
  }

  resize() { this.draw(); }

  play() {
    cancelAnimationFrame(this.frame);
    if (this.step >= this.last) this.go(0);
    this.playing = true;
    this.button();
    const speed = this.calm.matches ? 1 : this.speed, from = this.step, begun = performance.now();
    const tick = (now) => {
      if (!this.root.isConnected) return this.end(); // another page was opened
      this.frames += 1;
      const step = Math.min(this.last, from + Math.max(0, Math.floor(((now - begun) * speed) / 1000)));
      if (step !== this.step) this.go(step);
      if (step >= this.last) this.pause();
      else this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  pause() {
    cancelAnimationFrame(this.frame);
    this.playing = false;
    this.button();
    this.settle();
  }

  stop(step) {
    cancelAnimationFrame(this.frame);
    this.playing = false;
    this.go(Math.min(this.last, Math.max(0, step)));
    this.settle();
  }

  button() {
    const name = this.playing ? "pause" : this.step >= this.last && this.last > 0 ? "again" : "play";
    this.find("play").textContent = this.data.words[name];
    this.find("play").dataset.now = name;
  }

  // Said to whoever cannot see it, and kept in the address.
  settle() {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      this.find("now").textContent = this.sentence();
      if (this.step !== this.sent) {
        this.sent = this.step;
        this.send?.("at", { of: this.data.id, step: this.step });
      }
    }, 350);
  }

  // Where it stands, in words.
  stand(named) {
    put(this.find("step"), named);
    this.find("scrub").value = this.step;
    this.find("scrub").setAttribute("aria-valuetext", named);
  }
}

// Only what changed is written: at sixty steps a second that counts.
function put(element, said) {
  if (element.textContent !== said) element.textContent = said;
}

const mount = (name, Kind) => ({ data, parentElement, setStateValue }) => {
  const root = parentElement.querySelector(`.${name}`);
  const given = JSON.parse(new TextDecoder().decode(data));
  // Every run of the page comes by here: what plays goes on.
  if (root.player?.data.id !== given.id) {
    root.player?.end();
    root.player = new Kind(root, given);
  }
  root.player.send = setStateValue;
  return () => { if (!root.isConnected) root.player.end(); };
};
