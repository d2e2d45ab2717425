// Texts: cutting them to a limit, quoting foreign ones, and finding files by pattern.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Cuts Markdown at the end of a line if it is longer than `limit`, closes open folds, and adds `note`. `size` measures a text.
 */
export function cut(text, limit, note, size = (part) => part.length) {
  if (size(text) <= limit) {
    return text;
  }
  const lines = text.split("\n");
  const ending = (count) => {
    const kept = lines.slice(0, count);
    const open = kept.reduce((sum, line) => sum + line.split("<details").length - line.split("</details>").length, 0);
    const fence = kept.reduce((mark, line) => {
      const found = line.match(/^(`{3,})/)?.[1];
      return found === undefined ? mark : mark === "" ? found : found.length >= mark.length ? "" : mark;
    }, "");
    const closing = `${fence && `\n${fence}`}${"\n\n</details>".repeat(Math.max(open, 0))}`;
    return `${kept.join("\n")}${closing}\n\n${note}\n`;
  };
  let [low, high] = [0, lines.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (size(ending(middle)) <= limit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return ending(low);
}

/** Quotes foreign text as code, in which Markdown makes no links and mentions nobody. */
export function fenced(text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((found) => found[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text.trimEnd()}\n${fence}`;
}

/** Returns one line of foreign text for the log. */
export function oneLine(text) {
  // eslint-disable-next-line no-control-regex
  return String(text).replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ").slice(0, 500);
}

/** Returns the lines of an input, without empty ones. */
export function linesOf(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

const isPattern = (text) => /[*?]/.test(text);

/** Returns the paths that fit a pattern, in order. `*` and `?` match within a name, `**` any folders. Hidden names need a dot. */
export function find(pattern) {
  if (!isPattern(pattern)) {
    return statSync(pattern, { throwIfNoEntry: false }) ? [pattern] : [];
  }
  const parts = pattern.split(/[\\/]/).filter((part, at) => part !== "" || at === 0);
  const isAbsolute = parts[0] === "";
  const found = new Set();
  const walk = (folder, at) => {
    if (at === parts.length) {
      found.add(folder);
      return;
    }
    const part = parts[at];
    const inside = (name) => (folder === "" ? name : join(folder, name));
    if (!isPattern(part)) {
      const path = folder === "" && isAbsolute && at === 0 ? "/" : inside(part);
      if (statSync(path, { throwIfNoEntry: false })) {
        walk(path, at + 1);
      }
      return;
    }
    let entries;
    try {
      entries = readdirSync(folder === "" ? "." : folder, { withFileTypes: true });
    } catch {
      return;
    }
    if (part === "**") {
      walk(folder, at + 1);
      for (const entry of entries) {
        if (entry.isDirectory() && !entry.name.startsWith(".")) {
          walk(inside(entry.name), at);
        }
      }
      return;
    }
    const escaped = part.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
    const fits = new RegExp(`^${escaped}$`, "s");
    for (const { name } of entries) {
      if (fits.test(name) && (part.startsWith(".") || !name.startsWith("."))) {
        walk(inside(name), at + 1);
      }
    }
  };
  walk("", 0);
  return [...found].sort();
}
