import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

const PEER = fileURLToPath(new URL("../../fixtures/peers/2.1.329/", import.meta.url));
const THEIRS = "session-849c65b5";

test.each([
  ["its lead runs on this machine", () => ownIdentity()],
  ["its lead runs in another container", () => ({ ...ownIdentity(), pidSpace: "container#pid:[1]" })],
  ["its lead is dead", () => ({ ...ownIdentity(), procStart: "1" })],
])(
  "another program's team › is changed by no command without its name, nor by a read: %s (S76)",
  async (_what, lead) => {
    const teams = cliIn();
    const before = beside(teams, lead());
    for (const words of [["ls"], ["doctor"], ["doctor", "--fix"]]) await teams(words);
    for (const words of UNNAMED) {
      expect([words.join(" "), (await teams([...words, "--json"])).error().code]).toEqual([
        words.join(" "),
        "TEAM_NOT_FOUND",
      ]);
    }
    expect((await teams(["create", "mine"])).code).toBe(0);
    for (const words of [...UNNAMED, ["delete", "mine"]]) await teams(words);
    for (const words of LOOKS)
      expect([words.join(" "), (await teams(words)).code]).toEqual([words.join(" "), 0]);
    expect(bytesOf(teams)).toEqual(before);
  },
);

test("another program's team › is deleted, killed or resumed only by name with --force (S76)", async () => {
  const teams = cliIn();
  const before = beside(teams, ownIdentity());
  for (const words of [
    ["delete", THEIRS],
    ["resume", THEIRS],
    ["down", THEIRS],
    ["kill", "--team", THEIRS],
    ["kill", `alpha@${THEIRS}`],
    ["kill", "--team", THEIRS, "--purge"],
  ]) {
    const refused = await teams([...words, "--json"]);
    expect([words.join(" "), refused.code, refused.error().code]).toEqual([
      words.join(" "),
      1,
      "PERMISSION_DENIED",
    ]);
  }
  // A name from a variable was not typed for this command.
  const variable = await teams(["delete", "--force", "--json"], { env: { TEAMS_TEAM: THEIRS } });
  expect(variable.error().code).toBe("PERMISSION_DENIED");
  expect(bytesOf(teams)).toEqual(before);
});

/** Commands that act on our only team if no team is named. */
const UNNAMED = [
  ["send", "alpha", "hello"],
  ["broadcast", "hello"],
  ["inbox", "--mark-read"],
  ["task", "add", "a task"],
  ["task", "claim", "1"],
  ["task", "done", "1"],
  ["task", "update", "1", "--owner", "alpha"],
  ["task", "rm", "1"],
  ["shutdown", "alpha", "--timeout", "0"],
  ["status"],
];

const LOOKS = [
  ["status", THEIRS],
  ["status", THEIRS, "--json"],
  ["task", "list", "--team", THEIRS],
  ["task", "show", "1", "--team", THEIRS],
  ["inbox", "--team", THEIRS],
  ["inbox", "--team", THEIRS, "--all", "--unread"],
  ["inbox", `alpha@${THEIRS}`, "--json"],
  ["approvals", "--team", THEIRS],
];

/** Copies a real session's team next to ours, as it is while in use. @returns its bytes */
function beside(teams: Cli, leadProcess: object): Record<string, string> {
  for (const [from, to] of [
    ["team", "teams"],
    ["tasks", "tasks"],
  ] as const) {
    mkdirSync(join(teams.root, to), { recursive: true, mode: 0o700 });
    cpSync(join(PEER, from), join(teams.root, to, THEIRS), { recursive: true });
  }
  const path = join(teams.root, "teams", THEIRS, "config.json");
  const config = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(
    path,
    JSON.stringify({ ...config, leadProcess: { ...leadProcess, claimedAt: 1 } }, undefined, 2),
  );
  return bytesOf(teams);
}

/** Returns every file with its mtime and content, and every directory with its names. */
function bytesOf(teams: Cli): Record<string, string> {
  const found = ["teams", "tasks"].flatMap((place) => {
    const directory = join(teams.root, place, THEIRS);
    const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
    return ["", ...names].map((name) => {
      const path = join(directory, name);
      const stat = statSync(path);
      const content = stat.isDirectory() ? readdirSync(path).join(" ") : readFileSync(path, "utf8");
      return [join(place, name), `${stat.mtimeMs} ${content}`] as const;
    });
  });
  return Object.fromEntries(found);
}
