// Adds sorting, filtering, search and a choice of theme to pages that are complete without it.
(function () {
  "use strict";
  var root = document.documentElement;

  // ---- Theme: automatic, light or dark, remembered if the browser allows it.
  var themes = ["auto", "light", "dark"];
  function stored() {
    try { return localStorage.getItem("evalreport-theme"); } catch (error) { return null; }
  }
  function apply(theme) {
    if (theme === "light" || theme === "dark") root.setAttribute("data-theme", theme);
    else root.removeAttribute("data-theme");
  }
  var theme = themes.indexOf(stored()) > 0 ? stored() : "auto";
  apply(theme);
  var button = document.getElementById("theme");
  if (button) {
    var label = function () { button.textContent = "Theme: " + theme; };
    label();
    button.hidden = false;
    button.addEventListener("click", function () {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      apply(theme);
      label();
      try { localStorage.setItem("evalreport-theme", theme); } catch (error) { /* Private windows. */ }
    });
  }

  // ---- State in the address: #f.TABLE=text&s.TABLE=COLUMN.asc
  function readState() {
    var state = new Map();
    var hash = location.hash.slice(1);
    if (hash.indexOf("=") < 0) return state;
    hash.split("&").forEach(function (part) {
      var at = part.indexOf("=");
      if (at < 1) return;
      try { state.set(decodeURIComponent(part.slice(0, at)), decodeURIComponent(part.slice(at + 1))); } catch (error) { /* Not ours. */ }
    });
    return state;
  }
  var state = readState();
  function writeState(key, value) {
    if (value) state.set(key, value); else state.delete(key);
    var parts = [];
    state.forEach(function (entry, name) { parts.push(encodeURIComponent(name) + "=" + encodeURIComponent(entry)); });
    var hash = parts.length ? "#" + parts.join("&") : location.pathname + location.search;
    try { history.replaceState(null, "", hash); } catch (error) { /* Some browsers refuse on file addresses. */ }
  }

  // ---- Tables.
  function keyOf(row, column) {
    var cell = row.cells[column];
    if (!cell) return null;
    if (cell.hasAttribute("data-v")) {
      var number = cell.getAttribute("data-v");
      return number === "" ? null : Number(number);
    }
    var text = cell.textContent.trim();
    return text === "" ? null : text;
  }
  var collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  function sortRows(table, column, ascending) {
    var body = table.tBodies[0];
    var keyed = Array.prototype.map.call(body.rows, function (row) {
      return { row: row, key: keyOf(row, column), order: Number(row.getAttribute("data-order")) };
    });
    var sign = ascending ? 1 : -1;
    keyed.sort(function (left, right) {
      // Unknown values come last in both directions.
      if (left.key === null || right.key === null) {
        return (left.key === null) - (right.key === null) || left.order - right.order;
      }
      var both = typeof left.key === "number" && typeof right.key === "number";
      var compared = both ? left.key - right.key : collator.compare(String(left.key), String(right.key));
      return sign * compared || left.order - right.order;
    });
    var fragment = document.createDocumentFragment();
    keyed.forEach(function (entry) { fragment.appendChild(entry.row); });
    body.appendChild(fragment);
  }

  function setUpSort(table) {
    var heads = table.tHead ? Array.prototype.slice.call(table.tHead.rows[0].cells) : [];
    function sortBy(column, ascending) {
      heads.forEach(function (head, index) {
        if (head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", index === column ? (ascending ? "ascending" : "descending") : "none");
      });
      sortRows(table, column, ascending);
    }
    heads.forEach(function (head, column) {
      if (!head.hasAttribute("data-sort")) return;
      var sorter = document.createElement("button");
      sorter.type = "button";
      sorter.className = "sort";
      if (head.firstElementChild && head.firstElementChild.tagName === "A") {
        // A head that is a link keeps it, and has a button beside it.
        sorter.setAttribute("aria-label", "Sort by " + head.firstElementChild.textContent);
        head.firstElementChild.after(sorter);
      } else {
        head.insertBefore(sorter, head.firstChild);
        sorter.appendChild(sorter.nextSibling);
      }
      head.setAttribute("aria-sort", "none");
      sorter.addEventListener("click", function () {
        var current = head.getAttribute("aria-sort");
        // The first click shows the better end first, if the column has one.
        var ascending = current === "none" ? head.getAttribute("data-sort") !== "desc" : current === "descending";
        sortBy(column, ascending);
        writeState("s." + table.id, column + (ascending ? ".asc" : ".desc"));
      });
    });
    var wanted = /^(\d+)\.(asc|desc)$/.exec(state.get("s." + table.id) || "");
    if (wanted && heads[wanted[1]] && heads[wanted[1]].hasAttribute("data-sort")) sortBy(Number(wanted[1]), wanted[2] === "asc");
  }

  // ---- Filters compare the values behind the cells: dollars, seconds, and rates in percent.
  var ALIASES = [["cost", "price", "money", "usd", "$"], ["rate", "pass", "passed", "score"], ["time", "duration", "seconds"], ["difference", "diff", "gap", "lead"], ["rank", "place"]];
  var UNITS = { ms: 0.001, s: 1, sec: 1, m: 60, min: 60, h: 3600 };
  // Returns a limit with its kind: `money`, `time`, `share`, or none if it has no unit. `null` if it is no number.
  function limitOf(text) {
    var parts = /^(\$?)([-\u2212+]?[\d,]*\.?\d+)(%|pp|ms|sec|s|min|m|h|\$)?$/.exec(text);
    if (!parts) return null;
    var number = Number(parts[2].replace(/,/g, "").replace("\u2212", "-")), unit = parts[3] || "";
    if (UNITS[unit]) return { value: number * UNITS[unit], kind: "time" };
    return { value: number, kind: parts[1] || unit === "$" ? "money" : unit ? "share" : "" };
  }
  // Returns the columns that a name means: by the words of their heads, or by another word for the same.
  function columnsOf(name, heads) {
    function begin(words) {
      return heads.filter(function (head) { return head.words.some(function (one) { return words.some(function (word) { return one.indexOf(word) === 0; }); }); });
    }
    var group = ALIASES.find(function (names) { return names.indexOf(name) >= 0; }), alike = group ? begin(group) : [];
    // Of several costs, the cost per solved item ranks arms. Of several rates, the first does.
    var solved = group === ALIASES[0] ? alike.filter(function (head) { return head.words.indexOf("solved") >= 0; }) : [];
    if (solved.length) return solved;
    var found = begin([name]);
    if (!found.length) found = alike;
    var rates = found.filter(function (head) { return head.isRate; });
    return group === ALIASES[1] && rates.length ? rates.slice(0, 1) : found;
  }
  function compared(number, sign, limit) {
    return sign === ">" ? number > limit : sign === "<" ? number < limit : sign === ">=" ? number >= limit : sign === "<=" ? number <= limit : Math.abs(number - limit) < 1e-9;
  }
  // A filter's terms: words; `model:opus` for columns with a word in the head that begins with "model"; `cost<=0.5`, `time>2m`; `>80` is the rate.
  function termOf(word, heads) {
    var parts = /^([^:<>=]*)(:|[<>]=?|=)(.+)$/.exec(word);
    if (!parts) return null;
    var name = parts[1], sign = parts[2], limit = sign === ":" ? null : limitOf(parts[3]);
    var columns = name ? columnsOf(name, heads) : [];
    if (sign === ":") {
      // An arm's name has its approach and model.
      if (!columns.length && /^(model|approach)$/.test(name)) columns = heads.filter(function (head) { return /^(arm|leader)$/.test(head.words[0]); });
      return columns.length && function (row) {
        return columns.some(function (head) { var cell = row.cells[head.at]; return cell && cell.textContent.toLowerCase().indexOf(parts[3]) >= 0; });
      };
    }
    if (!limit) return null;
    if (!name) {
      if (limit.kind === "money" || limit.kind === "time") columns = columnsOf(limit.kind === "money" ? "cost" : "time", heads);
      else columns = heads.filter(function (head) { return head.isRate; }).slice(0, 1);
      if (!columns.length && !limit.kind) columns = heads;
    }
    return columns.length && function (row) {
      return columns.some(function (head) {
        var cell = row.cells[head.at], key = cell && cell.getAttribute("data-v");
        if (!key || (!name && cell.classList.contains("when"))) return false;
        return compared(Number((Number(key) * head.scale).toPrecision(12)), sign, limit.value);
      });
    };
  }
  function filterHeads(table) {
    return Array.prototype.map.call(table.tHead ? table.tHead.rows[0].cells : [], function (head, at) {
      var unit = head.getAttribute("data-unit") || "";
      return { at: at, words: head.textContent.trim().toLowerCase().split(/[^\p{L}\p{N}$]+/u).filter(Boolean), isRate: unit === "share" || unit === "score", scale: unit === "share" || unit === "pp" ? 100 : 1 };
    });
  }

  function setUpFilter(table) {
    var region = table.closest(".scroll");
    if (!region || !table.hasAttribute("data-filter")) return;
    var tools = document.createElement("div");
    tools.className = "tools";
    var label = document.createElement("label");
    label.textContent = "Filter ";
    label.className = "unseen";
    var input = document.createElement("input");
    input.type = "search";
    input.autocomplete = "off";
    input.id = "filter-" + table.id;
    label.htmlFor = input.id;
    var count = document.createElement("span");
    count.className = "muted";
    count.setAttribute("role", "status");
    var reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "Show all";
    input.placeholder = "Filter: name, rate>80, cost<0.1";
    tools.append(label, input, count, reset);
    // The overview's filter is beside its states.
    var above = region.previousElementSibling;
    if (above && above.classList.contains("above")) above.append(tools); else region.parentNode.insertBefore(tools, region);
    var rows = Array.prototype.map.call(table.tBodies[0].rows, function (row) {
      return { row: row, text: row.textContent.toLowerCase() };
    });
    var where = table.getAttribute("data-filter");
    var heads = filterHeads(table);
    input.title = "Words, model:opus, >80 for the pass rate, cost<0.5, time>2m";
    function run() {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var terms = words.map(function (word) { return termOf(word, heads); });
      var shown = 0;
      rows.forEach(function (entry) {
        var matches = words.every(function (word, place) { return entry.text.indexOf(word) >= 0 || (terms[place] && terms[place](entry.row)); });
        entry.row.hidden = !matches;
        // A state above the table hides rows as well.
        if (matches && !entry.row.classList.contains("off")) shown += 1;
      });
      count.textContent = shown + " of " + rows.length + " shown" + (where ? " " + where : "");
      reset.hidden = words.length === 0;
    }
    table.addEventListener("evalreport-states", run);
    // Words that filter by a button each.
    (table.getAttribute("data-chips") || "").split("|").filter(Boolean).forEach(function (word) {
      var found = rows.filter(function (entry) { return entry.text.indexOf(word) >= 0; }).length;
      if (!found) return;
      var chip = document.createElement("button");
      chip.type = "button";
      chip.textContent = word + " (" + found + ")";
      chip.addEventListener("click", function () { input.value = word; run(); writeState("f." + table.id, word); });
      tools.insertBefore(chip, count);
    });
    input.addEventListener("input", function () { run(); writeState("f." + table.id, input.value.trim()); });
    input.addEventListener("keydown", function (event) {
      if (event.key === "Escape") { input.value = ""; run(); writeState("f." + table.id, ""); }
    });
    reset.addEventListener("click", function () { input.value = ""; run(); writeState("f." + table.id, ""); input.focus(); });
    var take = document.createElement("button");
    take.type = "button";
    take.textContent = "Copy …";
    take.setAttribute("aria-haspopup", "dialog");
    take.addEventListener("click", function () { openPalette("copy table"); });
    tools.append(take);
    input.value = state.get("f." + table.id) || "";
    run();
  }

  // ---- The states above the overview filter its rows. The address has the chosen one.
  function setUpStates(list, table) {
    var chosen = state.get("state") || "";
    var chips = Array.prototype.map.call(list.children, function (item) {
      var word = item.querySelector(".state").textContent.trim();
      var chip = document.createElement("button");
      chip.type = "button";
      chip.className = "chip";
      chip.append.apply(chip, Array.prototype.slice.call(item.childNodes));
      item.append(chip);
      chip.addEventListener("click", function () { chosen = chosen === word ? "" : word; show(); writeState("state", chosen); });
      return { chip: chip, word: word };
    });
    function show() {
      chips.forEach(function (one) { one.chip.setAttribute("aria-pressed", String(one.word === chosen)); });
      Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
        var sign = row.querySelector(".state");
        row.classList.toggle("off", Boolean(chosen && sign && sign.textContent.trim() !== chosen));
      });
      table.dispatchEvent(new CustomEvent("evalreport-states"));
      // Suites with nothing to compare are folded below.
      var rest = document.querySelector("main details");
      if (rest && chosen === "nothing to compare") rest.open = true;
    }
    show();
  }

  // ---- Readers can tick two rows of arms to compare them. The address has the baseline: #base=ARM.
  function setUpTicks(table) {
    var any = table.getAttribute("data-any"), region = table.closest(".scroll");
    var heads = Array.prototype.slice.call(table.querySelectorAll("th[data-tick]"));
    if (!any || !region || heads.length < 2) return;
    var names = new Map(), boxes = new Map(), ticked = [];
    // Beside the filter, if there is one.
    var bar = region.previousElementSibling;
    if (!bar || !bar.classList.contains("tools")) {
      bar = document.createElement("div");
      bar.className = "tools";
      region.parentNode.insertBefore(bar, region);
    }
    var said = document.createElement("span");
    said.setAttribute("role", "status");
    var link = document.createElement("a"), pin = document.createElement("button");
    pin.type = "button";
    var parts = document.createElement("span");
    parts.className = "ticks";
    parts.append(said, link, pin);
    bar.append(parts);
    function draw() {
      var base = names.has(state.get("base")) ? state.get("base") : "", only = ticked.length === 1 ? ticked[0] : "";
      var pair = ticked.length === 2 ? ticked : only && base && only !== base ? [only, base] : null;
      said.textContent = (base ? "Baseline: " + names.get(base) + ". " : "") + (pair || ticked.length ? "" : "Tick two arms to compare them.");
      link.hidden = !pair;
      if (pair) {
        link.href = any + "?a=" + encodeURIComponent(pair[0]) + "&b=" + encodeURIComponent(pair[1]);
        link.textContent = "Compare " + names.get(pair[0]) + " with " + names.get(pair[1]);
      }
      pin.hidden = !only && !base;
      pin.textContent = only && only !== base ? "Pin " + names.get(only) + " as baseline" : "Unpin the baseline";
      boxes.forEach(function (box, arm) { box.checked = ticked.indexOf(arm) >= 0; });
      table.dispatchEvent(new CustomEvent("evalreport-base", { detail: base }));
    }
    pin.addEventListener("click", function () {
      var only = ticked.length === 1 ? ticked[0] : "";
      writeState("base", only && only !== state.get("base") ? only : "");
      ticked = [];
      draw();
    });
    heads.forEach(function (head) {
      var arm = head.getAttribute("data-tick"), box = document.createElement("input");
      names.set(arm, head.querySelector("bdi").textContent);
      box.type = "checkbox";
      box.className = "tick";
      box.setAttribute("aria-label", "Compare " + names.get(arm));
      box.addEventListener("change", function () {
        ticked = ticked.filter(function (other) { return other !== arm; });
        if (box.checked) ticked = ticked.slice(-1).concat(arm);
        draw();
      });
      boxes.set(arm, box);
      // The label is the target: larger than the box.
      var target = document.createElement("label");
      target.className = "ticker";
      target.append(box);
      head.insertBefore(target, head.firstChild);
    });
    draw();
  }
  // Links keep the baseline, unless they have a fragment of their own.
  document.addEventListener("click", function (event) {
    var link = event.target.closest ? event.target.closest("a[href]") : null, base = state.get("base");
    if (!link || !base || /^[a-z]+:/i.test(link.getAttribute("href")) || link.hash) return;
    link.hash = "base=" + encodeURIComponent(base);
  }, true);

  Array.prototype.forEach.call(document.querySelectorAll("table[id]"), function (table) {
    if (!table.tBodies.length) return;
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row, index) { row.setAttribute("data-order", index); });
    setUpSort(table);
    setUpFilter(table);
    setUpTicks(table);
  });

  // ---- Copying of shortened ids and other texts.
  function copy(text, done) {
    function old() {
      var field = document.createElement("textarea");
      field.value = text;
      field.className = "unseen";
      (document.querySelector("dialog[open]") || document.body).appendChild(field);
      field.select();
      var copied = false;
      try { copied = document.execCommand("copy"); } catch (error) { /* Not allowed. */ }
      field.remove();
      done(copied);
    }
    if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(function () { done(true); }, old);
    else old();
  }
  Array.prototype.forEach.call(document.querySelectorAll("[data-copy]"), function (shown) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy id";
    button.setAttribute("data-script", "");
    shown.after(" ", button);
    button.addEventListener("click", function () {
      copy(shown.getAttribute("data-copy"), function (copied) { button.textContent = copied ? "Copied" : "Not copied"; });
    });
  });

  // ---- Data parts: classic scripts, because a page opened from disk can load nothing else.
  var waiting = new Map();
  window.evalreportShard = function (name, number, content) {
    var take = waiting.get(name === "tables" ? name : "d/" + name + "-" + number + ".js");
    if (take) take(content);
  };
  var isShard = /^d\/[a-z0-9_.-]+\.js$/;
  var isOurs = /^(\.\.\/)*(d\/[a-z0-9_.-]+|data(\/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+|a\/palette\.[0-9a-f]+)\.js$/;
  var brand = document.querySelector("a.brand");
  var home = brand ? brand.getAttribute("href").replace(/index\.html$|^#.*$/, "") : "";
  var policy = null;
  function address(path) {
    if (!window.trustedTypes) return path;
    // Created on demand: pages that load nothing may forbid policies.
    policy = policy || window.trustedTypes.createPolicy("evshard", {
      createScriptURL: function (path) {
        if (!isOurs.test(path)) throw new TypeError("not a part of the site: " + path);
        return path;
      }
    });
    return policy.createScriptURL(path);
  }
  function loadShard(path, done, failed) {
    if (!isShard.test(path)) { failed(path); return; }
    waiting.set(path, done);
    loadScript(home + path, function () { /* It calls evalreportShard. */ }, function () { failed(path); });
  }
  // The page's tables as the program writes them, from a script beside its other numbers.
  var tables = document.querySelector("footer a[href$='.md']");
  function loadTables(done, failed) {
    waiting.set("tables", done);
    loadScript(tables.getAttribute("href").replace(/\.md$/, ".js"), function () { /* It calls evalreportShard. */ }, failed);
  }
  function loadScript(path, done, failed) {
    var script = document.createElement("script");
    script.src = address(path);
    script.onload = done;
    script.onerror = failed;
    document.head.appendChild(script);
  }

  // ---- The command palette, loaded when first opened.
  var link = document.querySelector("a[data-palette]");
  // 0: whole name; 1: its beginning; 2: beginnings of words; 3: parts of words; 4: its context; -1: no match.
  function rank(entry, query, words) {
    if (entry.low === query) return 0;
    if (entry.low.indexOf(query) === 0) return 1;
    var begins = function (word) {
      for (var at = entry.low.indexOf(word); at >= 0; at = entry.low.indexOf(word, at + 1)) {
        if (at === 0 || /[^\p{L}\p{N}]/u.test(entry.low[at - 1])) return true;
      }
      return false;
    };
    if (words.every(begins)) return 2;
    if (words.every(function (word) { return entry.low.indexOf(word) >= 0; })) return 3;
    return words.every(function (word) { return entry.low.indexOf(word) >= 0 || entry.lowAbout.indexOf(word) >= 0; }) ? 4 : -1;
  }
  function isTyping(target) { return target && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)); }
  window.evalreport = { load: loadShard, copy: copy, rank: rank, isTyping: isTyping, root: home, hasIndex: Boolean(link), loadTables: link && tables ? loadTables : null };
  var opening = false;
  function openPalette(query) {
    if (window.evalreportPalette) { window.evalreportPalette(query); return; }
    if (!link || opening) return;
    opening = true;
    var sheet = document.createElement("link");
    sheet.rel = "stylesheet";
    sheet.href = link.getAttribute("data-palette-sheet");
    document.head.appendChild(sheet);
    loadScript(link.getAttribute("data-palette"), function () {
      opening = false;
      window.evalreportPalette(query);
    }, function () { location.href = link.href; });
  }
  if (link) {
    link.setAttribute("aria-keyshortcuts", "Control+K Meta+K /");
    link.title = "Control K, or /";
    var keys = document.createElement("kbd");
    keys.textContent = /Mac|iPhone|iPad/.test(navigator.platform) ? "\u2318K" : "Ctrl K";
    keys.setAttribute("aria-hidden", "true");
    link.append(keys);
  }

  // ---- Search: loads its index on first use. Equal queries give results in equal order.
  var SORTS = ["suite", "arm", "run", "criterion", "item"];
  var MOST_FOUND = 100;
  function setUpSearch(box) {
    var field = document.getElementById("search-field");
    var list = document.getElementById("search-results");
    var status = document.getElementById("search-status");
    var paths = box.getAttribute("data-shards").split(" ").filter(Boolean);
    var names = [], missing = [], left = paths.length, started = false;
    function before(left, right) { return left < right ? -1 : left > right ? 1 : 0; }
    function run() {
      var query = field.value.trim().toLowerCase();
      var words = query.split(/\s+/).filter(Boolean);
      list.textContent = "";
      if (!words.length) { status.textContent = ""; return; }
      if (left) { status.textContent = "Loading the index …"; return; }
      var found = [];
      names.forEach(function (entry) {
        var place = rank(entry, query, words);
        if (place >= 0) found.push({ place: place, entry: entry });
      });
      found.sort(function (one, other) {
        var a = one.entry, b = other.entry;
        return one.place - other.place || a.sort - b.sort || before(a.low, b.low) || before(a.name, b.name) || before(a.about, b.about) || before(a.href, b.href);
      });
      found.slice(0, MOST_FOUND).forEach(function (one) {
        var row = document.createElement("li");
        var link = document.createElement("a");
        link.href = one.entry.href;
        var name = document.createElement("bdi");
        name.textContent = one.entry.name.trim() ? one.entry.name : "(no name)";
        link.appendChild(name);
        var about = document.createElement("span");
        about.className = "muted small";
        about.textContent = SORTS[one.entry.sort] + (one.entry.about ? ", " + one.entry.about : "");
        row.append(link, " ", about);
        list.appendChild(row);
      });
      var text = found.length > MOST_FOUND ? MOST_FOUND + " of " + found.length + " found are shown" : found.length + " found";
      status.textContent = text + (missing.length ? "; could not load " + missing.join(", ") + ", the lists below have every name" : "");
    }
    function start() {
      if (started) return;
      started = true;
      paths.forEach(function (path) {
        loadShard(path, function (part) {
          var groups = part.groups.map(function (group) {
            return { sort: SORTS.indexOf(group[0]), about: group[1], lowAbout: group[1].toLowerCase(), folder: group[2] };
          });
          part.names.forEach(function (row) {
            var group = groups[row[0]];
            names.push({ sort: group.sort, name: row[1], low: row[1].toLowerCase(), href: group.folder + row[2], about: group.about, lowAbout: group.lowAbout });
          });
          left -= 1;
          run();
        }, function (path) { missing.push(path); left -= 1; run(); });
      });
    }
    field.addEventListener("focus", start);
    field.addEventListener("input", function () { start(); run(); writeState("q", field.value.trim()); });
    field.addEventListener("keydown", function (event) {
      var first = list.querySelector("a");
      if (event.key === "Escape") { field.value = ""; run(); writeState("q", ""); }
      if (event.key === "Enter" && first) first.click();
    });
    box.hidden = false;
    field.value = state.get("q") || "";
    if (field.value) { start(); run(); }
  }
  var states = document.querySelector("ul.counts"), suites = document.getElementById("suites");
  if (states && suites) setUpStates(states, suites);
  var search = document.getElementById("search");
  if (search) setUpSearch(search);

  document.addEventListener("keydown", function (event) {
    var typing = isTyping(event.target);
    var isCommand = (event.key === "k" || event.key === "K") && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    var isSlash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isCommand && !isSlash) return;
    event.preventDefault();
    var field = document.getElementById("search-field");
    if (isSlash && field) field.focus(); else openPalette();
  });
  window.addEventListener("hashchange", function () {
    // A typed or pasted address restores its own state.
    if (location.hash.indexOf("=") > 0) location.reload();
  });
})();
