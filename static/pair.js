// Compares any two arms of a suite in the browser with the program's formulas. The statistics come first and need no page.
var evalreportPairs = (function () {
  "use strict";

  // Smallest positive number with full precision. Smaller terms change no sum.
  var SMALLEST = 2.2250738585072014e-308;

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
    var found = { shared: 0, both: 0, neither: 0, onlyA: [], onlyB: [], isBinary: true, changed: 0 };
    function item(columns) {
      var passed = [0, 0], counted = [0, 0], used = 0, first = -1;
      columns.forEach(function (column) {
        var one = cell(a, column), other = cell(b, column);
        if (!one[1] || !other[1]) return;
        if (isOther(column)) { found.changed += 1; return; }
        if (first < 0) first = column;
        used += 1;
        passed = [passed[0] + one[0], passed[1] + other[0]];
        counted = [counted[0] + one[1], counted[1] + other[1]];
      });
      if (!used) return;
      found.shared += 1;
      if (used > 1 || counted[0] !== 1 || counted[1] !== 1) found.isBinary = false;
      var isA = 2 * passed[0] > counted[0], isB = 2 * passed[1] > counted[1];
      if (isA && isB) found.both += 1;
      else if (isA) found.onlyA.push(first);
      else if (isB) found.onlyB.push(first);
      else found.neither += 1;
    }
    if (table.items.length) table.items.forEach(item);
    else for (var column = 0; column < table.columns; column += 1) item([column]);
    var place = placeOfPair(table, a, b);
    found.way = table.ways.charAt(place);
    if (table.totals) {
      var one = table.totals[a], other = table.totals[b];
      found.totals = [one, other];
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
    // Other methods need more than outcomes: then only counts are shown.
    if (found.way === "m" && found.isBinary && found.shared) {
      found.difference = (found.onlyA.length - found.onlyB.length) / found.shared;
      found.interval = tango(found.onlyA.length, found.onlyB.length, found.shared, table.z);
      found.p = mcnemar(found.onlyA.length, found.onlyB.length);
    }
    return found;
  }

  return { mcnemar: mcnemar, tango: tango, newcombe: newcombe, fisher: fisher, decode: decode, compare: compare };
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

  function link(arm) {
    var made = make("a", { href: box.getAttribute("data-arms") + table.arms[arm][2] });
    made.appendChild(named(table.arms[arm][1]));
    return made;
  }

  // Draws the difference on an axis with zero, in percent of the width.
  function picture(found, labels) {
    var ends = [0, found.difference, found.interval.low, found.interval.high];
    var low = Math.min.apply(null, ends), high = Math.max.apply(null, ends), air = 0.06 * (high - low || 0.1);
    low -= air;
    high += air;
    function at(value) { return (100 * (value - low) / (high - low)).toFixed(2) + "%"; }
    function anchor(value) {
      var share = (value - low) / (high - low);
      return share < 0.08 ? "start" : share > 0.92 ? "end" : "middle";
    }
    var isClear = found.interval.low > 0 || found.interval.high < 0, kind = isClear ? "first" : "next";
    var svg = draw("svg", { height: 92, role: "img" });
    svg.append(
      draw("title", {}, labels[0] + " less " + labels[1] + ": " + points(found.difference, found.shared) + " pp"),
      draw("line", { "class": "zero", x1: at(0), x2: at(0), y1: 0, y2: 72 }),
      draw("text", { "class": "tick", x: at(0), y: 86, "text-anchor": "middle" }, "0"),
      draw("line", { "class": kind, x1: at(found.interval.low), x2: at(found.interval.high), y1: 38, y2: 38 }),
      draw("circle", { "class": kind, cx: at(found.difference), cy: 38, r: 7 }),
      draw("text", { "class": "value", x: at(found.difference), y: 22, "text-anchor": anchor(found.difference) }, points(found.difference, found.shared) + " pp")
    );
    [found.interval.low, found.interval.high].forEach(function (end) {
      svg.appendChild(draw("text", { "class": "tick", x: at(end), y: 60, "text-anchor": anchor(end) }, points(end, found.shared)));
    });
    var whole = make("div", { "class": "gap" }), sides = make("p", { "class": "gap-ends small muted" });
    [1, 0].forEach(function (arm) {
      var side = make("span");
      side.append(arm ? "← " : "", named(labels[arm]), " is better" + (arm ? "" : " →"));
      sides.appendChild(side);
    });
    whole.append(svg, sides);
    return whole;
  }

  function areas(found, labels) {
    var svg = draw("svg", { "class": "areas", height: 180, "aria-hidden": "true" });
    var passed = found.both + found.onlyA.length, left = 100 * passed / found.shared;
    [
      [0, left, passed, [["both", found.both], ["only-a", found.onlyA.length]]],
      [left, 100 - left, found.shared - passed, [["only-b", found.onlyB.length], ["neither", found.neither]]]
    ].forEach(function (column) {
      var y = 0;
      column[3].forEach(function (part) {
        if (!part[1]) return;
        var height = 100 * part[1] / column[2];
        svg.appendChild(draw("rect", { "class": part[0], x: column[0] + "%", y: y + "%", width: column[1] + "%", height: height + "%" }));
        if (column[1] >= 8 && height >= 14) {
          svg.appendChild(draw("text", { "class": part[0], x: column[0] + column[1] / 2 + "%", y: y + height / 2 + "%", "text-anchor": "middle", "dominant-baseline": "central" }, number(part[1])));
        }
        y += height;
      });
    });
    var key = make("ul", { "class": "areas-key small" });
    [["both", "both passed", null, found.both], ["only-a", "only ", 0, found.onlyA.length], ["only-b", "only ", 1, found.onlyB.length], ["neither", "neither", null, found.neither]].forEach(function (row) {
      var line = make("li", { "class": row[0] }, row[1]);
      if (row[2] !== null) line.appendChild(named(labels[row[2]]));
      line.append(": " + number(row[3]));
      key.appendChild(line);
    });
    var whole = make("div");
    whole.append(svg, key);
    return whole;
  }

  // What both arms answered to an item, side by side.
  function answered(line, column, labels) {
    var told = answers.told.get(column), places = [selects[0].selectedIndex, selects[1].selectedIndex];
    if (!told) return;
    var both = make("div", { "class": "sides" });
    if (answers.expected.has(column)) {
      var wanted = make("p", { "class": "small" }, "Expected: ");
      wanted.appendChild(named(answers.expected.get(column)));
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
    found.onlyA.forEach(function (column) { all.push([column, 0]); });
    found.onlyB.forEach(function (column) { all.push([column, 1]); });
    all.sort(function (left, right) { return left[0] - right[0]; });
    whole.appendChild(make("h2", { id: "flips" }, "The " + number(all.length) + " " + one(all.length, table.word) + " that only one of them passed"));
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
        var by = make("span", { "class": "muted small" }, " only ");
        by.append(named(labels[flip[1]]));
        line.appendChild(by);
        if (answers) answered(line, flip[0], labels);
        list.appendChild(line);
      });
      status.textContent = number(Math.min(matching, MOST_ROWS)) + " of " + number(all.length) + " shown" + (matching > MOST_ROWS ? ": filter to see the others" : "");
      buttons.forEach(function (button, place) { button.setAttribute("aria-pressed", String(place - 1 === which)); });
    }
    [["all", all.length], ["only ", found.onlyA.length], ["only ", found.onlyB.length]].forEach(function (row, place) {
      var button = make("button", { type: "button", "aria-pressed": "false" }, row[0]);
      if (place) button.appendChild(named(labels[place - 1]));
      button.append(" (" + number(row[1]) + ")");
      button.addEventListener("click", function () { which = place - 1; run(); });
      buttons.push(button);
      chips.appendChild(button);
    });
    filter.addEventListener("input", run);
    run();
    whole.append(chips, tools, list, make("p", { "class": "note small" }, answers && !answers.isCut ? "An item's page has what every arm answered." : "What is not told here, an item's page has."));
    return whole;
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
    var labels = [table.arms[a][1], table.arms[b][1]];
    var net = found.totals ? found.difference || 0 : (found.onlyA.length - found.onlyB.length) / (found.shared || 1), ahead = net < 0 ? 1 : 0;
    var lead = make("p", { "class": "muted" });
    lead.append(link(a), " vs ", link(b));
    shown.appendChild(lead);
    var page = table.pages.find(function (row) { return (row[0] === a && row[1] === b) || (row[0] === b && row[1] === a); });
    var note = make("p", { "class": "note" });
    if (page) {
      note.append("The program compared this pair. ", make("a", { href: page[2] }, "Its page has the verdict, costs and answers."));
    } else {
      note.append("Not adjusted for choosing this pair: made in your browser from the outcomes. Among many pairs some differ by chance; the verdicts of the suite are adjusted for that.");
    }
    if (!found.shared) {
      heading.append("No shared " + table.word + ": ", named(labels[0]), " and ", named(labels[1]), " on ", named(table.suite));
      shown.append(note);
      return;
    }
    if (found.p === undefined && found.way !== "x" && found.totals) {
      heading.append("Counts only: ", named(labels[0]), " and ", named(labels[1]), " on ", named(table.suite));
    } else if (found.p === undefined && found.way !== "x") {
      // Majorities of attempts are not pass rates and have no difference.
      heading.append("Counts only: " + number(found.onlyA.length) + " " + one(found.onlyA.length, table.word) + " only ", named(labels[0]), " passes, " + number(found.onlyB.length) + " only ", named(labels[1]), ", on ", named(table.suite));
    } else if (found.way === "x") {
      heading.append(named(labels[0]), " and ", named(labels[1]), " cannot be compared on ", named(table.suite));
      note.append(" " + (found.reason ? "Reason: " + found.reason + ". " : "") + "The counts below are of " + (found.totals ? "each arm's runs." : "the " + table.word + " that both have."));
    } else if (net === 0) {
      heading.append(named(labels[0]), " and ", named(labels[1]), " pass as many " + table.word + " on ", named(table.suite));
    } else {
      var by = points(Math.abs(net), found.shared).slice(1);
      heading.append(named(labels[ahead]), " leads ", named(labels[1 - ahead]), " by " + by + " pp on ", named(table.suite));
    }
    if (!page) { state.textContent = ""; state.appendChild(make("span", { "class": "state is-nothing" }, "not adjusted")); state.hidden = false; }
    var said = make("p");
    if (found.totals) {
      labels.forEach(function (label, which) {
        said.append(which ? "; " : "", named(label), " passed " + number(found.totals[which][0]) + " of " + number(found.totals[which][1]) + " " + table.word);
      });
      said.append(". Only counts are known, so the arms cannot be paired item by item.");
    } else said.append("Of " + number(found.shared) + " shared " + one(found.shared, table.word) + ", " + number(found.onlyA.length) + " only ", named(labels[0]), " passed and " + number(found.onlyB.length) + " only ", named(labels[1]), ".");
    if (found.p !== undefined) {
      said.append(" 95% CI " + points(found.interval.low, found.shared) + " to " + points(found.interval.high, found.shared) + " pp (" + (found.totals ? "Newcombe" : "Tango") + "), " + chance(found.p) + " (" + (found.totals ? "Fisher's exact test" : "exact McNemar test") + ", this pair alone).");
    } else if (found.way !== "x") {
      said.append(" The program weighs this pair over runs, clusters or several attempts, which takes more than " + (found.totals ? "counts" : "the outcomes") + ": no difference, interval or p is given here.");
    }
    if (!found.isBinary) {
      said.append(" With several attempts at an item, an arm passes it when it passed more than half of them.");
    }
    if (found.changed) said.append(" " + number(found.changed) + " more were asked in different texts and are not compared.");
    shown.append(note, said);
    var both = make("div", { "class": "duel" });
    if (found.p !== undefined) both.appendChild(picture(found, labels));
    if (!found.totals) both.appendChild(areas(found, labels));
    shown.appendChild(both);
    if (!found.totals) shown.appendChild(flips(found, labels));
    document.title = labels[0] + " vs " + labels[1] + " · " + table.suite;
  }

  window.evalreport.load(paths[0], function (content) {
    table = content;
    cell = evalreportPairs.decode(table);
    var form = choose();
    var a = armOf("a"), b = armOf("b");
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
