// A list of any length of which only what is in view exists. Beyond what a browser can lay out (some ten million pixels), the
// bar is a scale: a wheel or a key moves by lines, dragging the bar moves by share.

const TALLEST = 8_000_000;
const AROUND = 6;

export class VirtualList {
  constructor({ scroller, rowHeight, make, onview = () => {} }) {
    Object.assign(this, { scroller, rowHeight, make, onview, count: 0, first: 0, rows: new Map(), due: 0, last: 0 });
    this.layer = document.createElement("div");
    this.layer.className = "layer";
    this.space = document.createElement("div");
    this.space.className = "space";
    scroller.classList.add("virtual");
    scroller.append(this.layer, this.space);
    scroller.addEventListener("scroll", () => this.moved(), { passive: true });
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(scroller);
  }

  close() {
    this.watch.disconnect();
  }

  get visible() {
    return Math.max(1, this.scroller.clientHeight / this.rowHeight);
  }

  get furthest() {
    return Math.max(0, this.count - this.visible);
  }

  get scaled() {
    return this.count * this.rowHeight > TALLEST;
  }

  setCount(count) {
    this.count = count;
    this.space.style.height = `${Math.min(count * this.rowHeight, TALLEST)}px`;
    this.first = Math.min(this.first, this.furthest);
    this.refresh();
  }

  setRowHeight(height) {
    if (height === this.rowHeight) return;
    this.rowHeight = height;
    this.setCount(this.count);
    this.show(this.first);
  }

  moved() {
    const top = this.scroller.scrollTop;
    const step = top - this.last;
    this.last = top;
    if (!this.scaled) this.first = top / this.rowHeight;
    else {
      const reach = TALLEST - this.scroller.clientHeight;
      const small = Math.abs(step) <= 3 * this.scroller.clientHeight && top > 0 && top < reach - 1;
      this.first = small ? this.first + step / this.rowHeight : (top / reach) * this.furthest;
      this.first = Math.min(Math.max(0, this.first), this.furthest);
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.align(), 160);
    }
    this.later();
  }

  // Put the bar where the share is, once nothing moves any more.
  align() {
    const reach = TALLEST - this.scroller.clientHeight;
    const top = Math.round((this.furthest ? this.first / this.furthest : 0) * reach);
    this.last = top;
    this.scroller.scrollTop = top;
    this.last = this.scroller.scrollTop;
  }

  // Bring a row into view: where it is, unless it is outside; then to the middle.
  reveal(index) {
    if (index >= this.first + 0.5 && index + 1.5 <= this.first + this.visible) return this.later();
    this.show(index - this.visible / 2);
  }

  show(first) {
    this.first = Math.min(Math.max(0, first), this.furthest);
    if (this.scaled) this.align();
    else {
      this.scroller.scrollTop = this.first * this.rowHeight;
      this.last = this.scroller.scrollTop;
    }
    this.later();
  }

  // Make every row anew.
  refresh() {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.draw();
  }

  later() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      this.draw();
    });
  }

  draw() {
    const from = Math.max(0, Math.floor(this.first) - AROUND);
    const upto = Math.min(this.count, Math.ceil(this.first + this.visible) + AROUND);
    for (const [index, row] of this.rows)
      if (index < from || index >= upto) {
        row.remove();
        this.rows.delete(index);
      }
    for (let index = from; index < upto; index++) {
      let row = this.rows.get(index);
      if (!row) {
        row = this.make(index);
        this.rows.set(index, row);
        this.layer.append(row);
      }
      row.style.transform = `translateY(${Math.round((index - this.first) * this.rowHeight)}px)`;
    }
    this.onview(from, upto);
  }
}
