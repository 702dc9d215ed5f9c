/**
 * Holds every import of src/ against the house of architecture.md (scripts/lib/layer-table.mjs), and ends with 1 and
 * one sentence for each breach: where, what, and where the code belongs.
 *
 *   node scripts/layers.mjs [root]
 *
 * `root` is the directory that holds src/, by default the one above this script.
 */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { readModule } from "./lib/layer-reader.mjs";
import { APART, EFFECTS, HOMES, LAZY, LEVELS, SIBLINGS } from "./lib/layer-table.mjs";

const root = path.resolve(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)));
const src = path.join(root, "src");
const breaches = [];
const modules = readModules();

for (const [file, module] of modules) {
  if (levelOf(file) === undefined) {
    report(
      file,
      1,
      `${shown(placeOf(file))} is not in the house; put the code into the folder of its level, or draw the new one in scripts/lib/layer-table.mjs`,
    );
    continue;
  }
  checkBarrel(file, module);
  for (const found of module.imports) checkImport(file, found);
  checkEffects(file, module);
}
checkCycles();
checkLazy();

for (const line of [...new Set(breaches)]) console.error(line);
console.log(
  `layers: ${modules.size} files, ${breaches.length === 0 ? "each where it belongs" : `${new Set(breaches).size} breaches`}`,
);
if (breaches.length > 0) process.exitCode = 1;

function report(file, line, sentence) {
  breaches.push(`src/${file}:${line}: ${sentence}.`);
}

/** One import against the levels, and against the homes of packages. */
function checkImport(file, { specifier, line, target }) {
  if (specifier === undefined)
    return report(
      file,
      line,
      "imports a name that is only known at run time, so nothing can hold it to the house; write the path as a plain string",
    );
  if (!specifier.startsWith(".")) return checkHome(file, line, specifier);
  if (target === undefined)
    return report(file, line, `imports ${specifier}, which is no file of src/; name one, with its extension`);
  const [from, to] = [placeOf(file), placeOf(target)];
  if (from === to || SIBLINGS.some((pair) => pair.from === from && pair.to === to)) return;
  const [own, other] = [levelOf(file), levelOf(target)];
  if (other === undefined) return; // Reported at that file.
  const apart = APART.find((pair) => pair.from === from && pair.to.includes(to));
  if (other > own)
    report(
      file,
      line,
      `${shown(from)} imports ${shown(to)}, which stands above it; move what it needs down to ${shown(from)} or below, or hand it in as an argument`,
    );
  else if (other === own)
    report(
      file,
      line,
      `${shown(from)} imports ${shown(to)}, which stands on the same level; move what both need to a level below, or join them above`,
    );
  else if (apart !== undefined)
    report(
      file,
      line,
      `${shown(from)} imports ${shown(to)}, but ${apart.why}; hand the value in from a folder above`,
    );
}

function checkHome(file, line, specifier) {
  const home = HOMES.find(({ names }) => names.some((name) => isOf(specifier, name)));
  if (home !== undefined && !livesIn(file, home.homes))
    report(file, line, `imports ${specifier}, whose only place is ${home.homes.join(", ")}; ${home.instead}`);
}

function checkEffects(file, { members, globals, clocks }) {
  const uses = [...members, ...globals.map(({ name, line }) => ({ object: undefined, name, line }))];
  for (const { object, name, line } of uses) {
    const effect = EFFECTS.find((rule) => rule.of === object && rule.names.includes(name));
    if (effect !== undefined && !livesIn(file, effect.homes))
      report(
        file,
        line,
        `uses ${object === undefined ? name : `${object}.${name}`}, whose only place is ${effect.homes.join(", ")}; ${effect.instead}`,
      );
  }
  for (const line of livesIn(file, ["os/"]) ? [] : clocks)
    report(
      file,
      line,
      "reads the time, which only os/ does; take a Clock as an argument, and make dates of its number",
    );
}

function checkBarrel(file, { onlyReexports, starExports }) {
  if (file === "index.ts") return;
  if (path.basename(file) === "index.ts" || onlyReexports)
    report(
      file,
      1,
      "is a barrel file; import from the file that declares the name (src/index.ts alone is the public API)",
    );
  else
    for (const line of starExports)
      report(file, line, "exports all of another file; export by name, from where it is declared");
}

/** Each ring of files once, named from its first file in the alphabet. */
function checkCycles() {
  const done = new Set();
  const trail = [];
  const walk = (file) => {
    if (trail.includes(file)) return reportRing(trail.slice(trail.indexOf(file)));
    if (done.has(file)) return;
    trail.push(file);
    for (const { target } of modules.get(file)?.imports ?? [])
      if (target !== undefined && target !== file) walk(target);
    trail.pop();
    done.add(file);
  };
  for (const file of modules.keys()) walk(file);
}

function reportRing(ring) {
  const first = ring.indexOf([...ring].sort()[0]);
  const [file, ...rest] = [...ring.slice(first), ...ring.slice(0, first)];
  const line = modules.get(file).imports.find(({ target }) => target === rest[0])?.line ?? 1;
  report(
    file,
    line,
    `imports in a ring: ${[file, ...rest, file].join(" → ")}; move what they share into a file below both`,
  );
}

/** Follows static imports from each entry: a heavy package at their end would load at every start. */
function checkLazy() {
  for (const entry of LAZY.entries) {
    const cameFrom = new Map([[entry, undefined]]);
    // A Map's walk meets what is added on the way.
    for (const [file] of cameFrom) {
      const loads = (modules.get(file)?.imports ?? []).filter(({ kind }) => kind === "static");
      for (const { target } of loads)
        if (target !== undefined && !cameFrom.has(target)) cameFrom.set(target, file);
      for (const { specifier, line } of loads.filter(isHeavy))
        report(
          file,
          line,
          `loads ${specifier} at every start (${trailTo(file, cameFrom)}); load it with await import() where it is used`,
        );
    }
  }
}

function isHeavy({ specifier }) {
  return LAZY.packages.some((name) => isOf(specifier ?? "", name));
}

function trailTo(file, cameFrom) {
  const trail = [];
  for (let at = file; at !== undefined; at = cameFrom.get(at)) trail.unshift(at);
  return trail.join(" → ");
}

function readModules() {
  const files = fs
    .readdirSync(src, { recursive: true })
    .map((name) => name.split(path.sep).join("/"))
    .filter((name) => /\.[cm]?tsx?$/.test(name))
    .sort();
  const known = new Set(files);
  return new Map(files.map((file) => [file, withTargets(file, known)]));
}

function withTargets(file, known) {
  const module = parsed(file);
  const targetOf = (specifier) => {
    const target = specifier?.startsWith(".")
      ? path.posix.join(path.posix.dirname(file), specifier)
      : undefined;
    return known.has(target) ? target : undefined;
  };
  const imports = module.imports.map((found) => ({
    ...found,
    specifier: withScheme(found.specifier),
    target: targetOf(found.specifier),
  }));
  return { ...module, imports };
}

/** A file that does not parse is a breach of its own, and imports nothing. */
function parsed(file) {
  const source = fs.readFileSync(path.join(src, file), "utf8");
  try {
    return readModule(source, file);
  } catch (error) {
    report(file, 1, `does not parse, so nothing can be said of it (${error.message.split("\n")[0]})`);
    return readModule("", file);
  }
}

/** `fs` and `node:fs` are one module. */
function withScheme(specifier) {
  return HOMES.some(({ names }) => names.includes(`node:${specifier}`)) ? `node:${specifier}` : specifier;
}

/** Folder of src/ that a file stands in, or the file itself where it stands in none. */
function placeOf(file) {
  return file.split("/")[0];
}

/** As a reader knows it: folders with their slash. */
function shown(place) {
  return place.endsWith(".ts") ? place : `${place}/`;
}

function levelOf(file) {
  const level = LEVELS.findIndex((places) => places.includes(placeOf(file)));
  return level < 0 ? undefined : level;
}

function livesIn(file, homes) {
  return homes.some((home) => (home.endsWith("/") ? file.startsWith(home) : file === home));
}

function isOf(specifier, name) {
  return specifier === name || specifier.startsWith(`${name}/`);
}
