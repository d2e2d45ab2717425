// The map of items: pointer, arrow keys and a read-out. Without it, the drawing and the table have the same data.
(function () {
  "use strict";
  var box = document.getElementById("map-box");
  var table = document.getElementById("map");
  if (!box || !table) return;
  function lines(name) { return table.getAttribute(name).split("\n").slice(0, -1); }
  var names = lines("data-names"), hrefs = lines("data-hrefs"), rates = table.getAttribute("data-rates").split(" ");
  var rows = Array.prototype.slice.call(table.querySelectorAll("tbody tr"), 1).map(function (row) {
    var cell = row.cells[1];
    var told = cell.getAttribute("data-cells"), isSingle = told.indexOf(" ") < 0 && told.indexOf("/") < 0;
    return { name: row.cells[0].textContent, cells: isSingle ? Array.from(told) : told.split(" "), svg: cell.firstElementChild };
  });
  if (!rows.length || names.length !== rates.length) return;
  var at = { row: 0, column: 0 };
  var here = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  here.setAttribute("class", "here");
  here.setAttribute("width", "1");
  here.setAttribute("height", "1");

  function told(cell) {
    if (cell === "1" || cell === "0") return cell === "1" ? "passed" : "not passed";
    var parts = /^(\d+)\/(\d+)$/.exec(cell);
    if (parts) return parts[2] === "1" ? (parts[1] === "1" ? "passed" : "not passed") : parts[1] + " of " + parts[2] + " outcomes passed";
    return cell === "?" ? "no outcome" : "skipped or not tried";
  }
  function show() {
    var row = rows[at.row];
    here.setAttribute("x", at.column);
    row.svg.appendChild(here);
    read.textContent = "";
    var item = document.createElement("bdi");
    item.textContent = names[at.column];
    var arm = document.createElement("bdi");
    arm.textContent = row.name;
    var strong = document.createElement("strong");
    strong.append(item);
    read.append(strong, ", ", arm, ": " + told(row.cells[at.column]) + ". All arms: " + rates[at.column] + ".");
  }
  function move(row, column) {
    at = { row: Math.max(0, Math.min(rows.length - 1, row)), column: Math.max(0, Math.min(names.length - 1, column)) };
    show();
  }
  function leave() { location.href = hrefs[at.column]; }
  function pointed(event, index) {
    var field = rows[index].svg.getBoundingClientRect();
    move(index, Math.floor((event.clientX - field.left) / field.width * names.length));
  }
  rows.forEach(function (row, index) {
    row.svg.addEventListener("pointermove", function (event) { pointed(event, index); });
    row.svg.addEventListener("click", function (event) { pointed(event, index); leave(); });
  });
  var read = document.createElement("p");
  read.id = "map-read";
  read.className = "small";
  read.setAttribute("role", "status");
  read.setAttribute("data-script", "");
  read.textContent = "Point at a cell, or use the arrow keys, to read it. A click, or Enter, opens the item.";
  box.after(read);
  box.className = "live";
  box.tabIndex = 0;
  box.setAttribute("role", "application");
  box.setAttribute("aria-label", "Map of arms and items. The arrow keys move, Enter opens the item.");
  box.setAttribute("aria-describedby", "map-read");
  box.addEventListener("focus", show);
  box.addEventListener("keydown", function (event) {
    // Names of arms are links of their own.
    if (event.target !== box || event.ctrlKey || event.metaKey || event.altKey) return;
    var by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -names.length], End: [0, names.length] }[event.key];
    if (by) { event.preventDefault(); move(at.row + by[0], at.column + by[1]); }
    if (event.key === "Enter") { event.preventDefault(); leave(); }
  });
})();
