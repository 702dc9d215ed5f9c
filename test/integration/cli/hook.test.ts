import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { updateTeam } from "../../../src/team/config/config.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { joinByHand, peerSays } from "../../support/team/foreign-peer.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { stopSteadyClock } from "../../support/timing/steady-clock.ts";

async function crew() {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const hook = (event: string, input: string | object, as = "ada") =>
    cli(["hook", event, "--team", "crew", "--as", as], {
      stdin: typeof input === "string" ? input : JSON.stringify(input),
      env: { TEAMS_INSTANCE: "start-1", MY_API_KEY: "secret-value-1" },
    });
  const record = (): unknown =>
    JSON.parse(readFileSync(join(cli.root, "teams", "crew", "run", "ada", "hook.json"), "utf8"));
  return { cli, hook, record };
}

describe("teams hook", () => {
  it("records the event, and prints nothing", async () => {
    const { hook, record } = await crew();
    const input = {
      session_id: "s-1",
      transcript_path: "/t",
      tool_name: "Read",
      tool_input: { file_path: "/f" },
    };
    expect(await hook("PreToolUse", input)).toMatchObject({ code: 0, out: "", err: "" });
    const expected = { instance: "start-1", event: "tool", conversation: "s-1", detail: "Read: /f" };
    expect(record()).toMatchObject(expected);
  });

  it("reads a large input to its end, and keeps the event", async () => {
    const { hook, record } = await crew();
    const input = { session_id: "s-1", tool_name: "Bash", tool_response: "x".repeat(3 * 1024 * 1024) };
    expect((await hook("PostToolUse", input)).code).toBe(0);
    expect(record()).toMatchObject({ event: "tool" });
  });

  it("delays a call until claude has written that its turn began", async () => {
    const { cli, hook } = await crew();
    const path = join(cli.root, "teams", "crew", "config.json");
    const config = JSON.parse(readFileSync(path, "utf8"));
    const withAda = (isActive: boolean) =>
      JSON.stringify({ ...config, members: [...config.members, { name: "ada", isActive }] });
    writeFileSync(path, withAda(false));
    // The hook reads the clock after each read of the config.
    const readings = stopSteadyClock();
    let isOver = false;
    const call = hook("PreToolUse", { tool_name: "Bash" }).finally(() => {
      isOver = true;
    });
    const recorded = join(cli.root, "teams", "crew", "run", "ada", "hook.json");
    await eventually("the record of the hook", () => existsSync(recorded));
    writeFileSync(path, "");
    const before = readings();
    await eventually("two reads of the config", () => isOver || readings() > before + 2);
    expect(isOver).toBe(false);
    writeFileSync(path, withAda(true));
    expect(await call).toMatchObject({ code: 0, out: "", err: "" });
  });

  it("does not keep a call waiting for a turn that claude never writes", async () => {
    const { cli, hook } = await crew();
    writeFileSync(join(cli.root, "teams", "crew", "config.json"), "");
    expect((await hook("PreToolUse", { tool_name: "Bash" })).code).toBe(0);
  });

  it("never exits with the status that makes the CLI refuse a call", async () => {
    const { cli, hook } = await crew();
    expect((await hook("NoEvent", {})).code).toBe(1);
    expect((await hook("Stop", "not JSON")).code).toBe(0);
    expect((await cli(["hook", "Stop"])).code).toBe(1);
    expect((await cli(["hook", "Stop", "--team", "gone", "--as", "ada"], { stdin: "{}" })).code).toBe(1);
  });
});

const refOf = (cli: Cli) => teamRef(teamsHome(cli.env), "crew");

describe("the state of a member that teams did not start", () => {
  async function foreign() {
    const team = await crew();
    await joinByHand(refOf(team.cli), "ada");
    const ada = async (): Promise<unknown> => {
      const { out } = await team.cli(["status", "--team", "crew", "--json"]);
      const { members } = JSON.parse(out) as { members: { name: string }[] };
      return members.find(({ name }) => name === "ada");
    };
    return { ...team, ada };
  }

  it("comes from its hooks", async () => {
    const { hook, ada } = await foreign();
    expect(await ada()).toMatchObject({ state: "unknown", stateFrom: null });
    await hook("PreToolUse", { tool_name: "Bash", tool_input: { command: "make" } });
    expect(await ada()).toMatchObject({ state: "running", stateFrom: "hook", activity: "Bash: make" });
    await hook("Notification", { notification_type: "permission_prompt", message: "may it" });
    expect(await ada()).toMatchObject({ state: "needs-input", stateFrom: "hook", activity: "may it" });
    await hook("TeammateIdle", {});
    expect(await ada()).toMatchObject({ state: "idle", stateFrom: "hook", activity: "" });
  });

  it("comes from the hooks of Gemini CLI", async () => {
    const { hook, ada } = await foreign();
    await hook("BeforeAgent", { prompt: "hi" });
    expect(await ada()).toMatchObject({ state: "running", stateFrom: "hook" });
    await hook("AfterAgent", { prompt_response: "done" });
    expect(await ada()).toMatchObject({ state: "idle", stateFrom: "hook" });
  });

  it("is idle for teams wait", async () => {
    const { cli, hook } = await foreign();
    await hook("Stop", {});
    expect((await cli(["wait", "ada", "--team", "crew", "--idle", "--timeout", "200"])).code).toBe(0);
  });

  it("does not come from the hooks of an earlier member of the same name", async () => {
    const { cli, hook, ada } = await foreign();
    await hook("PreToolUse", { tool_name: "Bash" });
    await updateTeam(refOf(cli), (config) => ({
      ...config,
      members: config.members.map((member) => ({ ...member, joinedAt: Date.now() + 1 })),
    }));
    expect(await ada()).toMatchObject({ state: "unknown" });
  });

  it("is idle after a person pressed Escape in the screen of claude", async () => {
    const { cli, hook, ada } = await foreign();
    const transcript = join(cli.root, "t.jsonl");
    await hook("PreToolUse", { tool_name: "Bash", transcript_path: transcript });
    expect(await ada()).toMatchObject({ state: "running" });
    const content = [{ type: "text", text: "[Request interrupted by user for tool use]" }];
    const mark = { type: "user", isSidechain: false, message: { role: "user", content } };
    writeFileSync(transcript, `${JSON.stringify({ ...mark, timestamp: new Date().toISOString() })}\n`);
    expect(await ada()).toMatchObject({ state: "idle", stateFrom: "interrupt" });
    // Every status command reads the transcript, but the lead gets only one notice of an interrupt.
    const notices = async (): Promise<number> => {
      const { out } = await cli(["inbox", "--team", "crew", "--all", "--json"]);
      return out.split('\\"idleReason\\":\\"interrupted').length - 1;
    };
    expect([await notices(), await ada()]).toMatchObject([1, { state: "idle", stateFrom: "interrupt" }]);
    expect(await notices()).toBe(1);
    await hook("PreToolUse", { tool_name: "Read", transcript_path: transcript });
    expect(await ada()).toMatchObject({ state: "running" });
    expect(await notices()).toBe(1);
  });

  it("is interrupted without a notice in a team that another program created", async () => {
    const { cli, hook, ada } = await foreign();
    const path = refOf(cli).paths.config;
    const config = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...config, schemaVersion: undefined }, undefined, 2));
    const transcript = join(cli.root, "t.jsonl");
    await hook("PreToolUse", { tool_name: "Bash", transcript_path: transcript });
    const content = [{ type: "text", text: "[Request interrupted by user]" }];
    const mark = { type: "user", message: { content }, timestamp: new Date().toISOString() };
    writeFileSync(transcript, `${JSON.stringify(mark)}\n`);
    expect(await ada()).toMatchObject({ state: "idle", stateFrom: "interrupt" });
    const { out } = await cli(["inbox", "--team", "crew", "--all", "--json"]);
    expect(out).not.toContain("interrupted");
  });
});

describe("an idle notice without the last words", () => {
  const notice = { type: "idle_notification", idleReason: "available" };

  async function goIdle(given: (team: Awaited<ReturnType<typeof crew>>) => Promise<unknown>) {
    const team = await crew();
    const ref = refOf(team.cli);
    await joinByHand(ref, "ada");
    await given(team);
    peerSays(ref, "ada", notice);
    const at = Date.now();
    await eventually("a later time than the notice's", () => Date.now() > at);
    await team.hook("Stop", { last_assistant_message: "words of the next turn" });
    const inbox = async (): Promise<string> => (await team.cli(["inbox", "--team", "crew", "--json"])).out;
    return { ...team, ref, inbox };
  }

  it("shows the words that the hook reported at the turn's end", async () => {
    const { cli, inbox } = await goIdle(({ hook }) => hook("Stop", { last_assistant_message: "found it" }));
    expect(await inbox()).toContain("found");
    expect(await inbox()).not.toContain("next turn");
    await cli(["inbox", "--team", "crew", "--mark-read"]);
    expect(await inbox()).toContain("found");
  });

  it("shows the words of the transcript if claude's hook reports none", async () => {
    const { inbox } = await goIdle(async ({ cli, hook }) => {
      const path = join(cli.root, "t.jsonl");
      const text = (words: string) => ({ content: [{ type: "text", text: words }] });
      const lines = [
        { type: "user", message: { content: "go" } },
        { type: "assistant", message: { id: "1", ...text("the first words") } },
        { type: "assistant", message: { id: "2", ...text("all done") } },
        { type: "assistant", isSidechain: true, message: { id: "3", ...text("of a subagent") } },
        { type: "system" },
      ];
      writeFileSync(path, `${lines.map((one) => JSON.stringify(one)).join("\n")}\nhalf a li`);
      await hook("Stop", { transcript_path: path });
    });
    expect(await inbox()).toContain("all done");
    expect(await inbox()).not.toMatch(/first words|subagent/);
  });

  it("shows no words of an earlier turn", async () => {
    const { inbox } = await goIdle(async ({ cli, hook }) => {
      await hook("Stop", { last_assistant_message: "long ago" });
      const path = join(cli.root, "teams", "crew", "run", "ada", "last-words.json");
      writeFileSync(path, JSON.stringify({ turns: [{ at: Date.now() - 60_000, text: "long ago" }] }));
    });
    expect(await inbox()).not.toContain("long ago");
  });
});
