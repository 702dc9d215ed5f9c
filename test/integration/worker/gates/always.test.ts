import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../../src/operations/approvals/approvals.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { loadSettings } from "../../../../src/settings/settings.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { cliIn } from "../../../support/processes/in-process-cli.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf, type RunningWorker, type WorkerInput } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const bash = (command: string) => ({ name: "Bash", input: { command } });

/** Starts a teammate that asks to run these commands in turn, and a CLI in the same home. */
async function asking(commands: readonly string[], input: WorkerInput = {}) {
  const ref = await testTeam(["dev", "ada"]);
  const cli = cliIn(dirname(ref.home.root));
  const turns = [...commands.map((command) => ({ tools: [bash(command)] })), { say: "done" }];
  const dev = await workerOfTest(ref, { mode: "default", turns, ...input });
  await updateTeam(ref, (config) => ({
    ...config,
    members: config.members.map((member) => (member.name === "dev" ? { ...member, cwd: dev.cwd } : member)),
  }));
  if (input.role === "lead") await dev.worker.handleTypedLine("begin");
  else await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
  const approve = (id: string, ...words: readonly string[]) =>
    cli(["approve", id, ...words, "--team", "crew", "--json"], { env: { TEAMS_HOME: ref.home.root } });
  return { ref, dev, cli, approve, made: (name: string) => existsSync(join(dev.cwd, name)) };
}

const next = (ref: TeamRef, before: readonly string[] = []) =>
  eventually("the request", () => listApprovals(ref).find(({ id }) => !before.includes(id)));
const ended = (ref: TeamRef, dev: RunningWorker) =>
  eventually("the end", () => dev.inputs.length > 0 && readStatus(ref, dev.worker.name)?.state === "idle");

describe("answer “always”", () => {
  it("shows its rules in the pane first, and allows the same commands only", async () => {
    const { ref, dev, made } = await asking(["touch a; touch b", "touch b", "touch c"]);
    await next(ref);
    await eventually("the pane", () => dev.shown.includes("always: Bash(touch a), Bash(touch b)"));
    await dev.worker.handleTypedLine("a");
    const second = await eventually("the next", () =>
      listApprovals(ref).find(({ summary }) => summary.includes("touch c")),
    );
    expect([made("a"), made("b"), made("c")]).toEqual([true, true, false]);
    await answerApproval(contextOf(ref), second.id, { approve: false });
    await ended(ref, dev);
  });

  it("given by command allows the same command for the session and prints the rule", async () => {
    const { ref, dev, approve, made } = await asking(["touch a", "touch a; touch a"]);
    const { id } = await next(ref);
    const done = await approve(id, "--always", "--note", "fine");
    expect(done.json()).toMatchObject({ approved: true, always: { rules: ["Bash(touch a)"], file: null } });
    await ended(ref, dev);
    expect(made("a")).toBe(true);
    const response = (await history(ref, "dev", { all: true })).at(-1)?.text ?? "";
    expect(JSON.parse(response)).toMatchObject({
      type: "permission_response",
      response: {
        permission_updates: [
          {
            type: "addRules",
            rules: [{ toolName: "Bash", ruleContent: "touch a" }],
            behavior: "allow",
            destination: "session",
          },
        ],
      },
    });
    expect(existsSync(join(ref.home.root, "settings.json"))).toBe(false);
  });

  it("given by command can save another rule in the user's settings and share it with the team", async () => {
    const { ref, dev, approve, made } = await asking(["touch a", "touch b"]);
    const file = join(ref.home.root, "settings.json");
    const before = '{\n  "theme": "dark",\n  "permissions": { "allow": ["Read"] }\n}\n';
    writeFileSync(file, before, { mode: 0o640 });
    const { id } = await next(ref);
    const done = await approve(id, "--rule", "Bash(touch:*)", "--save", "user");
    expect(done.json()).toMatchObject({ always: { rules: ["Bash(touch:*)"], file } });
    await ended(ref, dev);
    expect(made("b")).toBe(true);
    expect(readFileSync(file, "utf8")).toContain(`"theme": "dark"`);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      theme: "dark",
      permissions: { allow: ["Read", "Bash(touch:*)"] },
    });
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const updates = (await history(ref, "ada", { all: true })).map(({ text }) => JSON.parse(text) as object);
    expect(updates).toMatchObject([
      { type: "team_permission_update", toolName: "Bash", permissionUpdate: { type: "addRules" } },
    ]);
  });

  it("says when the given rule does not cover the request", async () => {
    const { ref, dev, approve } = await asking(["touch a", "touch b"]);
    const first = await approve((await next(ref)).id, "--rule", "Bash(ls:*)");
    expect(first.json()).toMatchObject({ always: { rules: ["Bash(ls:*)"], covers: false } });
    const second = await approve((await next(ref)).id, "--rule", "Bash(touch:*)");
    expect(second.json()).toMatchObject({ always: { rules: ["Bash(touch:*)"] } });
    expect(second.out).not.toContain("covers");
    await ended(ref, dev);
  });

  it("is saved in a project only if the project is trusted", async () => {
    const { ref, dev, approve, cli } = await asking(["touch a"]);
    const { id } = await next(ref);
    const refused = await approve(id, "--save", "local");
    expect(refused.error()).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(listApprovals(ref)).toHaveLength(1);
    await cli(["trust", dev.cwd], { env: { TEAMS_HOME: ref.home.root } });
    const file = join(dev.cwd, ".claude", "settings.local.json");
    expect((await approve(id, "--save", "local")).json()).toMatchObject({ always: { file } });
    await ended(ref, dev);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ permissions: { allow: ["Bash(touch a)"] } });
    // The user's own rule needs no second confirmation; other rules in the file do.
    writeFileSync(file, JSON.stringify({ permissions: { allow: ["Bash(touch a)", "Bash"] } }));
    expect(loadSettings(ref.home.root, dev.cwd).permissions.allow).toEqual(["Bash(touch a)"]);
    expect(await history(ref, "ada", { all: true })).toEqual([]);
  });

  it.each([
    ["a command that no rule can allow", ["--always"], "touch $(echo a)", "INVALID_INPUT"],
    ["a command that the user must always see", ["--always"], "touch a > .envrc", "INVALID_INPUT"],
    ["an invalid rule", ["--rule", "Bash(git"], "touch a", "INVALID_INPUT"],
  ])("is refused for %s, and the request stays open", async (_, words, command, code) => {
    const { ref, approve } = await asking([command]);
    const { id } = await next(ref);
    expect((await approve(id, ...words)).error().code).toBe(code);
    expect(listApprovals(ref)).toHaveLength(1);
  });

  it("is refused without an answer if the settings file is corrupt", async () => {
    const { ref, approve } = await asking(["touch a"]);
    const { id } = await next(ref);
    mkdirSync(ref.home.root, { recursive: true });
    writeFileSync(join(ref.home.root, "settings.json"), "{ nope");
    expect((await approve(id, "--save", "user")).error().code).toBe("CORRUPT_FILE");
    expect(listApprovals(ref)).toHaveLength(1);
    expect(readFileSync(join(ref.home.root, "settings.json"), "utf8")).toBe("{ nope");
  });

  it("applies to the lead's own calls", async () => {
    const { ref, dev, approve, made } = await asking(["touch a", "touch a; touch a"], {
      name: LEAD_NAME,
      role: "lead",
    });
    const { id } = await next(ref);
    await approve(id, "--always");
    dev.worker.recheck();
    await ended(ref, dev);
    expect(made("a")).toBe(true);
  });

  it("is accepted in a permission update only from the lead", async () => {
    const { ref, dev } = await asking(["touch a"]);
    const { id } = await next(ref);
    const update = { type: "addRules", rules: ["Bash"], behavior: "allow", destination: "session" };
    const text = JSON.stringify({
      type: "team_permission_update",
      permissionUpdate: update,
      toolName: "Bash",
    });
    await sendMessage(ref, { from: "ada", to: "dev", text });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: text.replace('"Bash"]', '"Read"]') });
    await eventually("the lead's rule", () => dev.worker.permissionRequests.sessionRules.length > 0);
    expect(dev.worker.permissionRequests.sessionRules).toEqual(["Read"]);
    await answerApproval(contextOf(ref), id, { approve: false });
  });
});

describe("permission request (S75)", () => {
  it("redacts secrets in all its records, but runs the command with them", async () => {
    const secret = "hunter2-hunter2";
    const { ref, dev } = await asking([`printf %s '${secret}' > out`], {
      env: { PATH: process.env.PATH, MY_SECRET: secret },
    });
    const { id, summary } = await next(ref);
    expect(summary).toContain("[secret]");
    const file = readFileSync(ref.paths.request(id).request, "utf8");
    const sent = (await history(ref, LEAD_NAME, { all: true })).map(({ text }) => text).join();
    expect(sent).toContain("permission_request");
    expect(`${file}${sent}${dev.shown.join()}`).not.toContain(secret);
    await answerApproval(contextOf(ref), id, { approve: true });
    await ended(ref, dev);
    expect(readFileSync(join(dev.cwd, "out"), "utf8")).toBe(secret);
  });
});
