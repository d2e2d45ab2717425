// Facts about the package that several scripts need, each from its one place: Cargo.toml, and `packaging/repository`.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Returns what `[package]` of Cargo.toml says. Reads only plain strings and lists of strings, which stand on one line there. */
export function packageFacts() {
  const text = readFileSync(join(here, "..", "Cargo.toml"), "utf8");
  const section = text.split(/^\[package\]\s*$/m)[1]?.split(/^\[/m)[0] ?? "";
  const value = (key) => {
    const found = section.match(new RegExp(`^${key}\\s*=\\s*("[^"]*"|\\[[^\\]]*\\])`, "m"));
    if (!found) {
      throw new Error(`Cargo.toml has no plain \`${key}\` in [package]`);
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
