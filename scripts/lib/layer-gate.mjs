/** Checks the imports, effects and sizes of a source tree against scripts/lib/layer-table.mjs. Pure: files in, sentences out. */
import path from "node:path";
import { readModule } from "./layer-reader.mjs";
import { ALLOWED_SIBLINGS, EFFECTS, FORBIDDEN, LAYERS, LAZY, LIMITS, PACKAGE_HOMES } from "./layer-table.mjs";

/**
 * @param {ReadonlyMap<string, string>} sources path below src/, with slashes → source text
 * @returns {string[]} one sentence for each violation: where, what, and where the code belongs
 */
export function layerViolations(sources) {
  const found = new Set();
  const report = (file, line, sentence) => found.add(`src/${file}:${line}: ${sentence}.`);
  const modules = readModules(sources, report);
  for (const [file, module] of modules) checkFile(file, module, report);
  for (const cycle of cyclesOf(modules)) reportCycle(cycle, modules, report);
  for (const [line, file, sentence] of folderCycles(modules)) report(file, line, sentence);
  checkLazy(modules, report);
  checkSizes(sources, report);
  return [...found];
}

/**
 * Checks the folder table of docs/architecture.md against the layers and the folders of src/, and its file names.
 * @param {string} markdown rows are `| layer | places | what they hold |`, places in backticks
 * @param {Iterable<string>} files paths below src/
 * @returns {string[]} one sentence for each difference
 */
export function documentViolations(markdown, files) {
  const rows = [...markdown.matchAll(/^\| *(\d*) *\| *((?:`[^`|]+` *)+)\|/gm)];
  const documented = new Map();
  let layer;
  for (const [, number, places] of rows) {
    if (number !== "") layer = Number(number);
    for (const [, place] of places.matchAll(/`([^`]+)`/g)) documented.set(place.replace(/\/$/, ""), layer);
  }
  const present = new Set([...files].map((file) => (file.includes("/") ? path.posix.dirname(file) : file)));
  for (const folder of present) if (folder.includes("/")) present.add(folder.split("/")[0]);
  const where = "docs/architecture.md";
  const paths = new Set(files);
  const named = [...markdown.matchAll(/`([a-z0-9-]+(?:\/[a-z0-9-]+)*\.ts)`/g)].map(([, file]) => file);
  return [
    ...[...new Set(named)]
      .filter((file) => !paths.has(file))
      .map((file) => `${where} names ${file}, which does not exist in src/; name the file that replaced it.`),
    ...[...present]
      .filter((place) => !documented.has(place))
      .map((place) => `${where} does not list ${display(place)}; add a row that says what it holds.`),
    ...[...documented.keys()]
      .filter((place) => !present.has(place))
      .map((place) => `${where} lists ${display(place)}, which does not exist in src/; remove its row.`),
    ...[...documented]
      .filter(([place, listed]) => present.has(place) && layerOf(place) !== listed - 1)
      .map(
        ([place, listed]) =>
          `${where} puts ${display(place)} in layer ${listed}; the gate has it in layer ${layerOf(place) + 1}.`,
      ),
  ];
}

function readModules(sources, report) {
  return new Map(
    [...sources].map(([file, source]) => [file, withTargets(file, parse(file, source, report), sources)]),
  );
}

/** Parses a file. A file that does not parse counts as one violation, and imports nothing. */
function parse(file, source, report) {
  try {
    return readModule(source, file);
  } catch (error) {
    report(file, 1, `does not parse, so it cannot be checked (${error.message.split("\n")[0]})`);
    return readModule("", file);
  }
}

function withTargets(file, module, sources) {
  const targetOf = (specifier) => {
    if (!specifier?.startsWith(".")) return undefined;
    const target = path.posix.join(path.posix.dirname(file), specifier);
    return sources.has(target) ? target : undefined;
  };
  const imports = module.imports.map((found) => ({
    ...found,
    specifier: withScheme(found.specifier),
    target: targetOf(found.specifier),
  }));
  return { ...module, imports };
}

/** `fs` and `node:fs` are one module. */
function withScheme(specifier) {
  return PACKAGE_HOMES.some(({ names }) => names.includes(`node:${specifier}`))
    ? `node:${specifier}`
    : specifier;
}

function checkFile(file, module, report) {
  if (layerOf(file) === undefined) {
    const sentence = `${display(placeOf(file))} is in no layer; move the code into an existing folder, or add the new one to scripts/lib/layer-table.mjs and docs/architecture.md`;
    return report(file, 1, sentence);
  }
  checkBarrel(file, module, report);
  for (const found of module.imports) checkImport(file, found, report);
  checkEffects(file, module, report);
}

/** Checks one import against the layers and against the homes of packages. */
function checkImport(file, { specifier, line, target }, report) {
  if (specifier === undefined) {
    const sentence =
      "imports a path that is only known at run time, so the gate cannot check it; write it as a plain string";
    return report(file, line, sentence);
  }
  if (!specifier.startsWith(".")) return checkHome(file, line, specifier, report);
  if (target === undefined)
    return report(
      file,
      line,
      `imports ${specifier}, which is not a file of src/; name one, with its extension`,
    );
  const refusal = importRefusal(placeOf(file), placeOf(target));
  if (refusal !== undefined) report(file, line, refusal);
}

/** Why the first place may not import the second; undefined if it may. */
function importRefusal(from, to) {
  if (from === to || ALLOWED_SIBLINGS.some((pair) => pair.from === from && pair.to === to)) return undefined;
  const [own, other] = [layerOf(from), layerOf(to)];
  if (other === undefined) return undefined; // Reported at that file.
  const what = `${display(from)} imports ${display(to)}`;
  if (other > own)
    return `${what}, which is in a higher layer; move what it needs down to ${display(from)} or below, or pass it in as an argument`;
  if (other === own)
    return `${what}, which is in the same layer; move what both need to a lower layer, or join them in a higher one`;
  const forbidden = FORBIDDEN.find((pair) => pair.from === from && pair.to.includes(to));
  return forbidden && `${what}, but ${forbidden.why}; pass the value in from a higher layer`;
}

function checkHome(file, line, specifier, report) {
  const home = PACKAGE_HOMES.find(({ names }) => names.some((name) => isOf(specifier, name)));
  if (home !== undefined && !livesIn(file, home.homes))
    report(file, line, `imports ${specifier}, which only ${home.homes.join(", ")} may; ${home.instead}`);
}

function checkEffects(file, { members, globals, clocks }, report) {
  const uses = [...members, ...globals.map(({ name, line }) => ({ object: undefined, name, line }))];
  for (const { object, name, line } of uses) {
    const effect = EFFECTS.find((rule) => rule.of === object && rule.names.includes(name));
    if (effect === undefined || livesIn(file, effect.homes)) continue;
    const what = object === undefined ? name : `${object}.${name}`;
    report(file, line, `uses ${what}, which only ${effect.homes.join(", ")} may; ${effect.instead}`);
  }
  for (const line of livesIn(file, ["os/"]) ? [] : clocks)
    report(
      file,
      line,
      "reads the time, which only os/ may; take a Clock as an argument, and create dates from its number",
    );
}

function checkBarrel(file, { onlyReexports, starExports }, report) {
  if (file === "index.ts") return;
  if (path.posix.basename(file) === "index.ts" || onlyReexports)
    report(
      file,
      1,
      "is a barrel file; import from the file that declares the name (only src/index.ts re-exports)",
    );
  else
    for (const line of starExports)
      report(file, line, "re-exports another file as a whole; export by name from where it is declared");
}

/** Returns the import cycles of files, each as a list that begins with its first file in the alphabet. */
function cyclesOf(modules) {
  const graph = new Map(
    [...modules].map(([file, { imports }]) => [file, imports.flatMap(({ target }) => target ?? [])]),
  );
  return graphCycles(graph);
}

/** Finds cycles of a graph (node → nodes), depth-first. */
function graphCycles(graph) {
  const cycles = new Map();
  const done = new Set();
  const trail = [];
  const walk = (node) => {
    if (trail.includes(node)) {
      const cycle = rotated(trail.slice(trail.indexOf(node)));
      cycles.set(cycle.join(), cycle);
      return;
    }
    if (done.has(node)) return;
    trail.push(node);
    for (const next of graph.get(node) ?? []) if (next !== node) walk(next);
    trail.pop();
    done.add(node);
  };
  for (const node of graph.keys()) walk(node);
  return [...cycles.values()];
}

function rotated(cycle) {
  const first = cycle.indexOf([...cycle].sort()[0]);
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

function reportCycle([file, ...rest], modules, report) {
  const line = modules.get(file).imports.find(({ target }) => target === (rest[0] ?? file))?.line ?? 1;
  const trail = [file, ...rest, file].join(" → ");
  report(file, line, `is part of an import cycle: ${trail}; move what they share into a file below both`);
}

/** Returns the cycles between the subfolders of one folder. Files directly in that folder do not count. */
function folderCycles(modules) {
  const edges = new Map();
  const examples = new Map();
  for (const [file, { imports }] of modules) {
    const from = subfolderOf(file);
    for (const { target, line } of from === undefined ? [] : imports) {
      const to = target && subfolderOf(target);
      if (to === undefined || to === from || placeOf(file) !== placeOf(target)) continue;
      edges.set(from, [...(edges.get(from) ?? []), to]);
      if (!examples.has(`${from} ${to}`)) examples.set(`${from} ${to}`, { file, line });
    }
  }
  return graphCycles(edges).map((cycle) => {
    const { file, line } = examples.get(`${cycle[0]} ${cycle[1]}`);
    const trail = [...cycle, cycle[0]].map((folder) => `${folder}/`).join(" → ");
    return [line, file, `closes a cycle of folders: ${trail}; move what they share into the lower one`];
  });
}

function subfolderOf(file) {
  const folders = file.split("/").slice(0, -1);
  return folders.length > 1 ? folders.join("/") : undefined;
}

/** Follows static imports from each entry: a heavy package at their end would load at every start. */
function checkLazy(modules, report) {
  for (const entry of LAZY.entries) {
    const importer = new Map([[entry, undefined]]);
    // Iterating a Map also visits the entries that are added meanwhile.
    for (const [file] of importer) {
      const loads = (modules.get(file)?.imports ?? []).filter(({ kind }) => kind === "static");
      for (const { target } of loads)
        if (target !== undefined && !importer.has(target)) importer.set(target, file);
      for (const { specifier, line } of loads.filter(isHeavy))
        report(
          file,
          line,
          `loads ${specifier} at every start (${trailTo(file, importer)}); load it with await import() where it is used`,
        );
    }
  }
}

function isHeavy({ specifier }) {
  return LAZY.packages.some((name) => isOf(specifier ?? "", name));
}

function trailTo(file, importer) {
  const trail = [];
  for (let at = file; at !== undefined; at = importer.get(at)) trail.unshift(at);
  return trail.join(" → ");
}

function checkSizes(sources, report) {
  const folders = new Map();
  for (const file of sources.keys()) {
    const folder = path.posix.dirname(file);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  for (const [folder, files] of folders)
    if (files.length > LIMITS.files && !LIMITS.exceptFolders.includes(folder))
      report(
        files[0],
        1,
        `is one of ${files.length} files in ${folder}/, at most ${LIMITS.files} are allowed; split the folder`,
      );
  for (const [file, source] of sources) {
    const lines = source.split("\n").length - 1;
    if (lines > LIMITS.lines)
      report(file, lines, `has ${lines} lines, at most ${LIMITS.lines} are allowed; split the file`);
  }
}

/** Top-level folder of a file, or the file itself if it is directly in src/. */
function placeOf(file) {
  return file.split("/")[0];
}

/** Formats a place for a sentence: a folder ends with a slash. */
function display(place) {
  return place.endsWith(".ts") ? place : `${place}/`;
}

function layerOf(file) {
  const layer = LAYERS.findIndex((places) => places.includes(placeOf(file)));
  return layer < 0 ? undefined : layer;
}

function livesIn(file, homes) {
  return homes.some((home) => (home.endsWith("/") ? file.startsWith(home) : file === home));
}

function isOf(specifier, name) {
  return specifier === name || specifier.startsWith(`${name}/`);
}
