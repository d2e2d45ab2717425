#!/usr/bin/env node
// Writes a software bill of materials in SPDX 2.3: all crates that end in the program of a platform, and those that build it.
//
//   cargo metadata --locked --format-version 1 --filter-platform TARGET | node packaging/sbom.mjs > evalreport.spdx.json
//
// SOURCE_DATE_EPOCH sets the time of the document. Cargo.lock's checksums are taken from beside Cargo.toml.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const text = readFileSync(0, "utf8");
const metadata = JSON.parse(text);
const root = metadata.resolve?.root;
if (!root) {
  process.stderr.write("error: the metadata names no package as its root\n");
  process.exit(2);
}

const lock = join(metadata.workspace_root ?? ".", "Cargo.lock");
const checksums = new Map(
  (existsSync(lock) ? readFileSync(lock, "utf8") : "").split("[[package]]").flatMap((block) => {
    const value = (key) => block.match(new RegExp(`^${key} = "(.*)"$`, "m"))?.[1];
    return value("checksum") ? [[`${value("name")} ${value("version")}`, value("checksum")]] : [];
  })
);

const packages = new Map(metadata.packages.map((one) => [one.id, one]));
const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
const edges = [];
const seen = new Set([root]);
const waiting = [root];
while (waiting.length > 0) {
  const from = waiting.pop();
  for (const { pkg, dep_kinds: kinds } of nodes.get(from)?.deps ?? []) {
    const isNormal = kinds.some(({ kind }) => kind === null);
    // What only tests need is in no release.
    if (!isNormal && !kinds.some(({ kind }) => kind === "build")) {
      continue;
    }
    edges.push({ from, to: pkg, isNormal });
    if (!seen.has(pkg)) {
      seen.add(pkg);
      waiting.push(pkg);
    }
  }
}

const idOf = (id) => {
  const { name, version } = packages.get(id);
  return `SPDXRef-${name}-${version}`.replace(/[^A-Za-z0-9.-]/g, "-");
};
// An older form of licences has a slash for "or".
const licence = (expression) => (expression ? expression.replaceAll(/\s*\/\s*/g, " OR ") : "NOASSERTION");
const of = (id) => {
  const { name, version, license, source } = packages.get(id);
  const sum = checksums.get(`${name} ${version}`);
  return {
    SPDXID: idOf(id),
    name,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: licence(license),
    copyrightText: "NOASSERTION",
    ...(sum && { checksums: [{ algorithm: "SHA256", checksumValue: sum }] }),
    ...(source && {
      externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: `pkg:cargo/${name}@${version}` }],
    }),
  };
};

const seconds = process.env.SOURCE_DATE_EPOCH ? Number(process.env.SOURCE_DATE_EPOCH) * 1000 : Date.now();
const ids = [...seen].sort((one, two) => (idOf(one) < idOf(two) ? -1 : 1));
const relations = edges.map(({ from, to, isNormal }) =>
  isNormal
    ? { spdxElementId: idOf(from), relationshipType: "DEPENDS_ON", relatedSpdxElement: idOf(to) }
    : { spdxElementId: idOf(to), relationshipType: "BUILD_DEPENDENCY_OF", relatedSpdxElement: idOf(from) }
);
relations.sort((one, two) => (JSON.stringify(one) < JSON.stringify(two) ? -1 : 1));
const { name, version } = packages.get(root);
const document = {
  spdxVersion: "SPDX-2.3",
  dataLicense: "CC0-1.0",
  SPDXID: "SPDXRef-DOCUMENT",
  name: `${name}-${version}`,
  documentNamespace: `https://spdx.org/spdxdocs/${name}-${version}-${createHash("sha256").update(text).digest("hex")}`,
  creationInfo: { created: new Date(seconds).toISOString().replace(/\.\d+Z$/, "Z"), creators: ["Tool: evalreport-packaging-sbom"] },
  packages: ids.map(of),
  relationships: [{ spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: idOf(root) }, ...relations],
};
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
