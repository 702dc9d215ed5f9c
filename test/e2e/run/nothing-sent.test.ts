import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { type Line, scriptedTeam } from "../../support/model/scripted-team.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const PRELOAD = fileURLToPath(new URL("../../fixtures/preload/log-destinations.cjs", import.meta.url));
const BYPASS = ["--permission-mode", "bypassPermissions", "--json"];

const LEAD: readonly Line[] = [
  {
    when: /Go/,
    uses: [{ name: "Agent", input: { name: "ada", prompt: "Say it.", description: "says it" } }],
  },
  { when: /ada is idle/, says: "It was said." },
];
const ADA: readonly Line[] = [
  { when: /Say it/, uses: [{ name: "Bash", input: { command: "echo it", description: "says it" } }] },
];

/** Returns every destination that the processes of a run, and of later commands, tried to reach. */
async function destinations(t: PrivateTmux, words: readonly string[], env: object) {
  const directory = join(t.home, "destinations");
  mkdirSync(directory);
  const watched = { ...t.env, ...env, DESTINATIONS: directory, NODE_OPTIONS: `--require ${PRELOAD}` };
  const teams = teamsIn(watched, t.home);
  const ended = await teams(["run", ...words, ...BYPASS]);
  expect(ended.code, ended.err).toBe(0);
  await teams(["doctor"]);
  await teams(["ls"]);
  await leaves(t, nothing());
  const logs = readdirSync(directory).map((pid) => readFileSync(join(directory, pid), "utf8"));
  // The lead, ada and two commands.
  expect(logs.length).toBeGreaterThanOrEqual(4);
  return new Set(logs.flatMap((log) => log.trim().split("\n")).filter((line) => line !== "started"));
}

it("network › a run connects only to its model's server, even with record and debug", async () => {
  const api = await startFakeMessagesApi(scriptedTeam({ "team-lead": LEAD, ada: ADA }).script);
  onTestFinished(() => api.close());
  const { host } = new URL(api.url);
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-ant-test-1234", TEAMS_DEBUG: "1" };
  const words = ["--model", "claude-fake", "--record", "mine.json", "Go"];
  expect(await destinations(privateTmux(), words, env)).toEqual(new Set([`connect ${host}`]));
});

it("network › a run of a playbook connects to no server", async () => {
  const t = privateTmux();
  const agents = {
    "team-lead": [
      { tools: [{ name: "Agent", input: { name: "ada", prompt: "Say it." } }] },
      { on: { contains: "is ready" }, say: "It is there." },
    ],
    ada: [{ say: "It." }],
  };
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents }));
  expect(await destinations(t, ["--playbook", "book.json"], {})).toEqual(new Set());
});

it("network › spawn, cli ls and doctor do not download a CLI that is not installed", async () => {
  const t = privateTmux();
  const [bin, called, directory] = ["bin", "called", "destinations"].map((name) => join(t.home, name));
  if (bin === undefined || called === undefined || directory === undefined) throw new Error("three names");
  for (const path of [bin, directory]) mkdirSync(path);
  for (const name of ["npm", "npx", "pnpm", "yarn", "bunx", "curl", "wget", "brew", "pip", "sh"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> ${called}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const absent = { channel: "acp", command: "absent-cli", install: `touch ${called}` };
  writeFileSync(
    join(t.root, "settings.json"),
    JSON.stringify({ teams: { adapters: { absent, npx: { ...absent, command: "absent-too" } } } }),
  );
  const teams = teamsIn(
    { ...t.env, PATH: bin, DESTINATIONS: directory, NODE_OPTIONS: `--require ${PRELOAD}` },
    t.home,
  );
  await teams(["create", "crew"]);
  for (const cli of ["absent", "npx", "gemini", "codex"]) {
    const ended = await teams(["spawn", "ada", "--cli", cli, "--team", "crew", "--json"]);
    expect(ended.error()).toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringContaining("is not installed"),
    });
  }
  expect((await teams(["cli", "ls"])).out).toMatch(new RegExp(`absent +touch ${called}`));
  expect((await teams(["doctor"])).out).toContain("not installed: gemini");
  const logs = readdirSync(directory).map((pid) => readFileSync(join(directory, pid), "utf8"));
  expect(logs.length).toBeGreaterThanOrEqual(7);
  expect(new Set(logs.flatMap((log) => log.trim().split("\n")))).toEqual(new Set(["started"]));
  expect(existsSync(called)).toBe(false);
});
