import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

const PEER = fileURLToPath(new URL("../../fixtures/peers/2.1.329/", import.meta.url));
const FOREIGN = "session-849c65b5";

test.each([
  ["its lead runs on this machine", () => ownIdentity()],
  ["its lead runs in another container", () => ({ ...ownIdentity(), pidSpace: "container#pid:[1]" })],
  ["its lead is dead", () => ({ ...ownIdentity(), procStart: "1" })],
])(
  "another program's team › is not changed by a command that does not name it, nor by a read: %s (S76)",
  async (_what, lead) => {
    const teams = cliIn();
    const before = addForeignTeam(teams, lead());
    for (const words of [["ls"], ["doctor"], ["doctor", "--fix"]]) await teams(words);
    for (const words of UNNAMED) {
      expect([words.join(" "), (await teams([...words, "--json"])).error().code]).toEqual([
        words.join(" "),
        "TEAM_NOT_FOUND",
      ]);
    }
    expect((await teams(["create", "mine"])).code).toBe(0);
    for (const words of [...UNNAMED, ["delete", "mine"]]) await teams(words);
    for (const words of READS)
      expect([words.join(" "), (await teams(words)).code]).toEqual([words.join(" "), 0]);
    expect(bytesOf(teams)).toEqual(before);
  },
);

test("another program's team › is deleted, killed or resumed only by name with --force (S76)", async () => {
  const teams = cliIn();
  const before = addForeignTeam(teams, ownIdentity());
  for (const words of [
    ["delete", FOREIGN],
    ["resume", FOREIGN],
    ["down", FOREIGN],
    ["kill", "--team", FOREIGN],
    ["kill", `alpha@${FOREIGN}`],
    ["kill", "--team", FOREIGN, "--purge"],
  ]) {
    const refused = await teams([...words, "--json"]);
    expect([words.join(" "), refused.code, refused.error().code]).toEqual([
      words.join(" "),
      1,
      "PERMISSION_DENIED",
    ]);
  }
  // A name from a variable was not typed for this command.
  const variable = await teams(["delete", "--force", "--json"], { env: { TEAMS_TEAM: FOREIGN } });
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

const READS = [
  ["status", FOREIGN],
  ["status", FOREIGN, "--json"],
  ["task", "list", "--team", FOREIGN],
  ["task", "show", "1", "--team", FOREIGN],
  ["inbox", "--team", FOREIGN],
  ["inbox", "--team", FOREIGN, "--all", "--unread"],
  ["inbox", `alpha@${FOREIGN}`, "--json"],
  ["approvals", "--team", FOREIGN],
];

/** Copies a real session's team next to ours, as it is while in use. @returns its bytes */
function addForeignTeam(teams: Cli, leadProcess: object): Record<string, string> {
  for (const [from, to] of [
    ["team", "teams"],
    ["tasks", "tasks"],
  ] as const) {
    mkdirSync(join(teams.root, to), { recursive: true, mode: 0o700 });
    cpSync(join(PEER, from), join(teams.root, to, FOREIGN), { recursive: true });
  }
  const path = join(teams.root, "teams", FOREIGN, "config.json");
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
    const directory = join(teams.root, place, FOREIGN);
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
