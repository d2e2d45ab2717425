#!/usr/bin/env node
// Makes the npm tarballs from built programs: one package for each platform, and `evalreport`, which depends on them.
//
//   node npm/pack.mjs --out DIR --binary linux-x64=PATH [--binary darwin-arm64=PATH …] [--all]
//
// The version is that of Cargo.toml. `evalreport` lists all platforms, also those without --binary here. With --all, a platform without
// --binary is an error, as it must be in a release.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { packageFacts, repository } from "../packaging/facts.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const platforms = JSON.parse(readFileSync(join(here, "platforms.json"), "utf8"));

function stop(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}

const { values } = parseArgs({
  options: { out: { type: "string" }, binary: { type: "string", multiple: true, default: [] }, all: { type: "boolean", default: false } },
});
if (!values.out || values.binary.length === 0) {
  stop("usage: node npm/pack.mjs --out DIR --binary PLATFORM=PATH …");
}
const binaries = new Map();
for (const word of values.binary) {
  const at = word.indexOf("=");
  const [platform, path] = [word.slice(0, at), resolve(word.slice(at + 1))];
  if (!Object.hasOwn(platforms, platform)) {
    stop(`no platform \`${platform}\`; there are: ${Object.keys(platforms).join(", ")}`);
  }
  if (!existsSync(path)) {
    stop(`no file \`${path}\``);
  }
  binaries.set(platform, path);
}
const missing = Object.keys(platforms).filter((platform) => !binaries.has(platform));
if (values.all && missing.length > 0) {
  stop(`no program for ${missing.join(", ")}`);
}

const { version, description, license, keywords } = packageFacts();
const address = repository();
const shared = {
  version,
  license,
  ...(address && { repository: { type: "git", url: `git+https://github.com/${address}.git` } }),
};
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "evalreport-npm-"));

function pack(folder, manifest) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of ["LICENSE-MIT", "LICENSE-APACHE"]) {
    copyFileSync(join(root, file), join(folder, file));
  }
  // npm is a script on Windows, which needs a shell; the words are ours.
  const shell = process.platform === "win32";
  const said = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", shell ? `"${out}"` : out], {
    cwd: folder,
    encoding: "utf8",
    shell,
  });
  process.stdout.write(`${join(out, said.trim().split("\n").pop())}\n`);
}

try {
  for (const [platform, path] of binaries) {
    const { os, cpu, program } = platforms[platform];
    const folder = join(work, platform);
    mkdirSync(join(folder, "bin"), { recursive: true });
    copyFileSync(path, join(folder, "bin", program));
    chmodSync(join(folder, "bin", program), 0o755);
    writeFileSync(join(folder, "README.md"), `# @evalreport/${platform}\n\nThe program of the package \`evalreport\` for ${platform}.\n`);
    pack(folder, {
      name: `@evalreport/${platform}`,
      ...shared,
      description: `The program of the package evalreport for ${platform}`,
      os: [os],
      cpu: [cpu],
      files: ["bin"],
      preferUnplugged: true,
    });
  }
  const folder = join(work, "evalreport");
  cpSync(join(here, "evalreport"), folder, { recursive: true });
  chmodSync(join(folder, "bin", "evalreport.js"), 0o755);
  pack(folder, {
    name: "evalreport",
    ...shared,
    description,
    keywords,
    bin: { evalreport: "bin/evalreport.js" },
    files: ["bin"],
    engines: { node: ">=16" },
    optionalDependencies: Object.fromEntries(Object.keys(platforms).map((platform) => [`@evalreport/${platform}`, version])),
  });
} finally {
  rmSync(work, { recursive: true, force: true });
}
