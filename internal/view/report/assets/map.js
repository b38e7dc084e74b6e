"use strict";
// Maps of a report: the pictures of a map become one canvas that can be zoomed, moved and filtered.
// All text of points is set as text, never as markup.
for (const figure of document.querySelectorAll("figure.map")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const pictures = [...figure.querySelectorAll(".view")];
  const n = data.x.length;
  if (n === 0 || !pictures.length) continue;

  const make = (name, className, text) => {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text) e.textContent = text;
    return e;
  };
  const tools = make("div", "tools");
  const box = make("div", "canvas");
  const canvas = make("canvas");
  const tip = make("div", "tip");
  tip.hidden = true;
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label",
    "Map of " + n + " points. Plus and minus zoom, arrow keys move, 0 shows all; classes are picked in the legend.");
  box.append(canvas, tip);
  figure.insertBefore(tools, pictures[0]);
  figure.insertBefore(box, pictures[0]);
  figure.classList.add("live");

  let view = 0, scale = 1, left = 0, top = 0, hover = -1;
  const picked = data.views.map(() => new Set());
  const marked = new Set(data.marked || []);
  // Neighbouring numbers are often of one class, so points are drawn in a fixed mixed order.
  const order = [...data.x.keys()].sort((a, b) => (a * 7919 % n) - (b * 7919 % n) || a - b);

  const button = (text, label, f) => {
    const b = make("button", "", text);
    b.type = "button";
    if (label) b.setAttribute("aria-label", label);
    b.addEventListener("click", f);
    tools.append(b);
    return b;
  };
  const choices = data.views.map((v, k) => button("by " + v.name, "", () => show(k)));
  tools.append(make("span", "gap"));
  button("+", "zoom in", () => zoom(1.6, canvas.clientWidth / 2, canvas.clientHeight / 2));
  button("−", "zoom out", () => zoom(1 / 1.6, canvas.clientWidth / 2, canvas.clientHeight / 2));
  button("all", "show all points", reset);

  // Lines of the legend with a class become switches: classes that are picked are shown alone.
  pictures.forEach((picture, k) => {
    for (const item of picture.querySelectorAll(".legend li")) {
      const c = Number(item.dataset.class);
      if (!(c >= -1)) continue;
      const b = make("button");
      b.type = "button";
      b.setAttribute("aria-pressed", "false");
      b.append(...item.childNodes);
      item.append(b);
      b.addEventListener("click", () => {
        const on = !picked[k].has(c);
        on ? picked[k].add(c) : picked[k].delete(c);
        b.setAttribute("aria-pressed", String(on));
        picture.classList.toggle("picked", picked[k].size > 0);
        draw();
      });
    }
  });

  function show(k) {
    view = k;
    pictures.forEach((p, i) => { p.hidden = i !== k; });
    choices.forEach((b, i) => b.setAttribute("aria-pressed", String(i === k)));
    draw();
  }
  const visible = i => picked[view].size === 0 || picked[view].has(data.views[view].class[i]);
  const margin = 14;
  const px = i => margin + (canvas.clientWidth - 2 * margin) * (data.x[i] / 10000 - left) * scale;
  const py = i => margin + (canvas.clientHeight - 2 * margin) * (data.y[i] / 10000 - top) * scale;

  // The shapes are those of the pictures: disc, square, triangle, diamond, of about the same area.
  function shape(g, k, x, y, r) {
    g.beginPath();
    switch (k % 4) {
    case 0: g.arc(x, y, r, 0, 7); break;
    case 1: r *= 0.9; g.rect(x - r, y - r, 2 * r, 2 * r); break;
    case 2: r *= 1.2; g.moveTo(x, y - r); g.lineTo(x - r, y + 0.8 * r); g.lineTo(x + r, y + 0.8 * r); break;
    default: r *= 1.25; g.moveTo(x, y - r); g.lineTo(x - r, y); g.lineTo(x, y + r); g.lineTo(x + r, y);
    }
    g.closePath();
  }
  function draw() {
    const w = canvas.clientWidth, h = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!w || !h) return;
    if (canvas.width !== Math.round(w * ratio)) canvas.width = Math.round(w * ratio);
    if (canvas.height !== Math.round(h * ratio)) canvas.height = Math.round(h * ratio);
    const g = canvas.getContext("2d"), css = getComputedStyle(document.documentElement);
    const color = name => css.getPropertyValue("--" + name).trim();
    const v = data.views[view], none = color("none"), ink = color("text"), paper = color("page");
    const colors = v.classes.map((_, k) => color(v.scale ? "s" + k : "c" + k % 10));
    const r = Math.max(2.4, Math.min(5, 0.16 * w / Math.sqrt(n))) * Math.min(2, Math.sqrt(scale));
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    const one = (i, size) => {
      const c = v.class[i];
      g.fillStyle = c < 0 ? none : colors[c];
      shape(g, c < 0 || v.scale ? 0 : c, px(i), py(i), c < 0 ? 0.75 * size : size);
      g.fill();
    };
    const ring = (i, size, width, style) => {
      g.beginPath(); g.arc(px(i), py(i), size, 0, 7);
      g.lineWidth = width; g.strokeStyle = style; g.stroke();
    };
    // Of a scale the most conspicuous step lies on top; points without a class lie below.
    const rank = i => v.class[i] < 0 ? -99 : v.scale ? -v.class[i] : 0;
    for (const i of [...order].sort((a, b) => rank(a) - rank(b))) if (visible(i)) one(i, r);
    for (const i of marked) if (visible(i)) { ring(i, r + 2, 3, paper); ring(i, r + 2, 1.3, ink); }
    if (hover >= 0) { one(hover, 1.5 * r); ring(hover, 1.5 * r + 2, 2, ink); }
  }
  function clamp() {
    const room = 1 - 1 / scale;
    left = Math.max(0, Math.min(room, left));
    top = Math.max(0, Math.min(room, top));
  }
  // zoom keeps the place under (x, y) where it is.
  function zoom(f, x, y) {
    const w = canvas.clientWidth - 2 * margin, h = canvas.clientHeight - 2 * margin;
    const u = left + (x - margin) / w / scale, v = top + (y - margin) / h / scale;
    scale = Math.max(1, Math.min(60, scale * f));
    left = u - (x - margin) / w / scale;
    top = v - (y - margin) / h / scale;
    clamp(); draw();
  }
  function move(dx, dy) {
    left -= dx / (canvas.clientWidth - 2 * margin) / scale;
    top -= dy / (canvas.clientHeight - 2 * margin) / scale;
    clamp(); draw();
  }
  function reset() { scale = 1; left = top = 0; draw(); }

  function point(x, y) {
    let best = -1, least = 144;
    for (let i = 0; i < n; i++) {
      if (!visible(i)) continue;
      const d = (px(i) - x) ** 2 + (py(i) - y) ** 2;
      if (d < least) { least = d; best = i; }
    }
    if (best !== hover) { hover = best; draw(); }
    tip.hidden = best < 0;
    if (best < 0) return;
    tip.replaceChildren();
    if (data.names) tip.append(make("b", "", data.names[best]));
    for (const v of data.views) if (!v.scale && v.class[best] >= 0)
      tip.append(make("span", "", v.name + ": " + v.classes[v.class[best]]));
    if (data.notes && data.notes[best]) tip.append(make("span", "", data.notes[best]));
    tip.style.left = Math.max(0, Math.min(px(best) + 12, canvas.clientWidth - tip.offsetWidth)) + "px";
    tip.style.top = Math.max(0, py(best) + 14 + tip.offsetHeight > canvas.clientHeight ?
      py(best) - 14 - tip.offsetHeight : py(best) + 14) + "px";
  }

  let drag = null;
  canvas.addEventListener("pointerdown", e => {
    drag = [e.clientX, e.clientY];
    canvas.setPointerCapture(e.pointerId);
    const at = canvas.getBoundingClientRect();
    point(e.clientX - at.left, e.clientY - at.top);
  });
  canvas.addEventListener("pointermove", e => {
    if (drag && scale > 1) {
      move(e.clientX - drag[0], e.clientY - drag[1]);
      drag = [e.clientX, e.clientY];
    }
    const at = canvas.getBoundingClientRect();
    point(e.clientX - at.left, e.clientY - at.top);
  });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  // A finger leaves after every touch; what it pointed at stays.
  canvas.addEventListener("pointerleave", e => {
    if (e.pointerType === "touch") return;
    hover = -1; tip.hidden = true; draw();
  });
  canvas.addEventListener("dblclick", e => zoom(e.shiftKey ? 0.5 : 2, e.offsetX, e.offsetY));
  // The wheel scrolls the page, unless the map has the focus or Ctrl is held.
  canvas.addEventListener("wheel", e => {
    if (!e.ctrlKey && document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
  }, { passive: false });
  canvas.addEventListener("keydown", e => {
    const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[e.key];
    if (e.key === "+") zoom(1.6, canvas.clientWidth / 2, canvas.clientHeight / 2);
    else if (e.key === "-") zoom(1 / 1.6, canvas.clientWidth / 2, canvas.clientHeight / 2);
    else if (e.key === "0" || e.key === "Escape") reset();
    else if (step && scale > 1) move(...step);
    else return;
    e.preventDefault();
  });
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  show(0);
}
