"use strict";
// Search without a server: the index is a script with all passages, loaded when the box is first used.
(() => {
  const root = document.currentScript.dataset.root;
  const box = document.getElementById("search"), list = document.getElementById("found");
  const most = 20;
  let loading = null, passages = null, at = -1;

  function load() {
    if (loading) return loading;
    loading = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root + "assets/search.js";
      script.onload = () => {
        // Small letters once, not at every key.
        passages = window.passages.map(([page, title, url, text]) =>
          ({ page, title, url, text, low: (page + " " + title + " " + text).toLowerCase(), head: (page + " " + title).toLowerCase() }));
        resolve();
      };
      script.onerror = reject;
      document.head.append(script);
    });
    return loading;
  }

  // The s of plurals counts for nothing.
  const stem = w => w.length > 4 ? w.replace(/s$/, "") : w;

  // Classes, Go and changes name everything once more; texts that people wrote come first.
  function weight(url) {
    if (url.startsWith("reference/go/")) return .3;
    if (url.startsWith("reference/python/") && url.includes("#")) return .5;
    return url.startsWith("design/") ? .5 : 1;
  }

  // A passage counts if it has all words. Words in headings count more than words in texts, and whole names most.
  function score(p, words) {
    let sum = 0;
    const title = p.title.toLowerCase(), whole = words.join(" ");
    for (const word of words) {
      const w = stem(word);
      if (!p.low.includes(w)) return 0;
      if (title.startsWith(w)) sum += 25;
      else if (title.includes(w)) sum += 15;
      else if (p.head.includes(w)) sum += 8;
      sum += Math.min(6, p.low.split(w).length - 1);
    }
    if (title === whole || title === "bigfit " + whole || stem(title) === stem(whole)) sum += 60;
    else if (title.includes(stem(whole))) sum += 20;
    else if (p.low.includes(stem(whole))) sum += 8;
    return sum * weight(p.url);
  }

  function snippet(p, words) {
    const low = p.text.toLowerCase();
    const first = Math.min(...words.map(w => low.indexOf(stem(w))).filter(i => i >= 0));
    const from = Number.isFinite(first) ? Math.max(0, first - 30) : 0;
    return (from > 0 ? "… " : "") + p.text.slice(from, from + 120);
  }

  function show() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.hidden = words.length === 0;
    at = -1;
    if (list.hidden || !passages) return;
    const hits = passages.map(p => [score(p, words), p]).filter(h => h[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, most);
    list.replaceChildren(...hits.map(([, p]) => {
      const item = document.createElement("li"), a = document.createElement("a");
      const title = document.createElement("strong"), text = document.createElement("small");
      a.href = root + p.url;
      title.textContent = p.title;
      text.textContent = snippet(p, words);
      a.append(title);
      if (p.page !== p.title) {
        const where = document.createElement("span");
        where.className = "where";
        where.textContent = p.page;
        a.append(where);
      }
      a.append(text);
      item.append(a);
      return item;
    }));
    if (hits.length === 0) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = "Nothing has all of these words.";
      list.append(none);
    }
  }

  function move(step) {
    const links = list.querySelectorAll("a");
    if (links.length === 0) return;
    at = (at + step + links.length) % links.length;
    links.forEach((a, k) => a.classList.toggle("at", k === at));
    links[at].scrollIntoView({ block: "nearest" });
  }

  box.addEventListener("focus", () => load().then(show));
  box.addEventListener("input", () => load().then(show));
  box.addEventListener("keydown", e => {
    if (e.key === "ArrowDown") { move(1); e.preventDefault(); }
    else if (e.key === "ArrowUp") { move(-1); e.preventDefault(); }
    else if (e.key === "Escape") { list.hidden = true; box.blur(); }
    else if (e.key === "Enter") {
      const links = list.querySelectorAll("a");
      if (links.length > 0) location.href = links[Math.max(at, 0)].href;
    }
  });
  document.addEventListener("click", e => { if (!e.target.closest(".search")) list.hidden = true; });
  document.addEventListener("keydown", e => {
    if (e.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) { box.focus(); e.preventDefault(); }
  });

  // The menu of narrow windows.
  const menu = document.querySelector(".menu"), nav = document.getElementById("nav");
  menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(nav.classList.toggle("open"))));
  const here = nav.querySelector("[aria-current]");
  if (here && nav.scrollHeight > nav.clientHeight) nav.scrollTop = here.offsetTop - nav.clientHeight / 3;

  for (const h of document.querySelectorAll("article :is(h2,h3,h4)[id]")) {
    const a = document.createElement("a");
    a.className = "anchor";
    a.href = "#" + h.id;
    a.textContent = "#";
    a.setAttribute("aria-label", "Link to this heading");
    h.append(a);
  }
  for (const pre of document.querySelectorAll("article pre:has(> code:is(.language-sh, .language-python, .language-go))")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(pre.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    pre.append(button);
  }
  // Cells with sentences get room, so that a table does not become a column of single words.
  for (const td of document.querySelectorAll("article td")) if (td.textContent.length > 60) td.classList.add("words");
})();
