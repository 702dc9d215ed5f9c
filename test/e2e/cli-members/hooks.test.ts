import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import { testMemberContract } from "../../support/cli/member-contract.ts";
import { memberTeam } from "../../support/cli/member-team.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";

const file = scriptFile("cli/hooks");
const ADAPTER: Omit<AdapterInput, "command"> = {
  channel: "hooks",
  // With a key in the environment, Gemini does not ask a keychain, so teams trusts its input sooner.
  env: { GEMINI_API_KEY: "k" },
  resume: "resume",
  modes: { default: "default" },
  firstMessageAfter: "tools",
  reports: ["tokens"],
};

testMemberContract({ adapter: ADAPTER, file, conversation: ["new", "resumed"] });

async function team(settings: Readonly<Record<string, unknown>> = {}) {
  const own = await memberTeam(file(), ADAPTER, "tmux", settings);
  const given = (): readonly string[] =>
    own.log().flatMap((line) => (typeof line.given === "string" ? [line.given] : []));
  /** The person's own directory of Gemini. */
  const gemini = join(own.place.env.HOME ?? "", ".gemini");
  return { ...own, given, gemini };
}

describe("Gemini over hooks", () => {
  it("starts with the person's settings and hooks, in a mode that asks, and counts tokens", async () => {
    const { spawn, state, leadGot, log, gemini, teams } = await team();
    mkdirSync(gemini);
    const settings = `{ // mine\n "ui": { "theme": "x" }, "hooks": { "BeforeAgent": [{ "hooks": [{ "command": "touch ${gemini}/seen" }] }] } }`;
    writeFileSync(join(gemini, "settings.json"), settings);
    await spawn("run: true\nsay: hi", "--allowed-tools", "Bash(true)");
    await leadGot("hi");
    await state("ada", "idle");
    const started = log().find((line) => "new" in line);
    expect(started?.args).toEqual(expect.arrayContaining(["--approval-mode", "default", "--policy"]));
    expect(existsSync(join(gemini, "seen"))).toBe(true);
    expect(readFileSync(join(gemini, "settings.json"), "utf8")).toBe(settings);
    const { members } = (await teams("status", "--json")).json<{ members: Record<string, unknown>[] }>();
    expect(members.find(({ name }) => name === "ada")).toMatchObject({ tokens: { input: 20, output: 10 } });
  });

  it("gets a message during a turn from the AfterAgent hook, and later ones by paste", async () => {
    const { spawn, teams, approval, leadGot, given, log } = await team();
    await spawn("run: touch first\nsay: first");
    const { id } = await approval();
    await teams("send", "ada", "say: given by the hook");
    await teams("approve", id);
    await leadGot("given by the hook");
    expect(given().map((text) => text.includes("given by the hook"))).toEqual([true]);
    // The hook waits for half a second.
    await eventually("the end of both turns", () => log().filter((line) => "rested" in line).length === 2);
    await teams("send", "ada", "say: typed");
    await leadGot("typed");
    expect(given()).toHaveLength(1);
    expect(log().filter(({ prompt }) => String(prompt).includes("given by the hook"))).toHaveLength(1);
  });

  it("passes the reason of a refusal to its model, and continues", async () => {
    const { spawn, approval, teams, logged, leadGot } = await team();
    await spawn("edit: file.txt\nsay: went on");
    const { id, summary } = await approval();
    expect(summary).toContain("file.txt");
    expect((await teams("approvals", id)).out).toContain("+ new text");
    await teams("reject", id, "--note", "not now");
    await logged({ refused: "not now" });
    await leadGot("went on");
  });

  it("applies Read rules to its file reads", async () => {
    const { spawn, leadGot, log, repo } = await team({ permissions: { deny: ["Read(.env)"] } });
    writeFileSync(join(repo, ".env"), "x");
    writeFileSync(join(repo, "open.txt"), "x");
    await spawn("read: .env\nread: open.txt\nsay: done");
    await leadGot("done");
    expect(log().filter((line) => "refused" in line)).toHaveLength(1);
  });

  // Only Linux lists the children of a process in /proc.
  it.skipIf(!existsSync("/proc/self/task"))("refuses a call whose hook was killed", async () => {
    const { spawn, approval, approvals, log, repo, leadGot } = await team();
    await spawn("killed: touch never\nsay: went on");
    await approval();
    const hook = Number(log().find((line) => "hook" in line)?.hook);
    const program = Number.parseInt(readFileSync(`/proc/${hook}/task/${hook}/children`, "utf8"), 10);
    process.kill(Number.isNaN(program) ? hook : program, "SIGKILL");
    await leadGot("went on");
    expect(existsSync(join(repo, "never"))).toBe(false);
    expect(await approvals()).toEqual([]);
    expect(JSON.stringify(log())).toContain("teams did not answer");
  });

  it("withdraws a request when the person presses Escape on its own screen", async () => {
    const { spawn, state, approval, approvals, place, paneShowing, inbox, repo } = await team();
    await spawn("run: touch never\nsay: never");
    await approval();
    place.tmux("send-keys", "-t", await paneShowing(), "Escape");
    await state("ada", "idle");
    expect(await approvals()).toEqual([]);
    expect(await inbox()).toContain("interrupted");
    expect(existsSync(join(repo, "never"))).toBe(false);
  });

  it("takes the next message after an interrupt during a request", async () => {
    const { spawn, state, teams, approval, approvals, leadGot } = await team();
    await spawn("run: touch never\nsay: never");
    await approval();
    expect((await teams("interrupt", "ada")).code).toBe(0);
    await state("ada", "idle");
    expect(await approvals()).toEqual([]);
    await teams("send", "ada", "say: after it");
    await leadGot("after it");
  });

  it("needs input while a question is on its screen", async () => {
    const { spawn, state, type, leadGot, logged } = await team();
    await spawn("question\nsay: heard");
    await logged({ question: "asked" });
    await state("ada", "needs-input");
    await type("an answer");
    await leadGot("heard");
  });

  it("gets no text while a dialog asks for a login after its session began", async () => {
    const { spawn, mark, state, type, leadGot, log, teams } = await team();
    mark("login");
    const spawned = spawn("say: heard");
    await state("ada", "needs-input");
    expect((await teams("status")).out).toContain("login");
    await type("the key");
    await spawned;
    await leadGot("heard");
    expect(log().filter((line) => "dialog" in line)).toEqual([
      { dialog: "Enter your key", entered: "the key" },
    ]);
  });

  it("gets no text while a dialog that the person opened is on its screen", async () => {
    const { spawn, state, type, leadGot, teams, place, paneShowing, log, logged } = await team();
    await spawn("say: first");
    await logged({ rested: true });
    await type("/settings");
    const pane = await paneShowing("Settings");
    await teams("send", "ada", "say: second");
    await state("ada", "needs-input");
    expect((await teams("status")).out).toContain("close the dialog");
    place.tmux("send-keys", "-t", pane, "Escape");
    await leadGot("second");
    expect(log().filter((line) => "entered" in line)).toEqual([]);
  });

  it("gets Enter again if it took the first one for a new line", async () => {
    const { spawn, teams, leadGot, logged } = await team();
    await spawn("sticky\nsay: first");
    await logged({ rested: true });
    await teams("send", "ada", "say: second");
    await logged({ newline: true });
    await leadGot("second");
  });

  it("gets a text again that left its input without a turn", async () => {
    const { spawn, teams, leadGot, log, logged } = await team();
    await spawn("lossy\nsay: first");
    await logged({ rested: true });
    await teams("send", "ada", "say: second");
    await leadGot("second");
    expect(log().filter((line) => "lost" in line)).toHaveLength(1);
    expect(log().filter(({ prompt }) => String(prompt).includes("second"))).toHaveLength(1);
  });

  it("gets no text while its input contains a draft, even if the cursor is elsewhere", async () => {
    const { spawn, mark, state, teams, leadGot, place, paneShowing, log, logged } = await team();
    mark("unfocused");
    await spawn("say: first");
    await logged({ rested: true });
    const pane = await paneShowing();
    place.tmux("send-keys", "-t", pane, "-l", "mine");
    await paneShowing("> mine");
    await teams("send", "ada", "say: second");
    await state("ada", "needs-input");
    place.tmux("send-keys", "-t", pane, "Enter");
    await leadGot("second");
    expect(log().filter(({ prompt }) => /mine[\s\S]*second/.test(String(prompt)))).toEqual([]);
  });

  it("reports a turn that failed, and survives odd lines in its record and hostile requests", async () => {
    const { spawn, leadGot, inbox, teams, approval } = await team();
    await spawn("odd\nfail");
    await leadGot("the fault of the stand-in");
    expect(await inbox()).toContain("failed");
    await teams("send", "ada", "hostile");
    expect((await approval()).summary).not.toMatch(/\p{Cc}/u);
  });

  it("gets a message that begins with / or @ as plain text", async () => {
    const { spawn, leadGot, teams, log } = await team();
    await spawn("say: ready");
    await leadGot("ready");
    await teams("send", "ada", "/quit\n@secret\nsay: heard");
    await leadGot("heard");
    expect(JSON.stringify(log())).toContain("\\\\@secret");
  });

  it("is not started in a project whose settings turn its hooks off", async () => {
    const { spawn, repo, approval, log, state } = await team();
    mkdirSync(join(repo, ".gemini"));
    writeFileSync(join(repo, ".gemini/settings.json"), '{ "hooksConfig": { "enabled": false } }');
    await spawn("say: hi");
    await state("ada", "crashed");
    expect((await approval()).summary).toContain("turns off hooks");
    expect(log()).toEqual([]);
  });

  it("leaves its conversation in the person's directory, and nothing else", async () => {
    const { spawn, state, teams, gemini } = await team();
    await spawn("say: hi");
    await state("ada", "idle");
    expect((await teams("shutdown", "ada", "--timeout", "180")).code).toBe(0);
    expect(readdirSync(gemini).sort()).toEqual(["history", "tmp"]);
    expect(readdirSync(join(gemini, "tmp/repo/chats"))).toHaveLength(1);
  });
});
