// Pages of a suite: highlights a row with its point, and lets readers choose columns. Nothing else needs it.
(function () {
  "use strict";

  // ---- Rows and points of one arm.
  function light(event, on) {
    var part = event.target.closest ? event.target.closest("[data-arm]") : null;
    if (!part) return;
    var within = part.closest(".who") || document;
    within.querySelectorAll("[data-arm=\"" + part.getAttribute("data-arm") + "\"]").forEach(function (other) {
      other.classList.toggle("hot", on);
    });
  }
  [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]].forEach(function (kind) {
    document.addEventListener(kind[0], function (event) { light(event, kind[1]); });
  });

  // ---- Columns: ?columns=tokens,runs shows these besides the usual ones.
  function nameOf(head) {
    return head.textContent.trim().toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  }
  function asked() {
    try { return new URLSearchParams(location.search).get("columns"); } catch (error) { return null; }
  }
  document.querySelectorAll("table[id]").forEach(function (table) {
    if (!table.querySelector("th[data-more]")) return;
    var region = table.closest(".scroll");
    var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
    var more = heads.filter(function (head) { return head.hasAttribute("data-more"); });
    var names = new Map(more.map(function (head) { return [head, nameOf(head)]; }));
    var wanted = asked();
    var shown = new Set(wanted === null ? [] : wanted.split(","));
    if (wanted === "all") more.forEach(function (head) { shown.add(names.get(head)); });
    function apply() {
      more.forEach(function (head) {
        var hidden = !shown.has(names.get(head)), at = heads.indexOf(head);
        head.hidden = hidden;
        Array.prototype.forEach.call(table.tBodies[0].rows, function (row) { if (row.cells[at]) row.cells[at].hidden = hidden; });
      });
    }
    function write() {
      var kept = more.map(function (head) { return names.get(head); }).filter(function (name) { return shown.has(name); });
      var query = kept.length === more.length ? "?columns=all" : kept.length ? "?columns=" + kept.map(encodeURIComponent).join(",") : "";
      try { history.replaceState(null, "", location.pathname + query + location.hash); } catch (error) { /* Some browsers refuse on file addresses. */ }
    }
    var chooser = document.createElement("details");
    chooser.className = "columns";
    var summary = document.createElement("summary");
    summary.textContent = "Columns (" + more.length + " more)";
    chooser.appendChild(summary);
    var boxes = [];
    function choice(text, checked, changed) {
      var label = document.createElement("label");
      var box = document.createElement("input");
      box.type = "checkbox";
      box.checked = checked;
      box.addEventListener("change", function () { changed(box.checked); apply(); write(); });
      label.append(box, " " + text);
      chooser.appendChild(label);
      return box;
    }
    var all = choice("all", shown.size >= more.length, function (on) {
      shown = new Set(on ? names.values() : []);
      boxes.forEach(function (box) { box.checked = on; });
    });
    more.forEach(function (head) {
      boxes.push(choice(head.textContent.trim().replace(/\s+/g, " "), shown.has(names.get(head)), function (on) {
        if (on) shown.add(names.get(head)); else shown.delete(names.get(head));
        all.checked = shown.size === more.length;
      }));
    });
    // Beside the filter, if there is one.
    var tools = region.previousElementSibling;
    if (tools && tools.classList.contains("tools")) tools.append(chooser); else region.parentNode.insertBefore(chooser, region);
    apply();
  });
})();
