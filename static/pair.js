// Compares any two arms of a suite in the browser with the program's formulas. The statistics come first and need no page.
var evalreportPairs = (function () {
  "use strict";

  // Smallest positive number with full precision. Smaller terms change no sum.
  var SMALLEST = 2.2250738585072014e-308;
  // Closer shares are equal: a mean of thirds has rounding errors.
  var SAME = 1e-12;

  // McNemar's exact test: lower tail of a fair coin. Ratios from the middle outwards avoid large factorials.
  function mcnemar(onlyA, onlyB) {
    var tosses = onlyA + onlyB, fewer = Math.min(onlyA, onlyB), middle = Math.floor(tosses / 2);
    var weights = [1], first = middle, weight = 1;
    while (first > 0) {
      weight *= first / (tosses - first + 1);
      if (weight < SMALLEST) break;
      weights.push(weight);
      first -= 1;
    }
    weights.reverse();
    var half = weights.reduce(function (sum, one) { return sum + one; }, 0);
    var total = tosses % 2 === 0 ? 2 * half - 1 : 2 * half;
    var place = fewer - first, atMost = 0;
    if (place >= 0) for (var at = 0; at <= place; at += 1) atMost += weights[at];
    return Math.min(Math.max(2 * (atMost / total), SMALLEST), 1);
  }

  // Tango's score interval for the difference of two proportions on the same items.
  function score(won, lost, total, difference) {
    var a = 2 * total;
    var b = (2 * total - won + lost) * difference - won - lost;
    var c = -lost * difference * (1 - difference);
    var root = Math.sqrt(Math.max(b * b - 4 * a * c, 0));
    var onlyB = b > 0 ? -2 * c / (root + b) : (root - b) / (2 * a);
    var variance = total * (2 * onlyB + difference * (1 - difference));
    var distance = won - lost - total * difference;
    if (variance > 0) return distance / Math.sqrt(variance);
    return distance === 0 ? 0 : distance > 0 ? Infinity : -Infinity;
  }
  function scoreEnd(won, lost, total, z) {
    var low = (won - lost) / total, high = 1;
    while (low < high) {
      var middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      if (score(won, lost, total, middle) > -z) low = middle; else high = middle;
    }
    return Math.min(high, 1);
  }
  function tango(won, lost, total, z) {
    return { low: 0 - scoreEnd(lost, won, total, z), high: scoreEnd(won, lost, total, z) };
  }

  // Newcombe's interval for the difference of two independent proportions, from both Wilson intervals.
  function wilson(passed, total, z) {
    var share = passed / total, spread = z * z / total;
    var centre = (share + spread / 2) / (1 + spread);
    var half = z / (1 + spread) * Math.sqrt(share * (1 - share) / total + spread / (4 * total));
    return { share: share, low: share <= 0 ? 0 : Math.min(Math.max(centre - half, 0), share), high: share >= 1 ? 1 : Math.max(Math.min(centre + half, 1), share) };
  }
  function newcombe(one, other, z) {
    var a = wilson(one[0], one[1], z), b = wilson(other[0], other[1], z), difference = a.share - b.share;
    function reach(left, right) { return Math.sqrt(left * left + right * right); }
    return {
      low: Math.max(difference - reach(a.share - a.low, b.high - b.share), -1),
      high: Math.min(difference + reach(a.high - a.share, b.share - b.low), 1)
    };
  }

  // Fisher's exact test: sums all tables with equal margins that are not more likely, by ratios from the likeliest.
  function fisher(one, other) {
    var passed = one[0] + other[0], lowest = Math.max(passed - other[1], 0), highest = Math.min(passed, one[1]);
    var middle = Math.min(Math.max(Math.floor((passed + 1) * (one[1] + 1) / (one[1] + other[1] + 2)), lowest), highest);
    function up(at) { return (one[1] - at) * (passed - at) / ((at + 1) * (other[1] + at + 1 - passed)); }
    var weights = [[middle, 1]], weight = 1, at;
    for (at = middle; at < highest && (weight *= up(at)) >= SMALLEST; at += 1) weights.push([at + 1, weight]);
    for (weight = 1, at = middle - 1; at >= lowest && (weight /= up(at)) >= SMALLEST; at -= 1) weights.push([at, weight]);
    var observed = 0, all = 0, extreme = 0;
    weights.forEach(function (row) { if (row[0] === one[0]) observed = row[1]; });
    weights.forEach(function (row) {
      all += row[1];
      if (row[1] <= observed * (1 + 1e-7)) extreme += row[1];
    });
    return Math.min(Math.max(extreme / all, SMALLEST), 1);
  }

  // Returns a function from arm and column to [passed, counted].
  function decode(table) {
    var text = atob(table.bits), width = table.width;
    if (width === 2) {
      var codes = [[0, 0], [0, 1], [1, 1], [0, 0]];
      return function (arm, column) {
        var at = arm * table.columns + column;
        return codes[(text.charCodeAt(at >> 2) >> (2 * (at & 3))) & 3];
      };
    }
    var bytes = width / 8;
    function number(at) {
      var low = text.charCodeAt(at * bytes);
      return bytes === 1 ? low : low + 256 * text.charCodeAt(at * bytes + 1);
    }
    return function (arm, column) {
      var at = 2 * (arm * table.columns + column), counted = number(at + 1);
      return [counted ? number(at) : 0, counted];
    };
  }

  function placeOfPair(table, a, b) {
    var first = Math.min(a, b), second = Math.max(a, b), arms = table.arms.length;
    return first * (2 * arms - first - 1) / 2 + second - first - 1;
  }

  // Compares two arms on the items that both have, without items whose texts differ.
  function compare(table, cell, a, b) {
    var texts = new Map(table.texts.map(function (row) { return [row[0], row[1]]; }));
    function isOther(column) {
      var codes = texts.get(column);
      return codes && table.tools[a] === table.tools[b] && codes[a] && codes[b] && codes[a] !== codes[b];
    }
    var found = { shared: 0, both: 0, neither: 0, onlyA: [], onlyB: [], isBinary: true, changed: 0 }, sums = [0, 0];
    // By the rates of an item: of single outcomes, a higher rate means that only that arm passed. Names and answers are by item, too:
    // an item with several evaluators has several columns.
    function item(columns, place) {
      var rates = [0, 0], used = 0;
      columns.forEach(function (column) {
        var one = cell(a, column), other = cell(b, column);
        if (!one[1] || !other[1]) return;
        if (isOther(column)) { found.changed += 1; return; }
        used += 1;
        rates = [rates[0] + one[0] / one[1], rates[1] + other[0] / other[1]];
        if (one[1] !== 1 || other[1] !== 1) found.isBinary = false;
      });
      if (!used) return;
      found.shared += 1;
      sums = [sums[0] + rates[0] / used, sums[1] + rates[1] / used];
      if (used > 1) found.isBinary = false;
      var ahead = (rates[0] - rates[1]) / used;
      if (ahead > SAME) found.onlyA.push(place);
      else if (ahead < -SAME) found.onlyB.push(place);
      else if (rates[0] / used > 0.5 + SAME) found.both += 1;
      else found.neither += 1;
    }
    if (table.items.length) table.items.forEach(item);
    else for (var column = 0; column < table.columns; column += 1) item([column], column);
    var place = placeOfPair(table, a, b);
    found.way = table.ways.charAt(place);
    // The verdict's letter, with the arm ahead as seen here.
    var letter = (table.verdicts || "").charAt(place), side = letter ? "afbg".indexOf(letter) : -1;
    found.verdict = side < 0 ? letter : side % 2 ? "f" : "w";
    if (side >= 0) found.ahead = (side > 1) !== (a > b) ? 1 : 0;
    found.sign = table.signs && table.signs[letter];
    if (found.shared) found.rates = [sums[0] / found.shared, sums[1] / found.shared];
    if (table.totals) {
      var one = table.totals[a], other = table.totals[b];
      found.totals = [one, other];
      if (one[1] && other[1]) found.rates = [one[0] / one[1], other[0] / other[1]];
      found.shared = Math.min(one[1], other[1]);
      if (found.way === "c") {
        found.difference = one[0] / one[1] - other[0] / other[1];
        found.interval = newcombe(one, other, table.z);
        found.p = fisher(one, other);
      }
    }
    if (found.way === "x") {
      table.reasons.forEach(function (reason) { if (reason[0] <= place) found.reason = reason[1]; });
    }
    // Other methods take more than outcomes: their figures are the program's.
    if (found.way === "o") {
      var known = table.figures[table.ways.slice(0, place).split("o").length - 1];
      if (known) {
        var sign = a < b ? 1 : -1, ends = [known[1], known[2]];
        if (known[0] !== null) found.difference = sign * known[0] + 0;
        if (ends[0] !== null) found.interval = sign > 0 ? { low: ends[0], high: ends[1] } : { low: 0 - ends[1], high: 0 - ends[0] };
        if (known[3] !== null) found.p = known[3];
        found.method = table.methods[known[4]];
      }
    }
    if (found.way === "m" && found.isBinary && found.shared) {
      found.difference = (found.onlyA.length - found.onlyB.length) / found.shared;
      found.interval = tango(found.onlyA.length, found.onlyB.length, found.shared, table.z);
      found.p = mcnemar(found.onlyA.length, found.onlyB.length);
    }
    // The interval reaches no difference if the test does not reject that.
    if (found.interval && found.p >= table.alpha) {
      found.interval = { low: Math.min(0, found.interval.low), high: Math.max(0, found.interval.high) };
    }
    // Rates over runs may have other weights than those over items: only rates that make the difference stand beside it.
    if (found.rates && !(Math.abs(found.rates[0] - found.rates[1] - found.difference) < 1e-6)) found.rates = undefined;
    if (found.ahead === undefined) found.ahead = found.difference < 0 ? 1 : 0;
    return found;
  }

  // Columns of differences from a pinned baseline: table rows have the arms, and a part of the site's data the outcomes.
  function pinned(shard, cell, base, arm) {
    var a = shard.arms.findIndex(function (row) { return row[0] === arm; }), b = shard.arms.findIndex(function (row) { return row[0] === base; });
    return a < 0 || b < 0 || a === b ? null : compare(shard, cell, a, b);
  }

  return { pinned: pinned, mcnemar: mcnemar, tango: tango, newcombe: newcombe, fisher: fisher, decode: decode, compare: compare };
})();

(function () {
  "use strict";
  var box = typeof document === "undefined" ? null : document.getElementById("any");
  if (!box || !window.evalreport) return;
  var MOST_ROWS = 400;
  var paths = box.getAttribute("data-parts").split(" ");
  var table = null, cell = null, names = null, answers = null;

  function make(name, attributes, text) {
    var made = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function draw(name, attributes, text) {
    var made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.keys(attributes).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function named(text) { return make("bdi", {}, text); }
  function number(value) { return value.toLocaleString("en-US"); }
  function places(n) { return n < 100 ? 0 : n < 10000 ? 1 : 2; }
  // Adds decimals rather than show a signed zero.
  function points(share, n) {
    var value = Math.abs(share * 100), decimals = places(n);
    while (value > 0 && decimals < 6 && Number(value.toFixed(decimals)) === 0) decimals += 1;
    return (share < 0 ? "−" : share > 0 ? "+" : "") + value.toFixed(decimals);
  }
  // Never rounds to 0% or 100%.
  function percent(share, n) {
    var decimals = places(n);
    function is(end) { return Number((100 * share).toFixed(decimals)) === end; }
    while (share > 0 && share < 1 && decimals < 6 && (is(0) || is(100))) decimals += 1;
    return (100 * share).toFixed(decimals) + "%";
  }
  function chance(p) {
    if (p < 0.001) return "p < 0.001";
    if (p > 0.99) return "p > 0.99";
    return "p = " + p.toFixed(p < 0.01 ? 4 : p < 0.1 ? 3 : 2);
  }
  function one(count, many) {
    if (count !== 1) return many;
    return many === "criteria" ? "criterion" : many.replace(/s$/, "");
  }

  function armOf(key) {
    var wanted = new URLSearchParams(location.search).get(key);
    var place = table.arms.findIndex(function (arm) { return arm[0] === wanted; });
    return place;
  }
  function base() {
    var found = /(?:^|[#&])base=([^&]*)/.exec(location.hash);
    return found ? table.arms.findIndex(function (arm) { return arm[0] === decodeURIComponent(found[1]); }) : -1;
  }

  var shown = make("div");
  var selects = [];
  function choose() {
    var form = make("div", { "class": "choose" });
    ["First arm", "Second arm"].forEach(function (words, which) {
      var label = make("label", {}, words);
      var select = make("select", { id: which ? "any-b" : "any-a" });
      table.arms.forEach(function (arm) { select.appendChild(make("option", { value: arm[0] }, arm[1])); });
      label.appendChild(select);
      form.appendChild(label);
      select.addEventListener("change", chosen);
      selects.push(select);
    });
    var swap = make("button", { type: "button" }, "Swap");
    swap.addEventListener("click", function () {
      var first = selects[0].value;
      selects[0].value = selects[1].value;
      selects[1].value = first;
      chosen();
    });
    form.appendChild(swap);
    return form;
  }
  function chosen() {
    var search = "?a=" + encodeURIComponent(selects[0].value) + "&b=" + encodeURIComponent(selects[1].value);
    try { history.replaceState(null, "", location.pathname + search + location.hash); } catch (error) { /* Some browsers refuse on file addresses. */ }
    show();
  }

  // Both arms can lack a colour of their own.
  function tones() {
    var both = selects.map(function (select) { return table.arms[select.selectedIndex][3]; });
    return both[0] === both[1] ? [both[0], "other"] : both;
  }
  function dot(tone) { return make("i", { "class": "tone " + tone }); }
  function link(arm) {
    var made = make("a", { href: box.getAttribute("data-arms") + table.arms[arm][2] });
    made.appendChild(named(table.arms[arm][1]));
    return made;
  }

  // Returns the largest of 1, 2, 2.5 and 5 times a power of ten up to a number.
  function roundStep(most) {
    var power = Math.pow(10, Math.floor(Math.log10(most)));
    return [5, 2.5, 2, 1].map(function (digit) { return digit * power; }).find(function (step) { return step <= most * (1 + 1e-9); }) || power;
  }
  // Returns round ends of an axis around some numbers, as the pages of pairs have it.
  function around(numbers) {
    var low = Math.min.apply(null, numbers), high = Math.max.apply(null, numbers);
    var span = high > low ? high - low : 0.1 * Math.max(Math.abs(low), 1);
    low -= 0.06 * span;
    high += 0.06 * span;
    var step = roundStep((high - low) / 4);
    return [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  }
  // Returns evenly spaced round numbers from one end to the other: the fewest steps that give them.
  function ticksOf(low, high) {
    var count = 4, ticks = [];
    for (var tried = 3; tried <= 12; tried += 1) {
      var step = (high - low) / tried;
      if (Math.abs(roundStep(step * (1 + 1e-9)) - step) <= 1e-6 * step) { count = tried; break; }
    }
    for (var at = 0; at <= count; at += 1) ticks.push(low + (high - low) * at / count);
    return ticks;
  }

  // Draws the difference on an axis with zero and the margin, in percent of the width.
  function picture(found, labels) {
    var ends = found.interval ? [found.interval.low, found.interval.high] : [], margin = table.margin || 0;
    var axis = around([0, found.difference, -margin, margin].concat(ends)), low = axis[0], high = axis[1];
    function at(value) { return (100 * (value - low) / (high - low)).toFixed(2) + "%"; }
    function anchor(value) {
      var share = (value - low) / (high - low);
      return share < 0.08 ? "start" : share > 0.92 ? "end" : "middle";
    }
    function signed(value) { return (value > 1e-9 ? "+" : value < -1e-9 ? "\u2212" : "") + Number(Math.abs(100 * value).toFixed(2)); }
    var isClear = ends.length && (ends[0] > 0 || ends[1] < 0), kind = isClear ? "first" : "next";
    var svg = draw("svg", { height: 110, role: "img" });
    svg.appendChild(draw("title", {}, labels[0] + " minus " + labels[1] + ": " + points(found.difference, found.shared) + " pp"));
    if (margin) svg.append(
      draw("rect", { "class": "band", x: at(-margin), y: 18, width: (200 * margin / (high - low)).toFixed(2) + "%", height: 72 }),
      draw("text", { "class": "tick", x: at(0), y: 12, "text-anchor": anchor(0) }, "margin \u00b1" + Number((100 * margin).toFixed(2)) + " pp")
    );
    var ticks = ticksOf(low, high);
    ticks.forEach(function (tick, place) {
      svg.append(
        draw("line", { "class": "grid", x1: at(tick), x2: at(tick), y1: 86, y2: 90 }),
        draw("text", { "class": "tick", x: at(tick), y: 104, "text-anchor": anchor(tick) }, signed(tick) + (place === ticks.length - 1 ? " pp" : ""))
      );
    });
    svg.appendChild(draw("line", { "class": "zero", x1: at(0), x2: at(0), y1: 18, y2: 90 }));
    if (ends.length) svg.appendChild(draw("line", { "class": kind, x1: at(ends[0]), x2: at(ends[1]), y1: 56, y2: 56 }));
    svg.append(
      draw("circle", { "class": kind, cx: at(found.difference), cy: 56, r: 7 }),
      draw("text", { "class": "value", x: at(found.difference), y: 40, "text-anchor": anchor(found.difference) }, points(found.difference, found.shared) + " pp")
    );
    ends.forEach(function (end) {
      svg.appendChild(draw("text", { "class": "tick", x: at(end), y: 78, "text-anchor": anchor(end) }, points(end, found.shared)));
    });
    var whole = make("div", { "class": "gap" }), sides = make("p", { "class": "gap-ends small muted" });
    var left = make("span"), right = make("span");
    left.append("\u2190 ", named(labels[1]), " is better");
    right.append(named(labels[0]), " is better \u2192");
    sides.append(left, right);
    whole.append(svg, sides);
    return whole;
  }

  // The counts as areas: passed and failed, or, by rate, better, equal and worse.
  function areas(found, labels) {
    var svg = draw("svg", { "class": "areas", height: 160, "aria-hidden": "true" }), tone = tones(), of = found.shared;
    var a = found.onlyA.length, b = found.onlyB.length, equal = found.both + found.neither, passed = found.both + a;
    var onlyA = ["only-a " + tone[0], a], onlyB = ["only-b " + tone[1], b];
    var columns = found.isBinary ? [[passed, [["both", found.both], onlyA]], [of - passed, [onlyB, ["neither", found.neither]]]] : [[a, [onlyA]], [equal, [["equal", equal]]], [b, [onlyB]]];
    var left = 0;
    columns.forEach(function (column) {
      var y = 0, width = 100 * column[0] / of;
      column[1].forEach(function (part) {
        if (!part[1]) return;
        var height = 100 * part[1] / column[0];
        svg.appendChild(draw("rect", { "class": part[0], x: left + "%", y: y + "%", width: width + "%", height: height + "%" }));
        if (width >= 8 && height >= 14) {
          svg.appendChild(draw("text", { "class": part[0], x: left + width / 2 + "%", y: y + height / 2 + "%", "text-anchor": "middle", "dominant-baseline": "central" }, number(part[1])));
        }
        y += height;
      });
      left += width;
    });
    var rows = found.isBinary ? [[onlyA[0], "Only ", 0, " passed", a], [onlyB[0], "Only ", 1, " passed", b], ["both", "Both passed", null, "", found.both], ["neither", "Neither passed", null, "", found.neither]]
      : [[onlyA[0], "Higher rate of ", 0, "", a], [onlyB[0], "Higher rate of ", 1, "", b], ["equal", "Equal rates", null, "", equal]];
    var key = make("table", { "class": "fourfold" }), body = make("tbody");
    rows.forEach(function (row) {
      var line = make("tr"), head = make("th", { scope: "row" });
      head.append(dot(row[0]), row[1]);
      if (row[2] !== null) head.append(named(labels[row[2]]), row[3]);
      line.append(head, make("td", { "data-v": "" }, number(row[4])));
      body.appendChild(line);
    });
    key.append(make("caption", { "class": "unseen" }, "Outcomes on shared " + table.word), body);
    var whole = make("div");
    whole.append(svg, key);
    return whole;
  }

  // What both arms answered to an item, side by side.
  function answered(line, item, labels) {
    var told = answers.told.get(item), places = [selects[0].selectedIndex, selects[1].selectedIndex];
    if (!told) return;
    var both = make("div", { "class": "sides" });
    if (answers.expected.has(item)) {
      var wanted = make("p", { "class": "small" }, "Expected: ");
      wanted.appendChild(named(answers.expected.get(item)));
      line.appendChild(wanted);
    }
    places.forEach(function (place, which) {
      var side = make("div", { "class": "side" }), of = told.find(function (row) { return row[0] === place; });
      var head = make("p", { "class": "small" }), name = make("strong");
      name.appendChild(named(labels[which]));
      head.append(name, of && of[1] ? ": " : ": no answer is known", named(of ? of[1] : ""));
      side.appendChild(head);
      if (of && of[2]) {
        var why = make("p", { "class": "small muted" }, "Reason: ");
        why.appendChild(named(of[2]));
        side.appendChild(why);
      }
      both.appendChild(side);
    });
    line.appendChild(both);
  }

  function flips(found, labels) {
    var whole = make("div"), all = [];
    found.onlyA.forEach(function (item) { all.push([item, 0]); });
    found.onlyB.forEach(function (item) { all.push([item, 1]); });
    all.sort(function (left, right) { return left[0] - right[0]; });
    var rest = found.isBinary ? " that only one arm passed" : " with different pass rates";
    whole.appendChild(make("h2", { id: "flips" }, (all.length ? number(all.length) : "No") + " " + one(all.length || 1, table.word) + rest));
    if (!all.length) return whole;
    var chips = make("div", { "class": "chips" }), tools = make("div", { "class": "tools" }), status = make("span", { "class": "muted", role: "status" });
    var label = make("label", { "for": "any-filter" }, "Filter ");
    var filter = make("input", { type: "search", id: "any-filter", autocomplete: "off" });
    tools.append(label, filter, status);
    var list = make("ul", { "class": answers ? "told" : "links" }), which = -1, buttons = [];
    function run() {
      var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), matching = 0;
      list.textContent = "";
      all.forEach(function (flip) {
        if (which >= 0 && flip[1] !== which) return;
        var known = names ? names[flip[0]] : ["item " + (flip[0] + 1), ""], low = known[0].toLowerCase();
        if (!words.every(function (word) { return low.indexOf(word) >= 0; })) return;
        matching += 1;
        if (matching > MOST_ROWS) return;
        var line = make("li"), name = named(known[0].trim() ? known[0] : "(no name)");
        if (known[1]) {
          var item = make("a", { href: box.getAttribute("data-items") + known[1] });
          item.appendChild(name);
          line.appendChild(item);
        } else line.appendChild(name);
        var by = make("span", { "class": "muted small" }, found.isBinary ? " only " : " higher rate of ");
        by.append(named(labels[flip[1]]));
        line.appendChild(by);
        if (answers) answered(line, flip[0], labels);
        list.appendChild(line);
      });
      status.textContent = number(Math.min(matching, MOST_ROWS)) + " of " + number(all.length) + " shown" + (matching > MOST_ROWS ? ": filter to see the others" : "");
      buttons.forEach(function (button, place) { button.setAttribute("aria-pressed", String(place - 1 === which)); });
    }
    var which1 = found.isBinary ? "only " : "higher rate of ";
    [["all", all.length], [which1, found.onlyA.length], [which1, found.onlyB.length]].forEach(function (row, place) {
      var button = make("button", { type: "button", "aria-pressed": "false" }, row[0]);
      if (place) button.appendChild(named(labels[place - 1]));
      button.append(" (" + number(row[1]) + ")");
      button.addEventListener("click", function () { which = place - 1; run(); });
      buttons.push(button);
      chips.appendChild(button);
    });
    filter.addEventListener("input", run);
    run();
    whole.append(chips, tools, list, make("p", { "class": "note small" }, answers && !answers.isCut ? "Item pages have the answers of all arms." : "Item pages have further answers."));
    return whole;
  }

  // The answer in the words of the pages that the program makes: who wins and by how much, or why nobody does.
  function answer(found, labels) {
    var first = named(labels[found.ahead]), second = named(labels[1 - found.ahead]), n = found.shared;
    var rates = found.rates && [found.rates[found.ahead], found.rates[1 - found.ahead]].map(function (rate) { return percent(rate, n); });
    var by = found.difference ? " (" + points(Math.abs(found.difference), n) + " pp)" : "";
    var both = rates ? [": " + rates[0] + " vs " + rates[1] + by] : [" vs ", second, by];
    var each = rates ? [first, " " + rates[0] + ", ", second, " " + rates[1]] : [first, " and ", second];
    var same = [first, " and ", second, " both have " + (rates ? rates[0] : "the same pass rate")];
    switch (found.verdict) {
      case "w": return [first, " wins"].concat(both);
      case "f": return [first, " is ahead in every run"].concat(both);
      case "t": return ["Tie: "].concat(same);
      case "e": return ["Equivalent within " + Number((100 * table.margin).toFixed(2)) + " pp: "].concat(each);
      case "x": return ["Not comparable: ", first, " and ", second];
      case "n": return ["Nothing to compare between ", first, " and ", second];
      default: return ["No winner yet: "].concat(found.difference === 0 ? same : each.concat(by));
    }
  }
  function signed(sign) {
    var made = make("span", { "class": "state " + sign[1] }), svg = draw("svg", { width: 12, height: 12, viewBox: "0 0 12 12", "aria-hidden": "true" });
    svg.appendChild(draw("path", { "fill-rule": "evenodd", d: sign[2] }));
    made.append(svg, sign[0]);
    return made;
  }

  function show() {
    var a = selects[0].selectedIndex, b = selects[1].selectedIndex;
    var heading = document.getElementById("any-answer"), state = document.getElementById("any-state");
    shown.textContent = "";
    state.hidden = true;
    heading.textContent = "";
    if (a === b) {
      heading.append("Any two arms of ", named(table.suite));
      shown.appendChild(make("p", { "class": "empty" }, "Choose two different arms."));
      return;
    }
    var found = evalreportPairs.compare(table, cell, a, b);
    var labels = [table.arms[a][1], table.arms[b][1]], has = found.difference !== undefined && found.way !== "x";
    var lead = make("p", { "class": "muted" });
    lead.append(dot(tones()[0]), link(a), " vs ", dot(tones()[1]), link(b));
    shown.appendChild(lead);
    var page = table.pages.find(function (row) { return (row[0] === a && row[1] === b) || (row[0] === b && row[1] === a); });
    var note = make("p", { "class": "note" });
    if (page) {
      note.append("The program compared this pair. ", make("a", { href: page[2] }, "Its page has the verdict, costs and answers."));
    } else {
      note.append("The verdict is adjusted for all pairs of the suite. The interval and p are of this pair alone, not adjusted: among many pairs some differ by chance.");
    }
    heading.append.apply(heading, answer(found, labels).concat(" on ", named(table.suite)));
    if (found.sign) {
      state.textContent = "";
      state.appendChild(signed(found.sign));
      state.hidden = false;
    }
    if (!found.shared) {
      shown.append(make("p", { "class": "empty" }, "No shared " + table.word + "."), note);
      return;
    }
    if (found.way === "x") {
      note.append(" " + (found.reason ? "Reason: " + found.reason + ". " : "") + "The counts below are of " + (found.totals ? "each arm's runs." : "the " + table.word + " that both have."));
    }
    var said = make("p");
    if (found.totals) {
      labels.forEach(function (label, which) {
        said.append(which ? "; " : "", named(label), " passed " + number(found.totals[which][0]) + " of " + number(found.totals[which][1]) + " " + table.word);
      });
      said.append(". Only counts are known, so the arms cannot be paired item by item.");
    } else if (found.isBinary) {
      said.append("Of " + number(found.shared) + " shared " + one(found.shared, table.word) + ", " + number(found.onlyA.length) + " only ", named(labels[0]), " passed and " + number(found.onlyB.length) + " only ", named(labels[1]), ".");
    } else {
      said.append("Of " + number(found.shared) + " shared " + one(found.shared, table.word) + ", ", named(labels[0]), " has the higher pass rate on " + number(found.onlyA.length) + " and ", named(labels[1]), " on " + number(found.onlyB.length) + ".");
    }
    if (has) {
      var test = found.way === "o" ? found.method : found.totals ? "Fisher's exact test" : "exact McNemar test";
      if (found.interval) said.append(" 95% CI " + points(found.interval.low, found.shared) + " to " + points(found.interval.high, found.shared) + " pp" + (found.way === "o" ? "" : found.totals ? " (Newcombe)" : " (Tango)") + (found.p === undefined ? "." : ","));
      if (found.p !== undefined) said.append(" " + chance(found.p) + (found.interval ? "" : " of this pair") + " (" + test + ", this pair alone, not adjusted).");
      else if (test) said.append(" Method: " + test + ".");
    } else if (found.way === "o") {
      said.append(found.method ? " No difference is known: " + found.method + "." : " The suite has too many pairs for figures of each: evalreport compare has this one.");
    }
    if (found.changed) said.append(" " + number(found.changed) + " more were asked in different texts and are not compared.");
    if (has) shown.appendChild(picture(found, labels));
    var told = make("div"), both = make("div", { "class": "duel" });
    told.append(said, note);
    if (!found.totals) both.appendChild(areas(found, labels));
    both.appendChild(told);
    shown.appendChild(both);
    if (!found.totals) shown.appendChild(flips(found, labels));
    document.title = labels[0] + " vs " + labels[1] + " · " + table.suite;
  }

  window.evalreport.load(paths[0], function (content) {
    table = content;
    cell = evalreportPairs.decode(table);
    var form = choose();
    var a = armOf("a"), b = armOf("b");
    var asked = new URLSearchParams(location.search);
    ["a", "b"].forEach(function (key) {
      // A link may be older than the arm's name.
      if (!asked.get(key) || armOf(key) >= 0) return;
      var note = make("p", { "class": "note", role: "status" });
      note.append("This suite has no arm ", named(asked.get(key)), ". Another one is shown: choose below.");
      box.appendChild(note);
    });
    if (a < 0) a = 0;
    if (b < 0) b = base();
    if (b < 0 || b === a) b = a === 0 ? 1 : 0;
    selects[0].selectedIndex = a;
    selects[1].selectedIndex = b;
    document.getElementById("any-need").hidden = true;
    box.append(form, shown);
    box.hidden = false;
    show();
    window.evalreport.load(paths[1], function (part) { names = part.names; show(); }, function () { /* The list has numbers. */ });
    if (paths[2]) window.evalreport.load(paths[2], function (part) {
      answers = { told: new Map(part.told), expected: new Map(part.expected), isCut: part.is_cut };
      show();
    }, function () { /* The items' pages have them. */ });
  }, function (path) {
    document.getElementById("any-need").textContent = "Could not load " + path + ".";
  });
})();

// The table of all pairs: a cell without a link leads to the page of any two arms.
(function () {
  "use strict";
  var table = typeof document === "undefined" ? null : document.getElementById("all-pairs-table"), any = table && table.getAttribute("data-any");
  if (!any) return;
  var arms = Array.prototype.map.call(table.tBodies[0].rows, function (row) { return row.cells[0].getAttribute("data-tick"); });
  table.classList.add("live");
  table.addEventListener("click", function (event) {
    var cell = event.target.closest("td"), column = -1;
    if (!cell || !cell.textContent || event.target.closest("a")) return;
    for (var before = cell.previousElementSibling; before; before = before.previousElementSibling) column += before.colSpan;
    var a = arms[cell.parentNode.rowIndex - 1], b = arms[column];
    if (a === b) return;
    location.href = any + "?a=" + encodeURIComponent(a) + "&b=" + encodeURIComponent(b) + location.hash;
  });
})();

// Tables of arms: with a pinned baseline, the column of differences is from it. The data are loaded when one is pinned.
(function () {
  "use strict";
  if (typeof document === "undefined" || !window.evalreport) return;
  Array.prototype.forEach.call(document.querySelectorAll("table[data-any]"), function (table) {
    var head = table.querySelector("thead th.gap"), place = /compare\/([^/]+)\/any\.html$/.exec(table.getAttribute("data-any"));
    if (!head || !place) return;
    var shard = null, cell = null, wanted = "", at = Array.prototype.indexOf.call(head.parentNode.cells, head);
    var name = head.querySelector("bdi"), said = name.textContent;
    var rows = Array.prototype.map.call(table.tBodies[0].rows, function (row) {
      var cell = row.cells[at], arm = row.querySelector("[data-tick]");
      return { arm: arm ? arm.getAttribute("data-tick") : "", cell: cell, inside: Array.prototype.slice.call(cell.childNodes), key: cell.getAttribute("data-v"), title: cell.title, kind: cell.className };
    });
    function points(share, of) {
      var value = Math.abs(100 * share), places = of < 100 ? 0 : of < 10000 ? 1 : 2;
      while (value > 0 && places < 6 && Number(value.toFixed(places)) === 0) places += 1;
      return (share < 0 ? "\u2212" : share > 0 ? "+" : "") + value.toFixed(places);
    }
    function put(row, inside, key, title, kind) {
      row.cell.replaceChildren.apply(row.cell, inside);
      row.cell.setAttribute("data-v", key);
      row.cell.title = title;
      row.cell.className = kind;
    }
    function fill() {
      var known = shard && shard.arms.find(function (arm) { return arm[0] === wanted; });
      var pinned = known && table.querySelector("[data-tick=\"" + CSS.escape(wanted) + "\"] bdi");
      name.textContent = known ? "To " + (pinned ? pinned.textContent : known[1]) : said;
      rows.forEach(function (row) {
        if (!known) { put(row, row.inside, row.key, row.title, row.kind); return; }
        if (row.arm === wanted) { put(row, ["baseline"], "", "", "gap open"); return; }
        var found = evalreportPairs.pinned(shard, cell, wanted, row.arm);
        if (!found || found.difference === undefined) { put(row, ["\u2013"], "", found && found.reason ? found.reason : "", "gap open"); return; }
        var ends = found.interval ? "[" + points(found.interval.low, found.shared) + ", " + points(found.interval.high, found.shared) + "]" : "";
        var isClear = found.interval && (found.interval.low > 0 || found.interval.high < 0), text = points(found.difference, found.shared) + " pp", beside = document.createElement("span");
        beside.className = "sub";
        beside.textContent = ends;
        put(row, table.classList.contains("dense") || !ends ? [text] : [text, " ", beside], String(found.difference), (text + " " + ends).trim() + ", not adjusted", isClear ? "gap" : "gap open");
      });
    }
    function pin(base) {
      wanted = base;
      if (shard || !base) { fill(); return; }
      window.evalreport.load("d/pairs-" + place[1] + "-0.js", function (part) {
        shard = part;
        cell = evalreportPairs.decode(part);
        fill();
      }, function () { /* The column stays as it is. */ });
    }
    table.addEventListener("evalreport-base", function (event) { pin(event.detail); });
    var base = /(?:^|[#&])base=([^&]*)/.exec(location.hash);
    if (base) pin(decodeURIComponent(base[1]));
  });
})();
