/**
 * Lists the source files whose functions a command runs: a measure of how many files a reader opens to follow the command.
 *
 *   node scripts/command-files.mjs            (counts for send and spawn)
 *   node scripts/command-files.mjs --list     (and the files)
 *
 * Builds one chunk for each module in a temporary directory, runs the commands there under V8 coverage, in a private
 * home, and counts the files of src/ with a function that ran. The body of a module does not count.
 */
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { lazyRequires } from "./lib/lazy-requires.mjs";
import { EXTERNAL } from "./lib/packages-apart.mjs";

/** Functions that lazy-requires.mjs adds. */
const LAZY_REQUIRE = /^(loaded$|get )/;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const directory = fs.mkdtempSync(path.join(ROOT, "dist.build-modules-"));
const home = fs.mkdtempSync(path.join(os.tmpdir(), "teams-files-"));
const socket = path.basename(home);
try {
  const program = await buildModules();
  const env = {
    ...process.env,
    HOME: home,
    TEAMS_HOME: path.join(home, "root"),
    XDG_RUNTIME_DIR: home,
    TEAMS_TMUX_SOCKET: socket,
  };
  for (const name of ["TMUX", "TMUX_PANE", "TEAMS_AGENT", "TEAMS_TEAM"]) delete env[name];
  const teams = (args, coverage) => {
    const options = coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage };
    execFileSync(process.execPath, [program, ...args], {
      cwd: home,
      env: { ...env, ...options },
      stdio: "pipe",
    });
  };
  teams(["create", "t"]);
  const spawn = ["spawn", "ada", "--model", "scripted", "--prompt", "Wait."];
  for (const args of [["send", "team-lead", "hello"], spawn]) report(args, teams);
  teams(["kill", "t", "--force", "--timeout", "2"]);
} finally {
  // Fails if the tmux server has already ended.
  spawnSync("tmux", ["-L", socket, "kill-server"], { stdio: "ignore" });
  fs.rmSync(directory, { recursive: true, force: true });
  fs.rmSync(home, { recursive: true, force: true });
}

async function buildModules() {
  const build = await rolldown({
    cwd: ROOT,
    input: { teams: "src/main.ts", "teams-agent": "src/main-agent.ts" },
    platform: "node",
    external: EXTERNAL,
    resolve: { mainFields: ["module", "main"] },
    // As in the built program, files of zod schemas are loaded when they are needed.
    plugins: [lazyRequires((file) => /^src\/schema\/[\w-]+\.cjs$/.test(file))],
    logLevel: "silent",
  });
  await build.write({
    dir: directory,
    format: "cjs",
    preserveModules: true,
    preserveModulesRoot: ROOT,
    entryFileNames: "[name].cjs",
  });
  await build.close();
  fs.cpSync(path.join(ROOT, "src/playbooks"), path.join(directory, "playbooks"), { recursive: true });
  return path.join(directory, "teams.cjs");
}

/** Runs a command and prints the number of source files whose functions it ran. */
function report(args, teams) {
  const coverage = path.join(home, `coverage-${args[0]}`);
  teams(args, coverage);
  const files = new Set();
  // The first file in time is the command's own process; a teammate that it starts writes another.
  for (const name of fs.readdirSync(coverage))
    for (const file of filesRun(path.join(coverage, name))) files.add(file);
  console.log(`teams ${args[0]}: functions of ${files.size} files`);
  if (process.argv.includes("--list")) for (const file of [...files].sort()) console.log(`  ${file}`);
}

function filesRun(file) {
  const { result } = JSON.parse(fs.readFileSync(file, "utf8"));
  return result.flatMap(({ url, functions }) => {
    const relative = url.startsWith("file:") ? path.relative(directory, fileURLToPath(url)) : "..";
    // "_virtual" contains the helpers that the bundler adds.
    if (/^\.\.|^_virtual|node_modules/.test(relative)) return [];
    // The body of a CommonJS module is a function too; it begins at offset 0.
    const ran = functions.some(
      ({ functionName, ranges: [range] }) =>
        range.startOffset > 0 && range.count > 0 && !LAZY_REQUIRE.test(functionName),
    );
    return ran ? [relative] : [];
  });
}
