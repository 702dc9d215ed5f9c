/**
 * Builds dist/: the commands in CommonJS, split at every dynamic import, so that a short-lived command loads only the
 * code that it uses; the library as a separate bundle, so that it adds nothing to a command; its types in one file; and
 * the licences of all packages in these files.
 *
 *   node scripts/build.mjs [--no-types] [--prune]
 *
 * Every state of dist/ is complete. Chunks carry a hash of their content and are added next to the old ones;
 * then each entry is replaced by one rename. A `teams` that runs during a build keeps the chunks that it has
 * yet to load, and two concurrent builds publish the same files. Files that no entry needs are removed after
 * a day, or at once with --prune.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify, stripVTControlCharacters } from "node:util";
import { rolldown } from "rolldown";
import { bundleTypes } from "./lib/bundle-types.mjs";
import { coldChunk, exactChunk } from "./lib/cold-chunk.mjs";
import { lazyRequires } from "./lib/lazy-requires.mjs";
import { leanLockfile } from "./lib/lean-lockfile.mjs";
import { licencesOf } from "./lib/licences.mjs";
import { bundlePackages, EXTERNAL, importsFrom, modulesOf } from "./lib/packages-apart.mjs";
import { plainExports } from "./lib/plain-exports.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = path.join(ROOT, "dist");
const PLAYBOOKS = path.join(ROOT, "src/playbooks");
const DAY = 24 * 60 * 60 * 1000;
const HOUR = 60 * 60 * 1000;

/** The commands: source, and name of the output. */
const COMMANDS = [
  { source: "src/main.ts", name: "teams" },
  { source: "src/main-agent.ts", name: "teams-agent" },
];
const LIBRARY = "src/index.ts";

/**
 * The first lines of a command. npm only warns about an older Node, whose missing functions would look like bugs of teams.
 * Node 22.1 and newer keeps its compile cache next to the code and starts the next command with it. Only a user who may write
 * the code may write there; without write access each start compiles again.
 */
const COMMAND_HEAD = `#!/usr/bin/env node
{
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    const found = "this is " + process.versions.node + " (" + process.execPath + ")";
    const hint = "Install a newer one from https://nodejs.org, and put it first on the PATH.";
    require("fs").writeSync(2, "teams: Node.js 20.19 or newer is needed, but " + found + "; nothing was done.\\n  hint: " + hint + "\\n");
    process.exit(6);
  }
}
require("node:module").enableCompileCache?.(require("node:path").join(__dirname, "compile-cache"));`;

/**
 * The chunks, each without the modules of the chunks above it: for every command; for a teammate until it
 * reports ready, and thus without a schema; zod and the schemas; for commands that read a team's files; for
 * `send`, the benchmark of a fast start; for commands that read messages; for `inbox`; for commands that claim
 * tasks or print a status line; for watchers and working teammates, which share little else; for commands that watch
 * teammates; and for a working teammate. A module that two independent chunks need belongs higher up. No entry is listed, because
 * a chunk must not run anything.
 */
const CHUNKS = {
  start: [
    "src/terminal/process-io.ts",
    "src/cli/program.ts",
    "src/os/process/identity.ts",
    "src/os/files/watch.ts",
    "src/schema/defined.ts",
    "src/schema/migrate.ts",
    "src/schema/permission-modes.ts",
    "src/schema/tokens.ts",
    "src/team/ref.ts",
    "src/team/records/write-records.ts",
    "src/wakeup/bell.ts",
    "src/wakeup/timer-bell.ts",
  ],
  ready: ["src/cli/commands/agent.ts"],
  schemas: [
    "src/schema/budget.ts",
    "src/schema/config.ts",
    "src/schema/ending.ts",
    "src/schema/inbox.ts",
    "src/schema/member-metadata.ts",
    "src/schema/process-identity.ts",
    "src/schema/start-claim.ts",
    "src/schema/status.ts",
    "src/schema/task.ts",
    "src/schema/worktree.ts",
    "src/schema/zod-helpers.ts",
  ],
  places: ["src/settings/json-place.ts"],
  files: ["src/runtime/select-team.ts", "src/team/records/read-records.ts", "src/text/local-time.ts"],
  send: ["src/cli/commands/send.ts"],
  messages: [
    "src/team/requests/requests.ts",
    "src/team/members/start-claims.ts",
    "src/team/mailbox/receive.ts",
    "src/protocol/render.ts",
    "src/protocol/permission-messages.ts",
    "src/team/members/budget.ts",
  ],
  mail: ["src/cli/commands/inbox.ts"],
  text: ["src/text/cell-width.ts", "src/text/compact-number.ts", "src/text/short-call.ts"],
  diff: [
    "src/text/diff/bounded-lines.ts",
    "src/text/diff/change-lines.ts",
    "src/text/diff/changed-words.ts",
    "src/text/diff/diff-line.ts",
    "src/text/diff/diff-rows.ts",
    "src/text/diff/diff-text.ts",
  ],
  tasks: ["src/cli/commands/task/claim.ts", "src/cli/commands/status.ts"],
  shared: [
    "src/team/mailbox/unsent-reports.ts",
    "src/launch/agent-environment.ts",
    "src/os/files/user-files.ts",
    "src/team/config/kept-config.ts",
    "src/terminal/terminal-abilities.ts",
  ],
  look: ["src/cli/watch-status.ts"],
  pane: [
    "src/runtime/pane/pane-suggestions.ts",
    "src/runtime/pane/project-files.ts",
    "src/runtime/pane/slash-commands.ts",
    "src/terminal/input/history.ts",
  ],
  highlight: ["src/text/markdown/highlight.ts"],
  markdown: [
    "src/text/markdown/block-starts.ts",
    "src/text/markdown/clean-text.ts",
    "src/text/markdown/code.ts",
    "src/text/markdown/inline.ts",
    "src/text/markdown/links.ts",
    "src/text/markdown/parse.ts",
    "src/text/markdown/rows.ts",
    "src/text/markdown/spans.ts",
    "src/text/markdown/splitter.ts",
    "src/text/markdown/table.ts",
  ],
  prompt: ["src/terminal/pane/permission-prompt.ts"],
  work: ["src/runtime/teammate/teammate.ts"],
};

/**
 * Chunks of exactly the files listed above and the package code that they use, loaded at the first use of one of their names. Cold
 * commands read clean files with the guards of src/schema/guards/; other files need zod, which would be a third of a cold `send`.
 * Only an error in a settings file needs the parser that knows its lines. Only a line that a person types in a pane needs history and
 * suggestions. A teammate needs Markdown for its first text, colours for its first code, diffs for its first edit, and the prompt for
 * its first request.
 */
const LAZY_CHUNKS = ["schemas", "places", "pane", "prompt", "diff", "markdown", "highlight"];

const { values: options } = parseArgs({
  options: {
    "no-types": { type: "boolean", default: false },
    prune: { type: "boolean", default: false },
  },
});

removeLeftovers();
const stage = fs.mkdtempSync(path.join(ROOT, "dist.build-"));
let mayHaveChanged = false;
try {
  // Wait for both, even if one fails: the stage is removed afterwards.
  const parts = await Promise.allSettled([bundleAll(), options["no-types"] ? undefined : declarations()]);
  for (const part of parts) if (part.status === "rejected") throw part.reason;
  await completionTable();
  if (fs.existsSync(PLAYBOOKS)) fs.cpSync(PLAYBOOKS, path.join(stage, "playbooks"), { recursive: true });
  mayHaveChanged = true;
  publish();
} catch (error) {
  const why = error.stdout || error.message;
  const shown = process.stderr.isTTY ? why : stripVTControlCharacters(why);
  const state = mayHaveChanged ? "dist/ may be incomplete: build again" : "dist/ is unchanged";
  console.error(`build: failed; ${state}.\n${shown}`);
  process.exitCode = 1;
} finally {
  fs.rmSync(stage, { recursive: true, force: true });
}

async function bundleAll() {
  const packages = await bundlePackages(ROOT, stage);
  const commands = await bundleCommands(packages.files);
  const library = await bundleLibrary(packages.files);
  const licences = licencesOf([...packages.modules, ...commands, ...library]);
  fs.writeFileSync(path.join(stage, "LICENSES.txt"), licences);
}

/**
 * Bundles the commands. They are not minified: a stack trace from a user names our functions, and starts are equally fast (measured).
 * Comments are removed, except for licences: they are a fifth of the bytes that a start reads.
 */
async function bundleCommands(packages) {
  const input = Object.fromEntries(COMMANDS.map(({ name, source }) => [name, source]));
  const modules = await bundle(input, packages, {
    chunkFileNames: "chunks/[name]-[hash].cjs",
    codeSplitting: {
      groups: Object.entries(CHUNKS).map(([name, sources]) => {
        const group = LAZY_CHUNKS.includes(name) ? exactChunk : coldChunk;
        return group(name, sources.map(absolute));
      }),
    },
    banner: (chunk) => (chunk.isEntry ? COMMAND_HEAD : ""),
  });
  for (const { name } of COMMANDS) fs.chmodSync(path.join(stage, `${name}.cjs`), 0o755);
  return modules;
}

/** Bundles the library for CommonJS, and writes its ES module: one instance serves both, so that its errors are of one class. */
async function bundleLibrary(packages) {
  const modules = await bundle({ index: LIBRARY }, packages, {
    chunkFileNames: "library/[name]-[hash].cjs",
    silent: true,
  });
  const names = Object.keys(createRequire(import.meta.url)(path.join(stage, "index.cjs")));
  fs.writeFileSync(
    path.join(stage, "index.mjs"),
    `import library from "./index.cjs";\nexport const { ${names.join(", ")} } = library;\n`,
  );
  return modules;
}

/** @returns the ids of the bundled modules */
async function bundle(input, packages, { silent = false, ...output }) {
  const build = await rolldown({
    cwd: ROOT,
    input,
    platform: "node",
    external: EXTERNAL,
    // For packages with both forms and without exports (jsonc-parser), the ES form: the CommonJS form hides
    // its requires.
    resolve: { mainFields: ["module", "main"] },
    plugins: [
      leanLockfile({ silent }),
      lazyRequires((file) => LAZY_CHUNKS.some((name) => file.startsWith(`chunks/${name}-`))),
      plainExports(),
      importsFrom(packages),
    ],
    logLevel: "warn",
    // The chunk groups decide on chunks; a dynamic import of a module in a group still delays the group.
    checks: { ineffectiveDynamicImport: false },
  });
  const written = await build.write({
    dir: stage,
    format: "cjs",
    entryFileNames: "[name].cjs",
    comments: { legal: true, annotation: false, jsdoc: false },
    ...output,
  });
  await build.close();
  return modulesOf(written.output);
}

function absolute(source) {
  return path.join(ROOT, source);
}

/** Writes what shells complete without a team: all commands and options. Loading every command at each Tab would take too long. */
async function completionTable() {
  const program = path.join(stage, "teams.cjs");
  const { stdout } = await promisify(execFile)(process.execPath, [program, "completion", "table"]);
  fs.writeFileSync(path.join(stage, "completion.json"), stdout);
}

/** Builds the types of the library: one file without imports for each module system. */
async function declarations() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "teams-types-"));
  try {
    const project = path.join(ROOT, "scripts/tsconfig.types.json");
    const tsc = path.join(ROOT, "node_modules/.bin/tsc");
    await promisify(execFile)(tsc, ["--project", project, "--outDir", directory], { cwd: ROOT });
    const types = bundleTypes(
      path.join(directory, "index.d.ts"),
      (file) => fs.readFileSync(file, "utf8"),
      (from, specifier) => path.join(path.dirname(from), specifier.replace(/\.[jt]s$/, ".d.ts")),
    );
    for (const end of ["mts", "cts"]) fs.writeFileSync(path.join(stage, `index.d.${end}`), types);
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

/** Moves the staged files into dist/: the entries last, when all their chunks are in place. */
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

/** Removes the stages of killed builds; a running build is only minutes old. */
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

/** Milliseconds since the last change of a file; 0 if another build has just removed it. */
function ageOf(file) {
  const entry = fs.statSync(file, { throwIfNoEntry: false });
  return entry === undefined ? 0 : Date.now() - entry.mtimeMs;
}

function removeIfThere(file) {
  fs.rmSync(file, { force: true });
}
