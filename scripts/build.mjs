/**
 * Builds dist/: CommonJS, split lazily at every dynamic import, so that a cold command loads only what it uses.
 *
 *   node scripts/build.mjs [--no-types] [--prune]
 *
 * dist/ is never half written. Chunks carry a hash of their content and are added beside the old ones; then each entry is
 * replaced by one rename. A `teams` that runs through a build keeps the chunks that it has yet to load, and two
 * builds at once publish the same files. What no entry needs any more goes after a day, or now with --prune.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify, stripVTControlCharacters } from "node:util";
import { rolldown } from "rolldown";
import { coldChunk } from "./lib/cold-chunk.mjs";
import { latePatterns } from "./lib/late-patterns.mjs";
import { lazyBuiltins } from "./lib/lazy-builtins.mjs";
import { leanLockfile } from "./lib/lean-lockfile.mjs";
import { plainExports } from "./lib/plain-exports.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = path.join(ROOT, "dist");
const PLAYBOOKS = path.join(ROOT, "src/playbooks");
const DAY = 24 * 60 * 60 * 1000;
const HOUR = 60 * 60 * 1000;

/** Source, what it becomes, and whether it is a command. */
const ENTRIES = [
  { source: "src/main.ts", name: "teams", command: true },
  { source: "src/main-agent.ts", name: "teams-agent", command: true },
  { source: "src/index.ts", name: "index", command: false },
];

/**
 * What a command begins with. A Node that can (22.1 and newer) keeps what it has compiled beside the code, which whoever could
 * write there could change as well, and starts the next command with it; where it may not write it compiles each time.
 */
const COMMAND_HEAD = `#!/usr/bin/env node
require("node:module").enableCompileCache?.(require("node:path").join(__dirname, "compile-cache"));`;

/**
 * What is loaded together, each with what none of those above it has: by every command; by a teammate before it says that
 * it is ready, and so without a schema; by those that read a team's files; by the command that is the measure of cold ones;
 * by those that read messages, by those that claim tasks or say in a line how all stands, by those that look at teammates,
 * and by a teammate that works. What two need and neither is below the other stands further up. No entry is among them,
 * since a chunk runs nothing.
 */
const CHUNKS = {
  start: [
    "src/terminal/process-io.ts",
    "src/cli/program.ts",
    "src/team/home.ts",
    "src/os/process/identity.ts",
    "src/os/uuid.ts",
    "src/os/files/watch.ts",
    "src/schema/defined.ts",
    "src/schema/permission-modes.ts",
    "src/schema/tokens.ts",
    "src/team/ref.ts",
    "src/team/records/write-records.ts",
    "src/wakeup/merged-bell.ts",
    "src/wakeup/timer-bell.ts",
  ],
  ready: ["src/cli/commands/agent.ts"],
  files: ["src/runtime/select-team.ts", "src/team/records/read-records.ts"],
  send: [
    "src/cli/commands/send.ts",
    "src/team/records/read-records.ts",
    "src/team/requests/requests.ts",
    "src/team/members/start-claims.ts",
    "src/team/mailbox/event-message-id.ts",
    "src/protocol/authenticate.ts",
    "src/protocol/render.ts",
    "src/protocol/permission-messages.ts",
    "src/team/members/budget.ts",
  ],
  mail: ["src/cli/commands/inbox.ts"],
  tasks: ["src/cli/commands/task/claim.ts", "src/cli/commands/status.ts"],
  look: ["src/cli/watch-status.ts"],
  work: ["src/runtime/teammate/teammate.ts"],
};

/** Loaded from their own packages: one reads its files there, the other would bring parts of zod into every command. */
const EXTERNAL = /^(blessed|@modelcontextprotocol\/client)($|\/)/;

const { values: options } = parseArgs({
  options: {
    "no-types": { type: "boolean", default: false },
    prune: { type: "boolean", default: false },
  },
});

const present = ENTRIES.filter((entry) => exists(entry.source));
for (const entry of ENTRIES) {
  if (!present.includes(entry))
    console.error(`build: ${entry.source} is not there; dist/${entry.name}.cjs is left out`);
}
removeLeftovers();
const stage = fs.mkdtempSync(path.join(ROOT, "dist.build-"));
try {
  // Both to their ends: the stage is removed behind them, also when one fails.
  const parts = await Promise.allSettled([bundle(present), options["no-types"] ? undefined : declarations()]);
  for (const part of parts) if (part.status === "rejected") throw part.reason;
  if (fs.existsSync(PLAYBOOKS)) fs.cpSync(PLAYBOOKS, path.join(stage, "playbooks"), { recursive: true });
  publish();
} catch (error) {
  const why = error.stdout || error.message;
  const shown = process.stderr.isTTY ? why : stripVTControlCharacters(why);
  console.error(`build: failed; dist/ is as it was.\n${shown}`);
  process.exitCode = 1;
} finally {
  fs.rmSync(stage, { recursive: true, force: true });
}

/**
 * Not minified: a stack trace that a user sends names our functions, and the start is no slower for it (measured). Comments
 * are left out, a fifth of what a start reads; those that licences ask for stay.
 */
async function bundle(entries) {
  if (entries.length === 0) return;
  const build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map(({ name, source }) => [name, source])),
    platform: "node",
    external: EXTERNAL,
    // Where a package ships both and names no exports (jsonc-parser), its ES form: the other one hides its requires.
    resolve: { mainFields: ["module", "main"] },
    plugins: [leanLockfile(), lazyBuiltins(), plainExports(), latePatterns("start")],
    logLevel: "warn",
  });
  await build.write({
    dir: stage,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    codeSplitting: {
      groups: Object.entries(CHUNKS).map(([name, roots]) =>
        coldChunk(
          name,
          roots.map((source) => path.join(ROOT, source)),
        ),
      ),
    },
    comments: { legal: true, annotation: false, jsdoc: false },
    banner: (chunk) => (isCommand(chunk) ? COMMAND_HEAD : ""),
  });
  await build.close();
  for (const entry of entries) {
    if (entry.command) fs.chmodSync(path.join(stage, `${entry.name}.cjs`), 0o755);
  }
}

function isCommand(chunk) {
  return chunk.isEntry && ENTRIES.some((entry) => entry.command && entry.name === chunk.name);
}

/** The types of the public API: dist/index.d.ts and the files that it names. */
async function declarations() {
  if (!exists("src/index.ts")) return;
  const project = path.join(ROOT, "scripts/tsconfig.types.json");
  const tsc = path.join(ROOT, "node_modules/.bin/tsc");
  await promisify(execFile)(tsc, ["--project", project, "--outDir", path.join(stage, "types")], {
    cwd: ROOT,
  });
  fs.writeFileSync(path.join(stage, "index.d.ts"), 'export * from "./types/index.js";\n');
}

/** Moves the stage's files into dist/: the entries last, each when all that it loads is there. */
function publish() {
  const files = filesBelow(stage).sort((a, b) => rank(a) - rank(b));
  const now = new Date();
  for (const file of files) {
    const target = path.join(DIST, file);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.utimesSync(path.join(stage, file), now, now);
    fs.renameSync(path.join(stage, file), target);
  }
  const kept = new Set(files);
  for (const file of filesBelow(DIST)) {
    if (!kept.has(file) && (options.prune || ageOf(path.join(DIST, file)) > DAY))
      removeIfThere(path.join(DIST, file));
  }
}

function rank(file) {
  return file.includes(path.sep) ? 0 : 1;
}

/** What a killed build left; a living one is minutes old at most. */
function removeLeftovers() {
  for (const name of fs.readdirSync(ROOT)) {
    const file = path.join(ROOT, name);
    if (name.startsWith("dist.build-") && ageOf(file) > HOUR)
      fs.rmSync(file, { recursive: true, force: true });
  }
}

function filesBelow(directory) {
  if (!fs.existsSync(directory)) return [];
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
}

/** Milliseconds since its last change; 0 when another build removed it just now. */
function ageOf(file) {
  const entry = fs.statSync(file, { throwIfNoEntry: false });
  return entry === undefined ? 0 : Date.now() - entry.mtimeMs;
}

function removeIfThere(file) {
  fs.rmSync(file, { force: true });
}

function exists(file) {
  return fs.existsSync(path.join(ROOT, file));
}
