// Unpacks the ZIP files that GitHub makes of artifacts. Node has no reader of its own, and a runner may lack `unzip`.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inflateRawSync } from "node:zlib";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const STORED = 0;
const DEFLATED = 8;

/** Writes all files of the archive into the folder and returns their paths. */
export function unzip(bytes, folder) {
  let end = bytes.length - 22;
  while (end >= 0 && bytes.readUInt32LE(end) !== END) {
    end -= 1;
  }
  if (end < 0) {
    throw new Error("the artifact is not a ZIP file");
  }
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count === 0xffff || at === 0xffffffff) {
    throw new Error("the artifact is too large: it has 65,535 files or 4 GB, or more");
  }
  const written = [];
  for (let entry = 0; entry < count; entry += 1) {
    if (bytes.readUInt32LE(at) !== ENTRY) {
      throw new Error("the artifact is a damaged ZIP file");
    }
    const [method, packed, size] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)];
    const [nameSize, extraSize, commentSize] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)];
    const local = bytes.readUInt32LE(at + 42);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameSize);
    at += 46 + nameSize + extraSize + commentSize;
    const parts = name.split(/[\\/]/);
    if (name.startsWith("/") || parts.includes("..") || /^[A-Za-z]:/.test(name)) {
      throw new Error("the artifact has a file outside of its folder");
    }
    if (name.endsWith("/")) {
      continue;
    }
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(start, start + packed);
    if (method !== STORED && method !== DEFLATED) {
      throw new Error("the artifact is compressed in an unknown way");
    }
    const content = method === STORED ? data : inflateRawSync(data, { maxOutputLength: Math.max(size, 1) });
    if (content.length !== size) {
      throw new Error("the artifact is a damaged ZIP file");
    }
    const path = join(folder, ...parts);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    written.push(path);
  }
  return written;
}
