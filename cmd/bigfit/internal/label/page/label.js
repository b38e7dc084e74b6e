"use strict";

// The page asks the program on this machine for points, and sends the labels. All texts of the data are set as
// text; no HTML is made of them.

const keys = "123456789abcdefghijklmnopqrstuvwxyz";
const $ = id => document.getElementById(id);
const tab = Array.from(crypto.getRandomValues(new Uint8Array(8)), b => b.toString(16).padStart(2, "0")).join("");

let question = null; // that is shown
let state = null; // of the labeling
let busy = false;
let over = false;
let grid = false;
let answers = false; // the answers of the model are shown
let seen = false; // and were, of this question
let since = 0; // when the question was shown
const past = []; // lists of points that were answered
let at = 0; // place in past; past.length is the question of today
const actions = []; // that can be undone

// element makes an element with a class and a text.
function element(name, kind, text) {
  const e = document.createElement(name);
  if (kind) e.className = kind;
  if (text !== undefined) e.textContent = text;
  return e;
}

// svg makes a part of a picture.
function svg(name, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

// call asks the program; a body is sent as JSON.
async function call(path, body) {
  const options = { cache: "no-store" };
  if (body) {
    options.method = "POST";
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The program does not answer: it has ended, or the connection is gone. What was said to be saved is saved; the same command goes on.");
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok || answer === null) throw new Error(answer && answer.error || "The program answered with " + response.status + ".");
  return answer;
}

// doing runs one thing at a time, and shows its error.
async function doing(what) {
  if (busy || over) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    await what();
    $("fault").hidden = true;
  } catch (fault) {
    $("fault").textContent = fault.message;
    $("fault").hidden = false;
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

// part shows one column of a point.
function part(p, alt) {
  switch (p.kind) {
    case "text":
      return element("p", "text", p.text);
    case "image":
    case "pixels": {
      const img = element("img", p.kind);
      img.alt = p.kind === "image" ? p.text : alt;
      img.src = p.src;
      img.addEventListener("error", () => img.replaceWith(element("p", "text", "The picture " + img.alt + " cannot be shown.")));
      return img;
    }
    case "audio": {
      const audio = element("audio");
      audio.controls = true;
      audio.preload = "metadata";
      audio.src = p.src;
      audio.setAttribute("aria-label", p.text);
      return audio;
    }
  }
  const bars = element("div", "bars");
  for (const b of p.bars || []) {
    const width = Math.min(50, Math.abs(b.far) * 16);
    const picture = svg("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" });
    picture.append(svg("rect", { x: b.far < 0 ? 50 - width : 50, y: 2, width: Math.max(width, 0.7), height: 8, fill: "currentColor" }));
    bars.append(element("span", "", b.name), picture, element("span", "value", String(Number(b.value.toPrecision(4)))));
  }
  return bars;
}

// parts fills an element with what is shown of a point.
function parts(e, item) {
  for (const p of item.parts) {
    if (item.parts.length > 1) e.append(element("p", "name", p.name));
    e.append(part(p, "point " + item.id));
  }
  return e;
}

// show puts a question on the page.
function show(q) {
  question = q;
  seen = answers;
  since = performance.now();
  const items = $("items");
  items.replaceChildren();
  $("why").textContent = q.kind === "done" ? "No point is left to ask about." : "Why this: " + q.why;
  if (q.kind === "back") $("why").textContent = "Once more: what is it?";

  if (q.items.length === 1) {
    const one = parts(element("div", "item"), q.items[0]);
    one.append(element("p", "id", q.items[0].id));
    items.append(one);
  } else if (q.items.length > 1) {
    const wide = q.items[0].parts.some(p => p.kind === "text" || p.kind === "chart" || p.kind === "audio");
    const group = element("div", wide ? "group wide" : "group");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Near points; take out those that do not belong to the others");
    for (const item of q.items) {
      const tile = parts(element("button", "tile"), item);
      tile.type = "button";
      tile.setAttribute("aria-pressed", "true");
      tile.setAttribute("aria-label", item.parts.map(p => p.text || "").join(" ").trim() || "point " + item.id);
      tile.addEventListener("click", () => tile.setAttribute("aria-pressed", String(tile.getAttribute("aria-pressed") !== "true")));
      group.append(tile);
    }
    items.append(group);
  }
  showAnswer();
  showClasses();
  // On a phone the buttons are below, and what is asked next is out of sight.
  if ($("question").getBoundingClientRect().top < 0) $("question").scrollIntoView();
}

// showAnswer shows or hides what the model answers, and the labels nearby.
async function showAnswer() {
  $("show").setAttribute("aria-pressed", String(answers));
  const chart = question && question.items.length === 1 && question.items[0].parts.some(p => p.kind === "chart");
  $("answer").hidden = !(answers || chart) || !question || question.items.length !== 1;
  if ($("answer").hidden) return;
  const item = question.items[0];
  let text = "";
  if (answers) {
    seen = true;
    text = item.answer ? "The model answers " + item.answer + " (p = " + item.p.toFixed(2) + "). " : "There is no model yet. ";
  }
  $("answer").textContent = text;
  try {
    const near = await call("near/" + item.point);
    if (question.items[0] !== item) return;
    if (near.length > 0) text += "Labeled nearby: " + near.map(n => n.label + " (" + n.id + ")").join(", ") + ".";
  } catch { /* it is a help only */ }
  $("answer").textContent = text || "Nothing nearby is labeled yet.";
}

// showClasses lists the classes with their keys. Buttons stay where they are, as one of them may just be pressed.
function showClasses() {
  if (!state) return;
  const mine = question && question.items.length === 1 ? question.items[0].mine : "";
  const box = $("classes");
  box.classList.toggle("long", state.classes.some(c => c.name.length > 14));
  while (box.children.length > state.classes.length) box.lastChild.remove();
  state.classes.forEach((c, k) => {
    let b = box.children[k];
    if (!b) {
      b = element("button");
      b.type = "button";
      if (k < keys.length) b.append(element("kbd", "", keys[k]));
      b.append(element("span", "label"), element("span", "count"));
      b.addEventListener("click", event => {
        if (event.detail > 0) b.blur();
        label(state.classes[k].name);
      });
      box.append(b);
    }
    b.className = c.name === mine ? "class mine" : "class";
    b.title = c.name;
    b.querySelector(".label").textContent = c.name;
    b.querySelector(".count").textContent = String(c.labels);
    b.setAttribute("aria-label", c.name + ", " + c.labels + (c.labels === 1 ? " label" : " labels") + (k < keys.length ? ", key " + keys[k] : "") + (c.name === mine ? ", its label now" : ""));
  });
  if ($("known").children.length !== state.classes.length) $("known").replaceChildren(...state.classes.map(c => {
    const o = element("option");
    o.value = c.name;
    return o;
  }));
}

// showState shows how far one is.
function showState(s) {
  state = s;
  $("progress").textContent = s.labeled + " of " + s.points + " labeled";
  $("progress").classList.toggle("learning", s.learning);
  let words = s.words;
  if (s.agreement !== null) words += " Agreement of the annotators: α = " + s.agreement.toFixed(2) + ".";
  if (s.fault) words = "The model could not learn: " + s.fault + " The labels are safe.";
  $("words").textContent = words;
  $("words").classList.toggle("enough", s.enough && !s.fault);
  drawCurve(s);
  showClasses();
}

// drawCurve draws the estimated error over the labels, with its interval.
function drawCurve(s) {
  const box = $("curve");
  box.replaceChildren();
  box.style.display = s.curve.length > 1 ? "" : "none";
  if (s.curve.length < 2) return;
  const left = 38, right = 310, top = 10, bottom = 122;
  const first = s.curve[0].labels, last = s.curve[s.curve.length - 1].labels;
  const most = Math.max(s.target * 1.3, ...s.curve.map(e => Math.min(e.high, 2 * e.error + 0.1)));
  const x = v => left + (right - left) * (v - first) / Math.max(1, last - first);
  const y = v => bottom - (bottom - top) * Math.min(1, v / most);
  const points = list => list.map(p => p[0].toFixed(1) + "," + p[1].toFixed(1)).join(" ");
  const high = s.curve.map(e => [x(e.labels), y(e.high)]);
  const low = s.curve.map(e => [x(e.labels), y(e.low)]);
  const tip = s.curve[s.curve.length - 1];
  box.append(
    svg("polygon", { class: "band", points: points(high.concat(low.reverse())) }),
    svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    svg("line", { class: "target", x1: left, x2: right, y1: y(s.target), y2: y(s.target) }),
    svg("polyline", { class: "line", points: points(s.curve.map(e => [x(e.labels), y(e.error)])) }),
    svg("circle", { class: "dot", cx: x(tip.labels), cy: y(tip.error), r: 3.5 }),
    svg("text", { x: left, y: bottom + 14 }, String(first)),
    svg("text", { x: right, y: bottom + 14, "text-anchor": "end" }, String(last)),
    svg("text", { x: (left + right) / 2, y: bottom + 25, "text-anchor": "middle" }, "labels"),
    svg("text", { x: left - 4, y: top + 8, "text-anchor": "end" }, (100 * most).toFixed(0) + " %"),
    svg("text", { x: left - 4, y: y(s.target) + 4, "text-anchor": "end" }, (100 * s.target).toFixed(0) + " %"));
  if (y(s.target) < bottom - 14) box.append(svg("text", { x: left - 4, y: bottom + 4, "text-anchor": "end" }, "0"));
}

// chosenPoints are the points of the question that were not taken out.
function chosenPoints() {
  const tiles = [...document.querySelectorAll(".tile")];
  return question.items.filter((_, k) => tiles.length === 0 || tiles[k].getAttribute("aria-pressed") === "true").map(i => i.point);
}

// label gives the points of the question a class; an empty one with what is "skip" or "unsure".
function label(name, what) {
  if (!question || question.kind === "done") return;
  const points = name === "" ? question.items.map(i => i.point) : chosenPoints();
  if (points.length === 0) {
    $("said").textContent = "All points were taken out; take one in, or skip.";
    return;
  }
  doing(async () => {
    const answer = await call("label", { tab, grid, points, label: name, kind: what || question.kind, answer: seen,
      seconds: (performance.now() - since) / 1000 });
    past.push(points);
    at = past.length;
    actions.push(answer.action);
    showState(answer.state);
    const count = points.length === 1 ? "" : points.length + " points: ";
    $("said").textContent = name === "" ? (what === "unsure" ? "Noted as unsure." : "Skipped.") : "Saved: " + count + name + ".";
    show(answer.next);
  });
}

// next asks for the next question.
const next = fresh => doing(async () => {
  const answer = await call("next?tab=" + tab + "&grid=" + (grid ? 1 : 0) + (fresh ? "&fresh=1" : ""));
  showState(answer.state);
  show(answer.next);
});

// go shows what was answered before, or goes on.
function go(step) {
  const to = at + step;
  if (to < 0 || to > past.length) return;
  if (to === past.length) {
    at = to;
    next();
    return;
  }
  doing(async () => {
    show((await call("points?i=" + past[to].join(","))).next);
    at = to;
  });
}

const undo = () => doing(async () => {
  const answer = await call("undo", { tab, action: actions.length > 0 ? actions[actions.length - 1] : 0 });
  actions.pop();
  past.pop();
  at = past.length;
  showState(answer.state);
  show(answer.next);
  $("said").textContent = "Undone.";
});

let sure = false;
function finish() {
  if (!sure) {
    sure = true;
    $("finish").textContent = "Finish now?";
    $("said").textContent = "Finish ends the program, which then makes the model. Press it again.";
    setTimeout(() => {
      sure = false;
      if (!over) $("finish").textContent = "Finish";
    }, 6000);
    return;
  }
  doing(async () => {
    await call("finish", {});
    over = true;
    $("finish").textContent = "Finished";
    $("finish").disabled = true;
    $("items").replaceChildren();
    $("answer").hidden = true;
    $("why").textContent = "Finished: " + state.labeled + " points are labeled. The program makes the model now; the terminal tells where it is.";
    $("said").textContent = "";
    for (const b of document.querySelectorAll("#labels button, #labels input")) b.disabled = true;
  });
}

function turn(on) {
  grid = on;
  $("grid").setAttribute("aria-pressed", String(grid));
  next(true);
}

// move marks another point of a group.
function move(step) {
  const tiles = [...document.querySelectorAll(".tile")];
  const now = tiles.indexOf(document.activeElement);
  const to = now < 0 ? 0 : Math.max(0, Math.min(tiles.length - 1, now + step));
  tiles[to].focus();
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (target === $("name")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const tiles = document.querySelector(".tile");
  const onButton = target instanceof HTMLButtonElement || target.tagName === "SUMMARY" || target.tagName === "AUDIO";
  const k = keys.indexOf(event.key.toLowerCase());
  let used = true;
  if (event.key.length === 1 && k >= 0) {
    if (!event.repeat && state && state.classes[k]) label(state.classes[k].name);
  } else switch (event.key) {
    case " ":
      if (onButton) return;
      if (tiles) move(0); else if (!event.repeat) label("", "skip");
      break;
    case "-": if (!event.repeat) label("", "skip"); break;
    case "0": if (!event.repeat) label("", "unsure"); break;
    case "Backspace": if (!event.repeat) undo(); break;
    case "ArrowLeft": tiles ? move(-1) : go(-1); break;
    case "ArrowRight": tiles ? move(1) : go(1); break;
    case "ArrowUp": if (!tiles) return; move(-columns()); break;
    case "ArrowDown": if (!tiles) return; move(columns()); break;
    case ",": turn(!grid); break;
    case ".": answers = !answers; showAnswer(); break;
    case "Enter":
      if (onButton) return;
      $("name").focus();
      break;
    default: used = false;
  }
  if (used) event.preventDefault();
});

// columns is how many tiles stand in a row.
function columns() {
  const tiles = [...document.querySelectorAll(".tile")];
  return Math.max(1, tiles.filter(t => t.offsetTop === tiles[0].offsetTop).length);
}

// A button that was clicked by a pointer gives the keyboard back to the page.
function press(id, what) {
  $(id).addEventListener("click", event => {
    if (event.detail > 0) $(id).blur();
    what();
  });
}
press("skip", () => label("", "skip"));
press("unsure", () => label("", "unsure"));
press("undo", undo);
press("back", () => go(-1));
press("grid", () => turn(!grid));
press("show", () => {
  answers = !answers;
  showAnswer();
});
press("finish", finish);
$("new").addEventListener("submit", event => {
  event.preventDefault();
  const name = $("name").value.trim();
  if (name === "") return;
  $("name").value = "";
  $("name").blur();
  label(name);
});

// The state moves on while one looks: the model learns, and others label.
async function follow() {
  if (over) return;
  if (!busy && !document.hidden) {
    try {
      const s = await call("state");
      if (!busy && !over) showState(s);
    } catch { /* the next label says so */ }
  }
  setTimeout(follow, state && state.learning ? 700 : 5000);
}
next().then(follow);
