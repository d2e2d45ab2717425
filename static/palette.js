// The command palette: finds suites, arms, runs and items by name, words of questions, answers and failures, and commands of the page.
// The page loads it and its index when it is first opened.
(function () {
  "use strict";
  var own = window.evalreport;
  if (!own || window.evalreportPalette) return;
  var SORTS = ["suite", "arm", "run", "criterion", "item"];
  var MOST = 60, MOST_OF_A_SORT = 12;
  var dialog = document.createElement("dialog");
  dialog.id = "palette";
  dialog.setAttribute("aria-label", "Search and commands");
  var field = document.createElement("input");
  field.type = "text";
  field.autocomplete = "off";
  field.spellcheck = false;
  field.placeholder = "Suite, arm, run, item, words of a question or answer, or a command";
  [["role", "combobox"], ["aria-label", "Search and commands"], ["aria-expanded", "true"], ["aria-controls", "palette-list"], ["aria-autocomplete", "list"]]
    .forEach(function (pair) { field.setAttribute(pair[0], pair[1]); });
  var list = document.createElement("ul");
  list.id = "palette-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Results");
  var status = document.createElement("p");
  status.id = "palette-status";
  status.setAttribute("role", "status");
  dialog.append(field, list, status);
  document.body.appendChild(dialog);

  // ---- Searched: names, texts, and commands of this page.
  var names = [], texts = [], left = 0, missing = 0, started = false, shown = [], at = -1;
  function load(path, take) {
    left += 1;
    own.load(path, function (part) { left -= 1; take(part); run(); }, function () { left -= 1; missing += 1; run(); });
  }
  function start() {
    if (started) return;
    started = true;
    if (!own.hasIndex) {
      // A single file has no index: search its headings.
      Array.prototype.forEach.call(document.querySelectorAll("section[id] h2, section[id] h3[id]"), function (head) {
        var section = head.closest("section[id]"), first = section.querySelector("h2");
        add("part", head.textContent, !first || head === first ? "" : first.textContent, "#" + (head.id || section.id));
      });
      return;
    }
    load("d/palette-0.js", function (parts) {
      parts.names.forEach(function (path) {
        load(path, function (part) {
          part.names.forEach(function (row) {
            var group = part.groups[row[0]];
            add(group[0], row[1], group[1], own.root + group[2] + row[2]);
          });
        });
      });
      parts.said.forEach(function (path) {
        load(path, function (part) {
          part.items.forEach(function (row) {
            texts.push({ sort: "said", name: row[0], about: row[2], low: row[2].toLowerCase(), href: own.root + part.folder + row[1] });
          });
        });
      });
    });
  }
  function add(sort, name, about, href) {
    names.push({ sort: sort, name: name, low: name.toLowerCase(), about: about, lowAbout: about.toLowerCase(), href: href });
  }
  // The shown rows of a table without a file of its own. A drawing has no text, and a hidden column is not shown.
  function tableText(table, isMarkdown) {
    function text(cell) {
      var copy = cell.cloneNode(true);
      copy.querySelectorAll("svg, .unseen, [aria-hidden], [data-script]").forEach(function (part) { part.remove(); });
      copy.querySelectorAll(".sub").forEach(function (part) { part.before(" "); });
      return copy.textContent.replace(/\s+/g, " ").trim();
    }
    // Programs read values, not what is shown of them.
    function field(cell) { return cell.getAttribute("data-v") && !cell.classList.contains("when") ? cell.getAttribute("data-v") : text(cell); }
    var rows = Array.prototype.filter.call(table.rows, function (row) { return !row.hidden && !row.classList.contains("off"); });
    var kept = Array.prototype.filter.call(rows[0].cells, function (head) {
      return !head.hidden && rows.slice(1).some(function (row) { return row.cells[head.cellIndex] && text(row.cells[head.cellIndex]); });
    }).map(function (head) { return head.cellIndex; });
    function written(read) {
      return rows.map(function (row, at) { return kept.map(function (column) { var cell = row.cells[column]; return cell ? (at ? read : text)(cell) : ""; }); });
    }
    if (!isMarkdown) {
      return written(field).map(function (row) {
        return row.map(function (cell) {
          // No cell may become a formula.
          if (/^[=@\t]|^[+-](?![\d.])/.test(cell)) cell = "'" + cell;
          return /[",\n]/.test(cell) ? "\"" + cell.replace(/"/g, "\"\"") + "\"" : cell;
        }).join(",");
      }).join("\n") + "\n";
    }
    var lines = written(text).map(function (row) {
      return "| " + row.map(function (cell) { return cell.replace(/[\\`*_[\]<>|]/g, "\\$&"); }).join(" | ") + " |";
    });
    lines.splice(1, 0, "|" + kept.map(function (column) {
      return rows[1] && rows[1].cells[column].hasAttribute("data-v") ? " ---: |" : " --- |";
    }).join(""));
    return lines.join("\n") + "\n";
  }
  function commands() {
    var all = [];
    function command(name, about, act) { all.push({ sort: "do", name: name, low: name.toLowerCase(), about: about, lowAbout: about.toLowerCase(), act: act }); }
    function copies(name, about, text) {
      command(name, about, function () { own.copy(text(), function (copied) { status.textContent = copied ? "Copied." : "The browser did not allow the copy."; }); return true; });
    }
    copies("Copy a link to exactly this view", "with filters and sorting", function () { return location.href; });
    function copiesTables(name, form) {
      command(name, "whole, as the program writes it", function () {
        own.loadTables(function (tables) {
          own.copy(tables[form], function (copied) { status.textContent = copied ? "Copied." : "The browser did not allow the copy."; });
        }, function () { status.textContent = "The tables could not be loaded."; });
        return true;
      });
    }
    if (own.loadTables) {
      copiesTables("Copy table as Markdown", "markdown");
      copiesTables("Copy table as CSV", "csv");
    } else Array.prototype.forEach.call(document.querySelectorAll("main table[id]:not(#map)"), function (table) {
      if (!table.tBodies.length || !table.tBodies[0].rows.length) return;
      var caption = table.caption ? table.caption.textContent.trim() : table.id;
      copies("Copy table as Markdown", caption, function () { return tableText(table, true); });
      copies("Copy table as CSV", caption, function () { return tableText(table, false); });
    });
    var embed = document.querySelector("a[href*='embed/'][href$='.html']");
    if (embed) copies("Copy code that embeds this verdict", "an iframe", function () {
      return "<iframe src=\"" + embed.href.replace(/"/g, "%22") + "\" width=\"600\" height=\"315\" title=\"Verdict\" loading=\"lazy\"><" + "/iframe>";
    });
    var theme = document.getElementById("theme");
    if (theme && !theme.hidden) command("Change the theme", theme.textContent, function () { theme.click(); });
    return all;
  }

  // ---- Ranks: whole name, its beginning, beginnings of words, parts of words, context; then words of texts; then names, and texts, with typing errors.
  function near(word, part) {
    // Does `word` begin with `part`? Allows one wrong, missing, added or swapped letter from 4 letters on, two from 8.
    var most = part.length < 4 ? 0 : part.length < 8 ? 1 : 2;
    if (!most || word.length < part.length - most) return false;
    var before = null, last = [], row, best;
    for (var i = 0; i <= word.length && i <= part.length + most; i += 1) {
      row = [i];
      for (var j = 1; j <= part.length; j += 1) {
        if (i === 0) { row.push(j); continue; }
        var same = word[i - 1] === part[j - 1];
        var cost = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1));
        if (i > 1 && j > 1 && word[i - 1] === part[j - 2] && word[i - 2] === part[j - 1]) cost = Math.min(cost, before[j - 2] + 1);
        row.push(cost);
      }
      best = row[part.length];
      if (i >= part.length - most && best <= most) return true;
      before = last;
      last = row;
    }
    return false;
  }
  function forgiving(entry, words) {
    var parts = (entry.low + " " + (entry.lowAbout || "")).split(/[^\p{L}\p{N}]+/u);
    return words.every(function (word) { return parts.some(function (part) { return part.indexOf(word) === 0 || near(part, word); }); });
  }
  function order(left, right) {
    var a = left.entry, b = right.entry;
    var sort = (a.sort === "do") - (b.sort === "do") || SORTS.indexOf(a.sort) - SORTS.indexOf(b.sort);
    return left.place - right.place || sort || (a.low < b.low ? -1 : a.low > b.low ? 1 : 0) || (a.about < b.about ? -1 : a.about > b.about ? 1 : 0);
  }
  function find(query) {
    var words = query.split(/\s+/).filter(Boolean);
    var all = names.concat(commands());
    if (!words.length) return all.filter(function (entry) { return entry.sort === "suite" || entry.sort === "do" || entry.sort === "part"; }).slice(0, MOST);
    var found = [], perSort = new Map();
    all.forEach(function (entry) { var place = own.rank(entry, query, words); if (place >= 0) found.push({ place: place, entry: entry }); });
    texts.forEach(function (entry) {
      if (words.every(function (word) { return entry.low.indexOf(word) >= 0; })) found.push({ place: 5, entry: entry });
    });
    if (found.length < 5) all.forEach(function (entry) {
      if (own.rank(entry, query, words) < 0 && forgiving(entry, words)) found.push({ place: 6, entry: entry });
    });
    if (!found.length) texts.forEach(function (entry) { if (forgiving(entry, words)) found.push({ place: 7, entry: entry }); });
    return found.sort(order).map(function (one) { return one.entry; }).filter(function (entry) {
      // Limits results of one sort.
      var count = (perSort.get(entry.sort) || 0) + 1;
      perSort.set(entry.sort, count);
      return count <= MOST_OF_A_SORT;
    }).slice(0, MOST);
  }

  // ---- The list.
  function around(entry, words) {
    // Returns a text's part with the first word.
    var place = entry.low.indexOf(words[0]);
    var from = Math.max(0, place - 30);
    return (from ? "… " : "") + entry.about.slice(from, from + 160);
  }
  function choose(index) {
    var options = list.children;
    if (at >= 0 && options[at]) options[at].setAttribute("aria-selected", "false");
    at = options.length ? (index + options.length) % options.length : -1;
    if (at < 0) { field.removeAttribute("aria-activedescendant"); return; }
    options[at].setAttribute("aria-selected", "true");
    options[at].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", options[at].id);
  }
  function run() {
    var query = field.value.trim().toLowerCase();
    var words = query.split(/\s+/).filter(Boolean);
    shown = find(query);
    list.textContent = "";
    shown.forEach(function (entry, index) {
      var row = document.createElement("li");
      row.id = "palette-" + index;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", "false");
      var sort = document.createElement("span");
      sort.className = "sort";
      sort.textContent = entry.sort === "said" ? "text" : entry.sort;
      var name = document.createElement("bdi");
      name.textContent = entry.name.trim() ? entry.name : "(no name)";
      row.append(sort, name);
      var about = entry.sort === "said" ? around(entry, words) : entry.about;
      if (about) {
        var small = document.createElement("bdi");
        small.className = "about";
        small.textContent = about;
        row.append(small);
      }
      row.addEventListener("click", function (event) { choose(index); go(event.ctrlKey || event.metaKey); });
      list.appendChild(row);
    });
    at = -1;
    choose(0);
    var count = shown.length === 1 ? "1 result" : shown.length + " results";
    status.textContent = (left ? "Loading the index …" : shown.length ? count : "Nothing found.") + (missing ? " Some parts of the index could not be loaded." : "");
  }
  function go(apart) {
    var entry = shown[at];
    if (!entry) return;
    if (entry.act) { if (!entry.act()) dialog.close(); return; }
    dialog.close();
    if (apart) window.open(entry.href, "_blank", "noopener"); else location.href = entry.href;
  }
  field.addEventListener("input", run);
  field.addEventListener("keydown", function (event) {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") { event.preventDefault(); choose(at + 1); }
    if (event.key === "ArrowUp") { event.preventDefault(); choose(at - 1); }
    if (event.key === "Enter") { event.preventDefault(); go(event.ctrlKey || event.metaKey); }
  });
  dialog.addEventListener("click", function (event) { if (event.target === dialog) dialog.close(); });
  window.evalreportPalette = function (query) {
    if (dialog.open) { dialog.close(); return; }
    start();
    if (typeof query === "string") field.value = query;
    dialog.showModal();
    field.select();
    run();
  };
})();
