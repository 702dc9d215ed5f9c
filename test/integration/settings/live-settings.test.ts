import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Model } from "../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../src/agent/playbook/scripted-model.ts";
import { listApprovals } from "../../../src/operations/approvals/approvals.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { liveSettings } from "../../../src/settings/live-settings.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { recordTrust } from "../../support/files/trust-record.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { startWorker, type WorkerInput } from "../../support/worker/start-worker.ts";

const bash = (command: string) => ({ name: "Bash", input: { command } });

/** Saves like an editor: writes a new file and renames it over the old one. */
function save(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, typeof value === "string" ? value : JSON.stringify(value));
  renameSync(`${file}.new`, file);
}

/** Starts a teammate with real settings files; each call of `say` runs one turn and returns all tool results. */
async function working(turns: WorkerInput["turns"], input: WorkerInput = {}) {
  const ref = await testTeam(["dev"]);
  const { root } = ref.home;
  const cwd = join(dirname(root), "work-dev");
  mkdirSync(cwd);
  const problems: string[] = [];
  const live = liveSettings(root, cwd, (problem) => problems.push(problem));
  const dev = await startWorker(ref, { mode: "dontAsk", turns: turns ?? [], liveSettings: live, ...input });
  onTestFinished(async () => {
    await dev.stop().catch(() => undefined);
  });
  let sent = 0;
  const say = async (): Promise<string[]> => {
    sent += 1;
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: `turn ${sent}` });
    await eventually(
      "the idle state",
      () => dev.inputs.length === sent && readStatus(ref, "dev")?.state === "idle",
    );
    return dev.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
    );
  };
  const user = (value: unknown): void => save(join(root, "settings.json"), value);
  const local = (value: unknown): void => {
    const file = join(cwd, ".claude", "settings.local.json");
    if (value === undefined) rmSync(file);
    else save(file, value);
  };
  const trust = (): void => recordTrust(root, cwd);
  return {
    ref,
    dev,
    problems,
    live,
    say,
    user,
    local,
    trust,
    made: (name: string) => existsSync(join(cwd, name)),
  };
}

describe("settings changed while an agent runs", () => {
  it("allow and deny from the next call, even if the file is new", async () => {
    const turns = ["a", "b", "c"].flatMap((name) => [{ tools: [bash(`touch ${name}`)] }, { say: "ok" }]);
    const { say, user, made } = await working(turns);
    expect((await say())[0]).toContain("No rule allows touch a");
    user({ permissions: { allow: ["Bash(touch:*)"] } });
    await say();
    user({ permissions: { allow: ["Bash(touch:*)"], deny: ["Bash(touch c)"] } });
    expect((await say())[2]).toContain("The rule Bash(touch c) denies it");
    expect(["a", "b", "c"].map(made)).toEqual([false, true, false]);
  });

  it("of a project apply as soon as it is trusted, without a restart", async () => {
    const turns = ["a", "b"].flatMap((name) => [{ tools: [bash(`touch ${name}`)] }, { say: "ok" }]);
    const { say, local, trust, made } = await working(turns);
    local({ permissions: { allow: ["Bash(touch:*)"] } });
    await say();
    trust();
    await say();
    expect(["a", "b"].map(made)).toEqual([false, true]);
  });

  it("remove a denied tool from the offer, and offer it again later", async () => {
    const offered: boolean[] = [];
    const scripted = scriptedModel({
      playbook: { version: 1, agents: { dev: [{ say: "ok", repeat: true }] } },
      agent: "dev",
      cwd: "/",
      env: {},
    });
    const model: Model = {
      ...scripted,
      stream: (request, signal) => {
        offered.push(request.tools.some(({ name }) => name === "Bash"));
        offered.push(request.system.includes("Bash"));
        return scripted.stream(request, signal);
      },
    };
    const { say, user } = await working([], { model });
    user({ permissions: { deny: ["Bash"] } });
    await say();
    user({ permissions: { deny: ["Bash(rm:*)"] } });
    await say();
    user({ permissions: { deny: ["Bash", "Read"] } });
    await say();
    expect(offered).toEqual([false, false, true, true, false, false]);
  });

  it("do not replace the hooks of a running agent, which says so once", async () => {
    const turns = ["a", "b", "c"].flatMap((name) => [{ tools: [bash(`touch ${name}`)] }, { say: "ok" }]);
    const { say, user, made, problems } = await working(turns, { mode: "bypassPermissions" });
    await say();
    const hook = (command: string) => [{ matcher: "Bash", hooks: [{ type: "command", command }] }];
    user({ hooks: { PreToolUse: hook("touch hooked; exit 2") } });
    await say();
    user({ hooks: { PreToolUse: hook("touch hooked; exit 2") }, env: { OTHER: "x" } });
    await say();
    expect(["a", "b", "c", "hooked"].map(made)).toEqual([true, true, true, false]);
    expect(problems).toEqual([
      expect.stringMatching(/^the hooks have changed; this agent keeps its previous hooks/),
    ]);
  });

  it("of a trusted project widen nothing until they are confirmed, and narrow at once", async () => {
    const turns = ["a", "b", "c", "d"].flatMap((name) => [
      { tools: [bash(`touch ${name}`), bash(`mkdir ${name}.d`)] },
      { say: "ok" },
    ]);
    const { say, local, trust, made, problems } = await working(turns);
    local({ permissions: { allow: ["Bash(touch:*)"] } });
    trust();
    await say();
    local({ permissions: { allow: ["Bash(touch:*)", "Bash(mkdir:*)"], deny: ["Bash(touch b)"] } });
    await say();
    expect(["a", "b", "a.d", "b.d"].map(made)).toEqual([true, false, false, false]);
    local({ permissions: { allow: ["Bash(mkdir:*)"], defaultMode: "acceptEdits" } });
    await say();
    expect(["c", "c.d"].map(made)).toEqual([false, false]);
    expect(problems).toEqual([
      expect.stringMatching(
        /^changed since you trusted it \(see teams trust --changes\), so ignored: .*local\.json: permissions\.allow$/,
      ),
      expect.stringMatching(/local\.json: permissions\.allow, permissions\.defaultMode$/),
      expect.stringMatching(
        /^removed from the project's files, but in force .*: permissions\.deny Bash\(touch b\)$/,
      ),
    ]);
    trust();
    await say();
    expect(["d", "d.d"].map(made)).toEqual([false, true]);
  });

  it("of a project keep a restriction that its files no longer contain, until a person confirms it", async () => {
    const turns = ["a", "b", "c"].flatMap((name) => [{ tools: [bash(`touch ${name}`)] }, { say: "ok" }]);
    const { say, user, local, trust, made, problems, live } = await working(turns);
    const [deny, ask] = [["Bash(touch:*)"], ["Bash(rm:*)"]];
    user({ permissions: { allow: ["Bash(touch:*)"], deny: ["Bash(curl:*)"], ask: ["Bash(wget:*)"] } });
    local({ permissions: { deny, ask, disableBypassPermissionsMode: "disable" } });
    trust();
    await say();
    local(undefined);
    await say();
    expect(live().permissions).toMatchObject({
      ...{ deny: ["Bash(curl:*)", ...deny], ask: ["Bash(wget:*)", ...ask] },
      disableBypassPermissionsMode: "disable",
    });
    user({ permissions: { allow: ["Bash(touch:*)"] } });
    await say();
    expect(live().permissions).toMatchObject({ deny, ask });
    expect(["a", "b", "c"].map(made)).toEqual([false, false, false]);
    expect(problems).toEqual([
      "removed from the project's files, but in force until you confirm that (teams trust) or restart the agent: permissions.deny Bash(touch:*), permissions.ask Bash(rm:*), permissions.disableBypassPermissionsMode",
    ]);
    trust();
    expect(live().permissions).toMatchObject({ deny: [], ask: [] });
    expect(live().permissions.disableBypassPermissionsMode).toBeUndefined();
  });

  it("end bypassPermissions if they forbid it", async () => {
    const turns = ["a", "b"].flatMap((name) => [{ tools: [bash(`touch ${name}`)] }, { say: "ok" }]);
    const { ref, dev, say, user, made } = await working(turns, { mode: "bypassPermissions" });
    await say();
    user({ permissions: { disableBypassPermissionsMode: "disable" } });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "go on" });
    await eventually("the permission request", () => listApprovals(ref).length === 1);
    expect(dev.worker.planApproval.mode).toBe("default");
    expect(["a", "b"].map(made)).toEqual([true, false]);
  });

  it("stay in force as before if a file becomes invalid, which is reported once", async () => {
    const turns = ["a", "b", "c"].flatMap((name) => [{ tools: [bash(`touch ${name}`)] }, { say: "ok" }]);
    const { say, user, made, problems } = await working(turns, { mode: "bypassPermissions" });
    user({ permissions: { deny: ["Bash(touch:*)"] } });
    await say();
    user('{ "permissions": { "deny": [ }');
    await say();
    await say();
    expect(["a", "b", "c"].map(made)).toEqual([false, false, false]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^the old settings stay in force: .*settings\.json is not JSON/);
  });

  it("decide an open permission request at the next wakeup", async () => {
    const { ref, dev, user, made } = await working([{ tools: [bash("touch a")] }, { say: "ok" }], {
      mode: "default",
    });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
    await eventually("the permission request", () => listApprovals(ref).length === 1);
    user({ permissions: { allow: ["Bash(touch a)"] } });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "anything that rings" });
    await eventually("the call", () => made("a"));
    await eventually("the idle state", () => readStatus(ref, "dev")?.state === "idle");
    expect(listApprovals(ref)).toEqual([]);
    expect(dev.inputs).toHaveLength(2);
  });
});
