// Facts about the package that several scripts need, each from its one place: Cargo.toml, and `packaging/repository`.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Returns what `[package]` and `[workspace.package]` of Cargo.toml say. Reads only plain strings and lists of strings, which stand on one line there. */
export function packageFacts() {
  const text = readFileSync(join(here, "..", "Cargo.toml"), "utf8");
  const parts = text.split(/^\[(?:workspace\.)?package\]\s*$/m).slice(1);
  const section = parts.map((part) => part.split(/^\[/m)[0]).join("");
  const value = (key) => {
    const found = section.match(new RegExp(`^${key}\\s*=\\s*("[^"]*"|\\[[^\\]]*\\])`, "m"));
    if (!found) {
      throw new Error(`Cargo.toml has no plain \`${key}\` of its package`);
    }
    return JSON.parse(found[1]);
  };
  return Object.fromEntries(["version", "description", "license", "keywords"].map((key) => [key, value(key)]));
}

/** Returns `owner/name` of the repository: from EVALREPORT_REPOSITORY, else from `packaging/repository`. `undefined` if it is not set. */
export function repository() {
  const given = process.env.EVALREPORT_REPOSITORY || readFileSync(join(here, "repository"), "utf8").trim();
  return /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/.test(given) && !given.startsWith("OWNER/") ? given : undefined;
}
