// Transcripts: a fragment unfolds its target, and j and k walk through the steps.
(function () {
  "use strict";
  var box = document.getElementById("talks");
  if (!box) return;
  var talks = Array.prototype.slice.call(box.children);

  function unfold(element) {
    for (var at = element; at && at !== box; at = at.parentNode) if (at.tagName === "DETAILS") at.open = true;
  }
  function named() {
    var target = null;
    if (location.hash.length < 2) return;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch (error) { /* Not ours. */ }
    if (target && box.contains(target)) { unfold(target); target.scrollIntoView(); }
  }
  window.addEventListener("hashchange", named);
  named();

  var tools = document.createElement("p");
  tools.className = "keys";
  tools.setAttribute("data-script", "");
  var all = document.createElement("button");
  all.type = "button";
  function label() { all.textContent = talks.every(function (talk) { return talk.open; }) ? "Fold all" : "Unfold all"; }
  all.addEventListener("click", function () {
    var open = !talks.every(function (talk) { return talk.open; });
    talks.forEach(function (talk) { talk.open = open; });
  });
  // Toggle events come later.
  talks.forEach(function (talk) { talk.addEventListener("toggle", label); });
  label();
  var keys = ["j", "k"].map(function (key) {
    var shown = document.createElement("kbd");
    shown.textContent = key;
    return shown;
  });
  if (talks.length > 1) tools.append(all, " ");
  tools.append(keys[0], " next step, ", keys[1], " step before");
  box.parentNode.insertBefore(tools, box);

  // Stops of j and k: all steps, which are unfolded when reached, and transcripts without steps.
  function stops() {
    return Array.prototype.filter.call(box.querySelectorAll(".talk > summary, .step"), function (stop) {
      return stop.tagName !== "SUMMARY" || !stop.parentNode.querySelector(".step");
    });
  }
  function follow(step) {
    Array.prototype.forEach.call(box.querySelectorAll(".rail [aria-current]"), function (link) { link.removeAttribute("aria-current"); });
    var talk = step && step.closest(".talk");
    Array.prototype.forEach.call(talk ? talk.querySelectorAll(".rail a") : [], function (link) {
      if (link.getAttribute("href") === "#" + step.id) link.setAttribute("aria-current", "step");
    });
  }
  function walk(by) {
    var list = stops();
    var here = document.activeElement && document.activeElement.closest(".step, .talk > summary");
    var at = list.indexOf(here);
    // From a transcript's heading, the next step is its first, and the step before is the last of those above it.
    if (at < 0 && here) {
      at = list.findIndex(function (stop) { return here.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING; });
      at = at < 0 ? list.length : at - (by > 0 ? 1 : 0);
    } else if (at < 0 && by < 0) at = list.length;
    var next = list[at + by];
    if (!next) return;
    unfold(next.closest(".talk"));
    if (next.tagName !== "SUMMARY") next.tabIndex = -1;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
    follow(next.closest(".step"));
  }
  box.addEventListener("focusin", function (event) { follow(event.target.closest(".step")); });
  document.addEventListener("keydown", function (event) {
    if (window.evalreport.isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "j" || event.key === "k") { event.preventDefault(); walk(event.key === "j" ? 1 : -1); }
  });
})();
