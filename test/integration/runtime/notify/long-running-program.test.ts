import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../../src/os/clock.ts";
import { startTimeOf } from "../../../../src/os/process/identity.ts";
import { createNotifier } from "../../../../src/runtime/notify/notifier.ts";
import { settingsSchema } from "../../../../src/settings/settings-schema.ts";
import { openRequest, readAnswer } from "../../../../src/team/requests/requests.ts";
import { script } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const agentWith = script("processes/piped-parent");

type Line = Readonly<Record<string, unknown>> & { readonly token: string };

/** Writes what it gets into `heard`, and what the test writes into `says` to stdout. */
const RELAY = "tail -n +1 -f says 2>/dev/null & cat >> heard";

/** A notifier of the lead with this long-running program. */
async function started(program: string | readonly string[] = RELAY, restartMs = [10, 10]) {
  const ref = await testTeam(["dev"]);
  const cwd = dirname(ref.home.root);
  const problems: string[] = [];
  const settings = {
    ...settingsSchema.parse({ teams: { notify: { program } } }),
    ignored: [],
    ignoredReason: "",
  };
  writeFileSync(join(cwd, "says"), "");
  const notifier = createNotifier({
    ...{ settings: () => settings, ref, agent: "team-lead", cwd, env: { PATH: process.env.PATH } },
    ...{ clock: systemClock, restartMs, problem: (text) => problems.push(text) },
  });
  onTestFinished(() => notifier.close());
  const heard = (): Line[] => {
    const path = join(cwd, "heard");
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  };
  const hears = (count: number) => eventually(`${count} lines`, () => heard().length >= count && heard());
  const says = (line: object | string): void => {
    const text = typeof line === "string" ? line : JSON.stringify(line);
    writeFileSync(join(cwd, "says"), `${text}\n`, { flag: "a" });
  };
  /** Opens a request of the lead, whose answer is a file, and notifies the user of it. */
  const ask = (id: string, kind: "permission" | "question" = "permission", payload: object = {}): void => {
    const summary = kind === "question" ? "Which port?" : "Bash(npm publish)";
    openRequest(ref, { id, kind, from: "team-lead", summary, payload: { ...payload }, at: 1 });
    notifier.notify(`team-lead asks: ${summary}`, "lead", id);
  };
  return { ref, cwd, notifier, problems, heard, hears, says, ask };
}

describe("a long-running program of teams.notify", () => {
  it("gets the whole request, and answers it once by its token", async () => {
    const { ref, hears, says, ask } = await started();
    ask("perm-1", "permission", { tool: "Bash", input: { command: "npm publish" }, reason: "asks always" });
    ask("perm-2", "permission", { tool: "Bash", input: { command: "npm test" } });
    const [first, second] = await hears(2);
    expect(first).toMatchObject({
      type: "request",
      team: "crew",
      agent: "team-lead",
      text: "Team crew: team-lead asks: Bash(npm publish)",
      request: { id: "perm-1", kind: "permission", input: { command: "npm publish" }, reason: "asks always" },
    });
    expect(first?.token).not.toBe(second?.token);
    says({ token: first?.token, approve: true, note: "go" });
    expect((await hears(3))[2]).toEqual({ type: "result", token: first?.token, ok: true });
    expect(readAnswer(ref, "perm-1")).toMatchObject({ approve: true, note: "go" });
    expect(readAnswer(ref, "perm-2")).toBeUndefined();
    says({ token: first?.token, approve: false });
    says({ token: "0".repeat(32), approve: true });
    const lines = await hears(5);
    for (const line of lines.slice(3)) expect(line).toMatchObject({ type: "result", ok: false });
    expect(readAnswer(ref, "perm-1")).toMatchObject({ approve: true });
    expect(readAnswer(ref, "perm-2")).toBeUndefined();
  });

  it("gets no lone surrogate, which its parser may refuse", async () => {
    const { cwd, hears, ask } = await started();
    ask("perm-1", "permission", { tool: "Bash", input: { command: "echo \ud83d" } });
    expect((await hears(1))[0]).toMatchObject({ request: { input: { command: "echo \ufffd" } } });
    expect(readFileSync(join(cwd, "heard"), "utf8")).not.toMatch(/\\ud[89a-f]/);
  });

  it("is notified of an answer from elsewhere, and its own comes too late", async () => {
    const { ref, hears, says, ask } = await started();
    ask("perm-1");
    const [asked] = await hears(1);
    const { answerAgentRequest } = await import("../../../../src/operations/approvals/approvals.ts");
    await answerAgentRequest({ ref, clock: systemClock, actor: "team-lead" }, "perm-1", { approve: false });
    expect((await hears(2))[1]).toEqual({ type: "closed", token: asked?.token });
    says({ token: asked?.token, approve: true });
    expect((await hears(3))[2]).toMatchObject({ type: "result", ok: false });
    expect(readAnswer(ref, "perm-1")).toMatchObject({ approve: false });
  });

  it("keeps the token of a question that needs a choice, and accepts the number of a choice", async () => {
    const { ref, hears, says, ask } = await started();
    ask("question-1", "question", { question: "Which port?", choices: ["80", "eight"] });
    const [asked] = await hears(1);
    expect(asked).toMatchObject({ request: { question: "Which port?", choices: ["80", "eight"] } });
    says({ token: asked?.token, approve: true });
    expect((await hears(2))[1]).toMatchObject({
      ok: false,
      error: expect.stringContaining("asks for a choice"),
    });
    says({ token: asked?.token, approve: true, note: "2" });
    expect((await hears(3))[2]).toMatchObject({ ok: true });
    expect(readAnswer(ref, "question-1")).toMatchObject({ note: "eight" });
  });

  it("keeps the token of an answer that could not be sent", async () => {
    const { ref, hears, says, ask } = await started();
    const inbox = ref.paths.inbox("team-lead");
    mkdirSync(inbox, { recursive: true });
    ask("question-1", "question", { question: "Which port?" });
    const [asked] = await hears(1);
    says({ token: asked?.token, approve: true, note: "80" });
    expect((await hears(2))[1]).toMatchObject({ type: "result", ok: false });
    rmdirSync(inbox);
    says({ token: asked?.token, approve: true, note: "80" });
    expect((await hears(3))[2]).toMatchObject({ type: "result", ok: true });
    expect(readAnswer(ref, "question-1")).toMatchObject({ note: "80" });
  });

  it("names the default of a question, which an approval without a note answers", async () => {
    const { ref, hears, says, ask } = await started();
    ask("question-1", "question", { question: "Which port?", choices: ["80", "eight"], default: "80" });
    const [asked] = await hears(1);
    expect(asked).toMatchObject({ request: { default: "80" } });
    says({ token: asked?.token, approve: true });
    expect((await hears(2))[1]).toMatchObject({ ok: true });
    expect(readAnswer(ref, "question-1")).toMatchObject({ note: "80" });
  });

  it("refuses lines that are not answers, and reports the first", async () => {
    const { hears, says, ask, problems } = await started();
    ask("perm-1");
    const [asked] = await hears(1);
    const wrong = [
      "yes",
      "[]",
      { approve: true },
      { token: asked?.token },
      { token: asked?.token, approve: "yes" },
    ];
    for (const line of wrong) says(line);
    says(`{"token":"${"x".repeat(70_000)}"}`);
    const lines = (await hears(1 + wrong.length + 1)).slice(1);
    expect(lines.every((line) => line.ok === false)).toBe(true);
    expect(problems).toEqual(["teams.notify: The line is not JSON; nothing was answered."]);
  });

  it("gets notices without a request, and the team in its environment", async () => {
    const { notifier, cwd, hears } = await started(`env > seen; ${RELAY}`);
    notifier.notify("ada: 80 % of its tokens are used", "person");
    const [notice] = await hears(1);
    expect(notice).toEqual({
      ...{ type: "notice", team: "crew", agent: "team-lead" },
      text: "Team crew: ada: 80 % of its tokens are used",
    });
    expect(readFileSync(join(cwd, "seen"), "utf8")).toContain("TEAMS_TEAM=crew");
  });

  it("gets the next notification after one that fails", async () => {
    const { ref, notifier, problems, hears } = await started();
    // A directory cannot be read, even by root.
    mkdirSync(ref.paths.request("perm-1").request, { recursive: true });
    notifier.notify("team-lead asks: Bash(npm publish)", "lead", "perm-1");
    notifier.notify("ada: 80 % of its tokens are used", "person");
    expect(await hears(1)).toMatchObject([{ type: "notice" }]);
    expect(problems).toEqual([expect.stringContaining("teams.notify failed, so you were not notified")]);
  });

  it("restarts with new tokens after its end, but not forever", async () => {
    const { ask, cwd, problems, hears } = await started("head -n 1 >> heard; echo failed >&2; exit 3");
    ask("perm-1");
    const lines = await hears(3);
    expect(new Set(lines.map(({ token }) => token)).size).toBe(3);
    await eventually("the last problem", () => problems.length === 3);
    expect(problems[0]).toBe("teams.notify ended and will restart in 0.01 s: exit code 3: failed");
    expect(problems[2]).toBe("teams.notify ended 3 times and is not restarted: exit code 3: failed");
    ask("perm-2");
    expect(readFileSync(join(cwd, "heard"), "utf8").split("\n")).toHaveLength(4);
  });

  it("ends with all of its processes when the notifier closes", async () => {
    const { notifier, cwd, ask, hears } = await started("sleep 600 & echo $! $$ > pids; cat >> heard");
    ask("perm-1");
    await hears(1);
    const pids = readFileSync(join(cwd, "pids"), "utf8").split(" ").map(Number);
    expect(pids.map(startTimeOf)).not.toContain(undefined);
    await notifier.close();
    await eventually("the end of both processes", () => pids.every((pid) => startTimeOf(pid) === undefined));
  });

  it("ends when its agent's process is killed", async () => {
    const { cwd } = await started();
    const agent = agentWith(`cd ${cwd}; sleep 600 & echo $! $$ > pids; exec sleep 600`);
    const pids = await eventually("the program", () => {
      const path = join(cwd, "pids");
      return existsSync(path) && /^\d+ \d+\n$/.test(readFileSync(path, "utf8")) && readFileSync(path, "utf8");
    });
    agent.child.kill("SIGKILL");
    await eventually("the end of both processes", () =>
      pids.split(" ").every((pid) => startTimeOf(Number(pid)) === undefined),
    );
  });
});
