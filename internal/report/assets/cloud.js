"use strict";
// Draws every canvas with data-points as a cloud of points that can be turned.
// A point is seven bytes: x, y, z as little-endian 16-bit fractions, a class.
(function () {
  var still = matchMedia("(prefers-reduced-motion: reduce)");
  var dark = matchMedia("(prefers-color-scheme: dark)");

  function setUp(canvas) {
    var raw = Uint8Array.from(atob(canvas.dataset.points), function (c) { return c.charCodeAt(0); });
    var names = JSON.parse(canvas.dataset.names);
    var axes = JSON.parse(canvas.dataset.axes);
    var n = raw.length / 7;
    var xyz = new Float32Array(3 * n), cls = new Uint8Array(n);
    for (var i = 0; i < n; i++) {
      for (var k = 0; k < 3; k++) {
        xyz[3 * i + k] = (raw[7 * i + 2 * k] + 256 * raw[7 * i + 2 * k + 1]) / 32767.5 - 1;
      }
      cls[i] = raw[7 * i + 6];
    }

    // Where the names stand: at the means of the classes.
    var means = names.map(function () { return [0, 0, 0, 0]; });
    for (i = 0; i < n; i++) {
      var m = means[cls[i]];
      if (m) { for (k = 0; k < 3; k++) m[k] += xyz[3 * i + k]; m[3]++; }
    }

    var yaw = 0.6, pitch = 0.35, spinning = !still.matches, visible = true, queued = false, before = 0;
    var sprites, width, height, ctx = canvas.getContext("2d");
    var px = new Float32Array(n), py = new Float32Array(n), bin = new Uint8Array(n), order = new Uint32Array(n);
    var bins = 128;

    function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

    // One little picture per class: a disc, or a square for the second ten.
    function paint() {
      var scale = Math.min(2, window.devicePixelRatio || 1);
      width = canvas.clientWidth; height = canvas.clientHeight;
      canvas.width = width * scale; canvas.height = height * scale;
      ctx.setTransform(scale, 0, 0, scale, 0, 0);
      var size = Math.max(3, Math.min(8, 280 / Math.sqrt(n + 1))) * Math.min(1, width / 500 + 0.3);
      sprites = [];
      for (var c = 0; c <= 20; c++) {
        var s = document.createElement("canvas"), g = s.getContext("2d");
        s.width = s.height = Math.ceil(size * scale);
        s.size = size;
        g.fillStyle = c === 20 ? css("--none") : css("--c" + c % 10);
        g.beginPath();
        if (c >= 10 && c < 20) g.rect(0, 0, s.width, s.height);
        else g.arc(s.width / 2, s.width / 2, s.width / 2, 0, 7);
        g.fill();
        sprites.push(s);
      }
      draw();
    }

    function draw() {
      var cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
      var r = Math.min(width / 3.2, height / 3.4);
      function project(x, y, z) { // to pixels and depth in about -1.8 … 1.8, positive in front
        var a = x * cy - y * sy, b = x * sy + y * cy;
        var d = z * sp - b * cp, f = r * (1 + 0.09 * d);
        return [width / 2 + a * f, height / 2 - (z * cp + b * sp) * f, d];
      }
      ctx.clearRect(0, 0, width, height);

      // The box.
      ctx.globalAlpha = 1; ctx.strokeStyle = css("--line"); ctx.lineWidth = 1; ctx.beginPath();
      var middles = [[], [], []];
      for (var k = 0; k < 3; k++) for (var u = -1; u < 2; u += 2) for (var v = -1; v < 2; v += 2) {
        var e = [u, v], m = [1.13 * u, 1.13 * v];
        e.splice(k, 0, -1); m.splice(k, 0, 0);
        var p = project(e[0], e[1], e[2]); e[k] = 1;
        var q = project(e[0], e[1], e[2]);
        ctx.moveTo(p[0], p[1]); ctx.lineTo(q[0], q[1]);
        middles[k].push(project(m[0], m[1], m[2]));
      }
      ctx.stroke();

      // The points from back to front, by a counting sort on depth.
      var start = new Uint32Array(bins + 1), i, b;
      for (i = 0; i < n; i++) {
        var x = xyz[3 * i], y = xyz[3 * i + 1], z = xyz[3 * i + 2];
        var bb = x * sy + y * cy, d = z * sp - bb * cp, f = r * (1 + 0.09 * d);
        px[i] = width / 2 + (x * cy - y * sy) * f;
        py[i] = height / 2 - (z * cp + bb * sp) * f;
        bin[i] = b = Math.max(0, Math.min(bins - 1, Math.floor((d + 1.8) / 3.6 * bins)));
        start[b + 1]++;
      }
      for (b = 0; b < bins; b++) start[b + 1] += start[b];
      for (i = 0; i < n; i++) order[start[bin[i]]++] = i;
      for (var j = 0; j < n; j++) {
        i = order[j];
        var s = sprites[cls[i] === 255 ? 20 : cls[i] % 20], w = s.size * (0.65 + 0.7 * bin[i] / bins);
        ctx.globalAlpha = 0.45 + 0.5 * bin[i] / bins;
        ctx.drawImage(s, px[i] - w / 2, py[i] - w / 2, w, w);
      }

      // The names of the axes: the third at the edge of the box farthest to
      // the left, the others at the lowest edges.
      function text(words, x, y) { ctx.strokeText(words, x, y); ctx.fillText(words, x, y); }
      ctx.globalAlpha = 1; ctx.lineWidth = 4; ctx.lineJoin = "round";
      ctx.textAlign = "center"; ctx.textBaseline = "middle";
      ctx.strokeStyle = css("--page"); ctx.fillStyle = css("--soft");
      ctx.font = "13px system-ui, sans-serif";
      middles.forEach(function (at, k) {
        at.sort(k === 2 ? function (p, q) { return p[0] - q[0]; } : function (p, q) { return q[1] - p[1]; });
        var half = ctx.measureText(axes[k]).width / 2 + 2;
        text(axes[k], Math.max(half, Math.min(width - half, at[0][0])), Math.max(10, Math.min(height - 10, at[0][1])));
      });

      // The names of the classes.
      ctx.font = "bold 16px system-ui, sans-serif"; ctx.fillStyle = css("--text");
      names.forEach(function (name, c) {
        var m = means[c];
        if (!m[3]) return;
        var p = project(m[0] / m[3], m[1] / m[3], m[2] / m[3]);
        text(name, p[0], p[1]);
      });
    }

    function frame(now) {
      queued = false;
      if (spinning) yaw += Math.min(50, now - before) * 0.00022;
      before = now;
      draw();
      if (spinning && visible) later();
    }
    function later() { if (!queued) { queued = true; requestAnimationFrame(frame); } }

    var button = canvas.parentNode.querySelector("button");
    function spin(on) { spinning = on; button.textContent = on ? "Pause" : "Rotate"; later(); }
    button.hidden = false;
    button.addEventListener("click", function () { spin(!spinning); });
    still.addEventListener("change", function () { if (still.matches) spin(false); });
    dark.addEventListener("change", paint);

    function turn(dx, dy) {
      yaw += dx; pitch = Math.max(-1.55, Math.min(1.55, pitch + dy));
      if (spinning) spin(false);
      later();
    }
    var from = null;
    canvas.addEventListener("pointerdown", function (e) {
      from = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); spin(false);
    });
    canvas.addEventListener("pointermove", function (e) {
      if (!from) return;
      turn((e.clientX - from[0]) * 0.008, (e.clientY - from[1]) * 0.008);
      from = [e.clientX, e.clientY];
    });
    ["pointerup", "pointercancel"].forEach(function (t) { canvas.addEventListener(t, function () { from = null; }); });
    canvas.addEventListener("keydown", function (e) {
      var by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key];
      if (by) { e.preventDefault(); turn(by[0], by[1]); }
    });
    if (window.IntersectionObserver) new IntersectionObserver(function (seen) {
      visible = seen[seen.length - 1].isIntersecting;
      if (visible) later();
    }).observe(canvas);
    if (window.ResizeObserver) new ResizeObserver(paint).observe(canvas);
    else window.addEventListener("resize", paint);
    spin(spinning);
    paint();
  }

  document.querySelectorAll("canvas[data-points]").forEach(setUp);
})();
