import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { type TeamRef, teamRef } from "../../../src/team/ref.ts";
import type { ProvenTask } from "../../../src/team/tasks/task-proof.ts";
import { changeTask } from "../../../src/team/tasks/tasks.ts";
import { type Cli, type CliOptions, cliIn } from "../../support/processes/in-process-cli.ts";
import { eventually } from "../../support/timing/eventually.ts";

interface Team {
  readonly teams: Cli;
  readonly ref: TeamRef;
  /** The directory of ada, in which her tasks are verified. */
  readonly work: string;
  task(words: readonly string[], options?: CliOptions): Promise<ProvenTask>;
}

async function team(): Promise<Team> {
  const teams = cliIn();
  await teams(["create", "review"]);
  const ref = teamRef({ root: teams.root, runtime: teams.directory }, "review");
  const work = join(teams.directory, "work of ada");
  mkdirSync(work);
  await addMembers(ref, [
    { name: "ada", cwd: work },
    { name: "rev", cwd: teams.directory },
  ]);
  const task = async (words: readonly string[], options?: CliOptions): Promise<ProvenTask> => {
    const ended = await teams(["task", ...words, "--json"], options);
    expect(ended).toMatchObject({ code: 0 });
    return ended.json<{ task: ProvenTask }>().task;
  };
  return { teams, ref, work, task };
}

/** The environment of ada's shell. */
const IN_ADAS_SHELL = { env: { TEAMS_AGENT: "ada@review" } };

async function texts(ref: TeamRef, name: string): Promise<string[]> {
  return (await unreadMessages(ref, name)).map(({ message }) => message.text);
}

test("task done › runs the verify command in the owner's directory, and completes the task if it passes", async () => {
  const { teams, ref, work, task } = await team();
  const added = await task([
    "add",
    "Fix it",
    "--verify",
    "pwd > ran; echo ok",
    "--reviewer",
    "rev",
    "--owner",
    "ada",
  ]);
  expect(added).toMatchObject({
    verify: "pwd > ran; echo ok",
    reviewer: "rev",
    said: false,
    shown: "not run",
  });
  await task(["claim", "1", "--as", "ada"]);
  expect(await task(["done", "1", "--as", "ada"])).toMatchObject({
    status: "completed",
    said: true,
    shown: "passed",
    verifyRun: { outcome: "passed", exitCode: 0, tail: "ok", by: "ada" },
  });
  expect(readFileSync(join(work, "ran"), "utf8")).toBe(`${work}\n`);
  expect((await teams(["task", "list"])).out).toMatch(/#1 +completed +done +passed +ada +Fix it/);
  expect((await texts(ref, "rev"))[0]).toMatch(
    /^Review task #1, please: ada completed “Fix it”\. Its verify command passed: exit code 0/,
  );
});

test("task done › keeps the task in progress if its verify command fails, and notifies the owner with the output", async () => {
  const { teams, ref, task } = await team();
  await task([
    "add",
    "Fix it",
    "--verify",
    "echo before; echo '2 tests failed' >&2; exit 7",
    "--owner",
    "ada",
  ]);
  const failed = await teams(["task", "done", "1", "--json"]);
  expect(failed.code).toBe(1);
  expect(failed.error()).toMatchObject({
    code: "VERIFY_FAILED",
    message: expect.stringMatching(
      /^Task #1 \(Fix it\) is not completed.*\n2 tests failed\n\nIt ended with exit code 7 after [\d.]+ s\.$/s,
    ),
  });
  expect(await task(["show", "1"])).toMatchObject({
    status: "in_progress",
    owner: "ada",
    said: true,
    shown: "failed",
  });
  expect((await texts(ref, "ada")).at(-1)).toContain("The task is in progress, with its owner ada.");
  const shown = (await teams(["task", "show", "1"])).out;
  expect(shown).toMatch(/said: +done\nshown: +failed\nlast run: +exit code 7 after [\d.]+ s\n/);
  expect(shown).toContain("  | 2 tests failed");
  expect((await teams(["task", "list"])).out).toMatch(/#1 +in progress +done +failed +ada +Fix it/);
  // The user corrects the command.
  await task(["update", "1", "--verify", "true"]);
  expect(await task(["done", "1", "--as", "ada"])).toMatchObject({ shown: "passed" });
});

test("task done › never runs a verify command that only the task's file names", async () => {
  const { teams, ref, work, task } = await team();
  await task(["add", "Fix it", "--owner", "ada"]);
  await changeTask(ref, "1", (one) => ({
    ...one,
    metadata: { ...one.metadata, _verify: "touch forged #\ntouch worse" },
  }));
  expect((await teams(["task", "show", "1"])).out).toContain(
    "proposed:   touch forged #\\ntouch worse (not confirmed by a person",
  );
  expect(await task(["done", "1", "--as", "ada"])).toMatchObject({
    status: "completed",
    shown: "unconfirmed",
  });
  expect(existsSync(join(work, "forged"))).toBe(false);
});

test("task add --verify in an agent's shell › waits until a person has confirmed the command", async () => {
  const { teams, work, task } = await team();
  const added = await teams(
    ["task", "add", "Fix it", "--verify", "touch ran", "--owner", "ada"],
    IN_ADAS_SHELL,
  );
  expect(added.err).toContain(
    "runs only after a person has confirmed it: teams task update 1 --verify 'touch ran'",
  );
  expect(await task(["show", "1"])).toMatchObject({
    verify: null,
    proposedVerify: "touch ran",
    shown: "unconfirmed",
  });
  expect(await task(["update", "1", "--verify", "touch ran"])).toMatchObject({ verify: "touch ran" });
  // A model can neither change nor remove a confirmed command.
  await teams(["task", "update", "1", "--verify", "true"], IN_ADAS_SHELL);
  const removal = await teams(["task", "update", "1", "--verify", "", "--json"], IN_ADAS_SHELL);
  expect(removal.error().code).toBe("PERMISSION_DENIED");
  await task(["done", "1"], IN_ADAS_SHELL);
  expect(existsSync(join(work, "ran"))).toBe(true);
  expect(await task(["update", "1", "--verify", ""])).toMatchObject({ verify: null, shown: "none" });
  // The value of an option needs an = if it begins with a dash.
  const dashed = await teams(["task", "add", "Check it", "--verify=-x"], IN_ADAS_SHELL);
  expect(dashed.err).toContain("teams task update 2 --verify=-x\n");
});

test("task done › does not run a verify command that a deny rule of the owner's settings covers", async () => {
  const { teams, work, task } = await team();
  writeFileSync(
    join(teams.root, "settings.json"),
    JSON.stringify({ permissions: { deny: ["Bash(touch:*)"] } }),
  );
  await task(["add", "Fix it", "--verify", "touch ran", "--owner", "ada"]);
  const refused = await teams(["task", "done", "1", "--json"]);
  expect(refused.error().message).toMatch(/Bash\(touch:\*\).*a refusal by a deny rule/s);
  expect(existsSync(join(work, "ran"))).toBe(false);
});

test("task done › leaves the task as it is if the run of its verify command is interrupted", async () => {
  const { teams, work, task } = await team();
  await task(["add", "Fix it", "--verify", "touch started; sleep 600", "--owner", "ada"]);
  const interrupt = new AbortController();
  const done = teams(["task", "done", "1", "--json"], { signal: interrupt.signal });
  await eventually("the command", () => existsSync(join(work, "started")));
  expect(await task(["show", "1"])).toMatchObject({ said: true, shown: "running" });
  interrupt.abort();
  expect((await done).error().code).toBe("INTERRUPTED");
  expect(await task(["show", "1"])).toMatchObject({ status: "pending", shown: "not run" });
});

test("task update › changes reviewer and files, and removes them if the text is empty", async () => {
  const { teams, task } = await team();
  await task(["add", "Fix it", "--touches", "src/{a,b}/**,docs/*", "--touches", "./x"]);
  expect(await task(["show", "1"])).toMatchObject({ touches: ["src/{a,b}/**", "docs/*", "x"] });
  expect(await task(["update", "1", "--reviewer", "rev"])).toMatchObject({ reviewer: "rev" });
  expect(await task(["update", "1", "--reviewer", "", "--touches", ""])).toMatchObject({
    reviewer: null,
    touches: [],
  });
  const unknown = await teams(["task", "update", "1", "--reviewer", "nobody", "--json"]);
  expect(unknown.error().code).toBe("AGENT_NOT_FOUND");
});
