import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const HOOK = `read -r input; echo "$input" >> "$HOME/asked"; echo 'export STAGE=test' >> "$CLAUDE_ENV_FILE"`;
const hooks = { SessionStart: [{ hooks: [{ type: "command", command: HOOK }] }] };
const bash = (command: string): PlaybookTurn => ({ tools: [{ name: "Bash", input: { command } }] });

/** Creates a home directory with a SessionStart hook of the user, and a playbook. */
function withHook(agents: Readonly<Record<string, readonly PlaybookTurn[]>>) {
  const t = privateTmux();
  const root = t.env.TEAMS_HOME ?? "";
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "settings.json"), JSON.stringify({ hooks }));
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents }));
  const sessions = (): readonly string[] => {
    const directory = join(root, "session-env");
    return existsSync(directory) ? readdirSync(directory) : [];
  };
  const sources = (): readonly string[] =>
    readFileSync(join(t.home, "asked"), "utf8")
      .split("\n")
      // The last line may be unfinished.
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { source: string }).source);
  return { t, sessions, sources, done: doneIn(t.env, t.home), teams: teamsIn(t.env, t.home) };
}

interface Config {
  readonly members: readonly { readonly name: string; readonly metadata?: { readonly _session?: string } }[];
}

it("session-env › contains a directory for each teammate, from its spawn to its end", async () => {
  const { t, sessions, sources, done } = withHook({
    "*": [bash('echo "$STAGE" > stage'), { say: "done", repeat: true }],
  });
  await done("create", "crew");
  const how = ["--permission-mode", "bypassPermissions", "--model", "scripted:book.json"];
  await done("spawn", "ada", ...how, "--teammate-mode", "process");
  const config = join(t.env.TEAMS_HOME ?? "", "teams", "crew", "config.json");
  const { members } = JSON.parse(readFileSync(config, "utf8")) as Config;
  expect(sessions()).toEqual([members.find(({ name }) => name === "ada")?.metadata?._session]);
  // The hook runs before the first message.
  await eventually("the hook", () => existsSync(join(t.home, "asked")) && sources().length === 1);
  await done("send", "ada", "begin");
  await eventually("the variable", () => existsSync(join(t.home, "stage")));
  // A shell creates the file before it writes to it.
  await eventually("the variable's value", () => readFileSync(join(t.home, "stage"), "utf8") === "test\n");
  await done("wait", "--idle", "--timeout", "180");
  await done("down", "--timeout", "180");
  expect(sessions()).toHaveLength(1);
  await done("resume");
  await eventually("the hook of the resumed agent", () => sources().length === 2);
  expect(sources()).toEqual(["startup", "resume"]);
  await done("shutdown", "ada", "--timeout", "180");
  await eventually("the removal", () => sessions().length === 0);
  await done("spawn", "bob", ...how, "--teammate-mode", "process");
  expect(sessions()).toHaveLength(1);
  await done("delete", "crew", "--force");
  expect(sessions()).toEqual([]);
});

it("session-env › does not prevent the deletion of its team if it cannot be removed", async () => {
  const { t, sessions, teams, done } = withHook({ "*": [{ say: "done", repeat: true }] });
  await done("create", "crew");
  const how = ["--permission-mode", "bypassPermissions", "--model", "scripted:book.json"];
  for (const name of ["ada", "bob"]) await done("spawn", name, ...how, "--teammate-mode", "process");
  const root = t.env.TEAMS_HOME ?? "";
  const config = JSON.parse(readFileSync(join(root, "teams", "crew", "config.json"), "utf8")) as Config;
  const session = config.members.find(({ name }) => name === "ada")?.metadata?._session ?? "";
  const directory = join(root, "session-env", session);
  // A link to itself cannot be listed.
  rmSync(directory, { recursive: true });
  symlinkSync(session, directory);
  const deleted = await teams(["delete", "crew", "--force"]);
  expect(deleted.err).toContain(`${directory} could not be removed (`);
  expect([deleted.code, readdirSync(join(root, "teams")), sessions()]).toEqual([0, [], [session]]);
});

it("session-env › is removed with the lead's run, even if the run fails after the lead deleted its team", async () => {
  const breaks =
    'echo "$STAGE" > lead; rm -rf "$TEAMS_HOME/teams-sessions"; touch "$TEAMS_HOME/teams-sessions"';
  const lead = [{ tools: [{ name: "TeamDelete", input: {} }] }, bash(breaks), { say: "done", repeat: true }];
  const { t, sessions, teams } = withHook({ "team-lead": lead });
  const how = ["--playbook", "book.json", "--permission-mode", "bypassPermissions", "--team", "crew", "-p"];
  const ended = await teams(["run", "Go.", ...how]);
  expect(ended.err).toContain("ENOTDIR");
  expect(readFileSync(join(t.home, "lead"), "utf8")).toBe("test\n");
  expect(sessions()).toEqual([]);
});

it("session-env › is removed with the lead's run, and kept with a kept team", async () => {
  const lead = [bash('echo "$STAGE" > lead'), { say: "done", repeat: true }];
  const { t, sessions, teams, done } = withHook({ "team-lead": lead });
  const run = [
    "run",
    "Go.",
    "--playbook",
    "book.json",
    "--permission-mode",
    "bypassPermissions",
    "--team",
    "crew",
  ];
  expect((await teams([...run, "-p", "--keep"])).code).toBe(0);
  expect(readFileSync(join(t.home, "lead"), "utf8")).toBe("test\n");
  expect(sessions()).toHaveLength(1);
  await done("delete", "crew");
  expect(sessions()).toEqual([]);
  expect((await teams([...run, "-p"])).code).toBe(0);
  expect(sessions()).toEqual([]);
});
