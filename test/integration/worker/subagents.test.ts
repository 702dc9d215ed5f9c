import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { openTranscript } from "../../../src/agent/conversation/transcript.ts";
import { anthropicModel } from "../../../src/agent/model/anthropic.ts";
import { modelFacts } from "../../../src/agent/model/catalog.ts";
import { listApprovals } from "../../../src/operations/approvals/approvals.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { formatProtocol } from "../../../src/protocol/messages.ts";
import { teamEvent } from "../../../src/schema/event.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readJsonLines } from "../../../src/store/jsonl.ts";
import { unreadCount } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { agent } from "../../../src/team-tools/agent.ts";
import type { TeamToolContext } from "../../../src/team-tools/context.ts";
import { type FakeMessagesApi, startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import type { RunningWorker } from "../../support/worker/start-worker.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

let api: FakeMessagesApi | undefined;
afterEach(() => api?.close());

const send = (ref: TeamRef, text: string) => sendMessage(ref, { from: LEAD_NAME, to: "dev", text });
const isIdle = (ref: TeamRef) => () =>
  readStatus(ref, "dev")?.state === "idle" && unreadCount(ref, "dev") === 0;
const call = (input: object, as?: string) => ({
  name: "Agent",
  input: { description: "look", ...input },
  ...(as === undefined ? {} : { as }),
});
const bash = (command: string) => ({ name: "Bash", input: { command } });
const resultsOf = ({ messages }: RunningWorker): string[] =>
  messages.flatMap(({ content }) => content.flatMap((b) => (b.type === "tool_result" ? [b.content] : [])));

describe("subagent", () => {
  it("works in its own conversation and returns its last text as the result", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      turns: [
        { tools: [call({ prompt: "Count the files.", subagent_type: "Explore" }, "sub")] },
        { say: "{{sub.result}}!" },
      ],
      subagents: {
        Explore: [
          { say: "I look.", tools: [{ name: "Glob", input: { pattern: "**" } }] },
          { say: "None: {{input}}" },
        ],
      },
    });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    expect(resultsOf(dev)).toEqual(["None: Count the files."]);
    expect(dev.worker.lastText).toBe("None: Count the files.!");
    const data = dev.messages.flatMap(({ content }) =>
      content.flatMap((b) => (b.type === "tool_result" ? [b.data] : [])),
    )[0];
    expect(data).toMatchObject({ status: "completed", agent_type: "Explore", tool_calls: 1 });
    const { transcript_path: path } = data as { transcript_path: string };
    const own = openTranscript(path, { sessionId: "s" }).restored.messages;
    expect(own.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    // The pane does not show its text or calls; they appear only as activity of its agent.
    expect(dev.shown.join("\n")).not.toContain("tool Glob");
  });

  it("has events for its start and its end, with its id and type and its agent's session", async () => {
    const ref = await testTeam(["dev"]);
    await workerOfTest(ref, {
      turns: [
        { tools: [call({ prompt: "x", subagent_type: "Explore" }), call({ prompt: "y" })] },
        { say: "done" },
      ],
      subagents: {
        Explore: [{ say: "It is here." }],
        "general-purpose": [{ error: { status: 401, type: "authentication_error" } }],
      },
    });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    const parentSessionId = readStatus(ref, "dev")?.sessionId;
    const { lines } = readJsonLines(ref.paths.events, teamEvent);
    const own = lines.filter((event) => event.type === "agent" && event.agentId !== "dev@crew");
    const of = (type: string) => own.filter(({ agentType }) => agentType === type);
    for (const [type, how] of [
      ["Explore", "completed"],
      ["general-purpose", "failed"],
    ] as const) {
      const agentId = of(type)[0]?.agentId;
      expect(agentId).toMatch(/^[0-9a-f-]{36}$/);
      expect(of(type)).toMatchObject([
        {
          what: "created",
          source: "built-in",
          toolCount: type === "Explore" ? 4 : "all",
          hasCustomModel: false,
          hasCustomColor: false,
          hasMemory: false,
        },
        { what: "started", agentId, parentSessionId },
        { what: "ended", how, agentId, parentSessionId },
      ]);
    }
  });

  it("counts only the tools that its agent allows in its event", async () => {
    const ref = await testTeam(["dev"]);
    await workerOfTest(ref, {
      tools: ["Agent", "Bash", "Read"],
      turns: [
        { tools: [call({ prompt: "x" }), call({ prompt: "y", subagent_type: "Explore" })] },
        { say: "done" },
      ],
      subagents: { "general-purpose": [{ say: "Yes." }], Explore: [{ say: "Yes." }] },
    });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    const created = readJsonLines(ref.paths.events, teamEvent).lines.filter(
      (event) => event.type === "agent" && event.what === "created",
    );
    const counts = created.map(({ agentType, toolCount }) => [agentType, toolCount]).sort();
    expect(counts).toEqual([
      ["Explore", 1],
      ["general-purpose", 3],
    ]);
  });

  it("has no team tools and cannot start subagents; Task is an alias of the Agent tool", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      turns: [{ tools: [{ ...call({ prompt: "x" }), name: "Task" }] }, { say: "done" }],
      subagents: {
        "general-purpose": [
          { tools: [call({ prompt: "y" }), { name: "TaskList", input: {} }] },
          { say: "{{input}} tried" },
        ],
      },
    });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    expect(resultsOf(dev)).toEqual(["x tried"]);
    const { transcript_path: path } = (dev.messages.flatMap(({ content }) =>
      content.flatMap((b) => (b.type === "tool_result" ? [b.data] : [])),
    )[0] ?? {}) as { transcript_path: string };
    const said = readFileSync(path, "utf8");
    expect(said).toContain("There is no tool Agent here");
    expect(said).toContain("There is no tool TaskList here");
  });

  it("runs in parallel with others of the same message", async () => {
    const ref = await testTeam(["dev"]);
    const meet = (mine: string, other: string): string =>
      `touch ${mine}; until [ -e ${other} ]; do sleep 0.02; done`;
    const dev = await workerOfTest(ref, {
      turns: [
        {
          tools: [
            call({ prompt: "1", subagent_type: "engineer" }),
            call({ prompt: "2", subagent_type: "tester" }),
          ],
        },
        { say: "done" },
      ],
      // Each waits for the other; in sequence they would never end.
      subagents: {
        engineer: [{ tools: [bash(meet("a", "b"))] }, { say: "one" }],
        tester: [{ tools: [bash(meet("b", "a"))] }, { say: "two" }],
      },
    });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    expect(resultsOf(dev)).toEqual(["one", "two"]);
  });

  it("ends with its commands when the turn is interrupted", async () => {
    const ref = await testTeam(["dev"]);
    const turns = [{ tools: [call({ prompt: "x" })] }, { say: "again" }];
    const long = { tools: [bash("echo $$ > pid; sleep 600")] };
    const background = {
      tools: [{ name: "Bash", input: { command: "echo $$ > child; sleep 600", run_in_background: true } }],
    };
    const dev = await workerOfTest(ref, { turns, subagents: { "general-purpose": [background, long] } });
    await send(ref, "begin");
    const pid = (name: string): number =>
      existsSync(join(dev.cwd, name)) ? Number(readFileSync(join(dev.cwd, name), "utf8")) : 0;
    await eventually("both commands", () => pid("pid") > 0 && pid("child") > 0);
    expect(readStatus(ref, "dev")?.activity).toContain("look: Bash(echo $$ > pid");
    await send(ref, formatProtocol({ type: "interrupt_request", from: LEAD_NAME }, new Date(0)));
    await eventually("the idle state", isIdle(ref));
    expect([startTimeOf(pid("pid")), startTimeOf(pid("child"))]).toEqual([undefined, undefined]);
    await send(ref, "go on");
    await eventually("the next turn", () => dev.worker.lastText === "again");
  });

  it("runs in the background on request, and its end starts a turn", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      turns: [
        { tools: [call({ prompt: "x", run_in_background: true })] },
        { say: "going on" },
        { say: "it said so" },
      ],
      subagents: {
        "general-purpose": [{ tools: [bash("until [ -e go ]; do sleep 0.02; done")] }, { say: "Found it." }],
      },
    });
    await send(ref, "begin");
    await eventually("the first turn's end", () => dev.worker.lastText === "going on" && isIdle(ref)());
    writeFileSync(join(dev.cwd, "go"), "");
    await eventually("the second turn", () => dev.worker.lastText === "it said so" && isIdle(ref)());
    const [, file] = /<output_file>(.*)<\/output_file>/.exec(dev.inputs[1] ?? "") ?? [];
    expect(dev.inputs[1]).toContain("<summary>look: done</summary>");
    expect(readFileSync(file ?? "", "utf8")).toBe("Found it.\n");
  });

  it("cannot be given more permissions than its agent or options of a teammate", async () => {
    const ref = await testTeam(["dev"]);
    const calls = [
      call({ prompt: "x", mode: "bypassPermissions" }),
      call({ prompt: "x", allowedTools: ["Bash"] }),
      call({ prompt: "x", isolation: "worktree" }),
      call({ prompt: "x", mode: "delegate" }),
      call({ prompt: "x", subagent_type: "wizard" }),
      call({ prompt: "x", name: "ada" }),
      call({ prompt: "x", model: "scripted:/etc/passwd" }),
    ];
    const dev = await workerOfTest(ref, { mode: "default", turns: [{ tools: calls }, { say: "done" }] });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    const codes = resultsOf(dev).map((text) => (JSON.parse(text) as { code: string }).code);
    expect(codes).toEqual([
      "PERMISSION_DENIED",
      "PERMISSION_DENIED",
      "INVALID_INPUT",
      "INVALID_INPUT",
      "INVALID_TYPE",
      "NESTED_TEAM",
      "PERMISSION_DENIED",
    ]);
  });

  it("has no tools that its agent lacks, and types that need them are not offered", async () => {
    const ref = await testTeam(["dev"]);
    const write = { name: "Write", input: { file_path: "made", content: "x" } };
    const dev = await workerOfTest(ref, {
      agentType: "Explore",
      mode: "acceptEdits",
      turns: [{ tools: [call({ prompt: "x", subagent_type: "engineer" })] }, { say: "done" }],
      subagents: { engineer: [{ tools: [write, bash("touch made")] }, { say: "tried" }] },
    });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    expect(resultsOf(dev)).toEqual(["tried"]);
    expect(existsSync(join(dev.cwd, "made"))).toBe(false);
    const types = (within?: readonly string[]) =>
      agent({ role: "teammate", typeTools: within } as unknown as TeamToolContext).description.match(
        /^- [\w-]+/gm,
      );
    expect(types(["Read", "Glob", "Grep", "WebFetch"])).toEqual(["- Explore", "- Plan"]);
    expect(types()).toContain("- engineer");
  });

  it("loses a permission mode together with its agent", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      settings: { permissions: { allow: ["Bash"] } },
      turns: [{ tools: [call({ prompt: "x", mode: "acceptEdits" })] }, { say: "done" }],
      subagents: {
        "general-purpose": [
          { tools: [bash("touch begun; until [ -e go ]; do sleep 0.02; done")] },
          { tools: [{ name: "Write", input: { file_path: "made", content: "x" } }] },
          { say: "tried" },
        ],
      },
    });
    await send(ref, "begin");
    await eventually("its command", () => existsSync(join(dev.cwd, "begun")));
    dev.worker.planApproval.setMode("default");
    writeFileSync(join(dev.cwd, "go"), "");
    await eventually("the question", () => listApprovals(ref).length === 1);
    expect(existsSync(join(dev.cwd, "made"))).toBe(false);
  });

  it("cannot be started by a lead in delegate mode (S53)", async () => {
    const ref = await testTeam([]);
    const lead = await workerOfTest(ref, {
      name: LEAD_NAME,
      role: "lead",
      mode: "delegate",
      turns: [{ tools: [call({ prompt: "x" })] }, { say: "done" }],
      subagents: { "general-purpose": [{ say: "it worked" }] },
    });
    await lead.worker.handleTypedLine("begin");
    await eventually("the turn's end", () => lead.worker.lastText === "done");
    expect(JSON.parse(resultsOf(lead)[0] ?? "")).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("asks for permission in its agent's name", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      mode: "default",
      turns: [{ tools: [call({ prompt: "x" })] }, { say: "done" }],
      subagents: { "general-purpose": [{ tools: [bash("touch asked")] }, { say: "ok" }] },
    });
    await send(ref, "begin");
    await eventually("the question", () => dev.shown.some((line) => line.startsWith("permission ")));
    expect(existsSync(join(dev.cwd, "asked"))).toBe(false);
    await dev.worker.handleTypedLine("y");
    await eventually("the turn's end", isIdle(ref));
    expect(existsSync(join(dev.cwd, "asked"))).toBe(true);
  });

  it("reads the output of SubagentStart and continues if SubagentStop refuses its end (protocol.md section 7)", async () => {
    const ref = await testTeam(["dev"]);
    const hook = (command: string) => [{ matcher: "Explore", hooks: [{ type: "command", command }] }];
    const hooks = {
      SubagentStart: hook("cat > start.json; echo 'Mind the gap.'"),
      SubagentStop: hook("cat > stop.json; [ -e once ] || { touch once; echo 'Look again.' >&2; exit 2; }"),
    };
    const dev = await workerOfTest(ref, {
      settings: { hooks },
      turns: [
        { tools: [call({ prompt: "Count.", subagent_type: "Explore" }), call({ prompt: "Other." })] },
        { say: "done" },
      ],
      subagents: { Explore: [{ say: "{{input}}", repeat: true }], "general-purpose": [{ say: "{{input}}" }] },
    });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    expect(resultsOf(dev)).toEqual(["Look again.", "Other."]);
    const file = (name: string): Record<string, string> =>
      JSON.parse(readFileSync(join(dev.cwd, name), "utf8"));
    expect(file("start.json")).toMatchObject({ hook_event_name: "SubagentStart", agent_type: "Explore" });
    const { agent_transcript_path: path, agent_id: id } = file("stop.json");
    expect(id).toBe(file("start.json").agent_id);
    expect(readFileSync(path ?? "", "utf8")).toContain("Count.\\n\\nMind the gap.");
  });

  it("runs together with 15 others without listener warnings from Node", async () => {
    const warnings: string[] = [];
    const warned = (warning: Error): void => void warnings.push(String(warning.stack));
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    api = await startFakeMessagesApi(({ body }) => {
      const text = JSON.stringify(body.messages);
      const own = body.system[0].text.includes("# Whom you work for");
      if (text.includes("tool_result")) return { kind: "message", blocks: [{ type: "text", text: "done" }] };
      const blocks = Array.from({ length: own ? 2 : 16 }, (_, i) => ({
        type: "tool_use" as const,
        id: `t${i}`,
        name: own ? "Bash" : "Agent",
        input: own ? { command: `echo ${i}` } : { prompt: `p${i}` },
      }));
      return { kind: "message", blocks };
    });
    const ref = await testTeam(["dev"]);
    const model = anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url });
    const dev = await workerOfTest(ref, { model });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    expect(resultsOf(dev)).toEqual(Array(16).fill("done"));
    expect(warnings).toEqual([]);
  });

  it("adds its tokens and costs to its agent's (S36)", async () => {
    api = await startFakeMessagesApi(({ body }) => {
      const text = JSON.stringify(body.messages);
      const own = body.system[0].text.includes("# Whom you work for");
      const usage = { input_tokens: own ? 1_000 : 10, output_tokens: 1 };
      if (own || text.includes("tool_result"))
        return { kind: "message", blocks: [{ type: "text", text: own ? "result" : "done" }], usage };
      return {
        kind: "message",
        blocks: [{ type: "tool_use", id: "t1", name: "Agent", input: { prompt: "x" } }],
        usage,
      };
    });
    const ref = await testTeam(["dev"]);
    const facts = modelFacts("m", { m: { input: 1, output: 1 } });
    const dev = await workerOfTest(ref, {
      model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url, facts }),
    });
    await send(ref, "begin");
    await eventually("the turn's end", isIdle(ref));
    expect(resultsOf(dev)).toEqual(["result"]);
    expect(readStatus(ref, "dev")).toMatchObject({ tokens: { input: 1_020, output: 3 } });
    expect(readStatus(ref, "dev")?.costUsd).toBeCloseTo(1_023 / 1_000_000);
    expect(api.requests[1]?.body.tools.map(({ name }: { name: string }) => name)).not.toContain(
      "SendMessage",
    );
    expect(JSON.stringify(api.requests[1]?.body.messages)).not.toContain("begin");
  });

  it("keeps its costs counted after its agent's process ended and the status was lost", async () => {
    const ref = await testTeam(["dev"]);
    const spend = (input: number, more: object) => ({ ...more, usage: { input, output: 0 } });
    const playing = {
      turns: [spend(10, { tools: [call({ prompt: "x" })] }), spend(1, { say: "done" })],
      subagents: {
        "general-purpose": [
          spend(1_000, { tools: [bash("true")] }),
          spend(100, { tools: [bash("touch here; sleep 600")] }),
        ],
      },
    };
    const before = await workerOfTest(ref, playing);
    await send(ref, "begin");
    await eventually("the subagent's second call", () => existsSync(join(before.cwd, "here")));
    await before.stop();
    expect(readStatus(ref, "dev")?.tokens.input).toBe(1_110);
    rmSync(ref.paths.agent("dev").status);
    await workerOfTest(ref, playing);
    await eventually("the rest of the turn", isIdle(ref));
    expect(readStatus(ref, "dev")?.tokens.input).toBe(1_111);
  });

  it("ends between two of its calls when a shutdown is requested", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      turns: [{ tools: [call({ prompt: "x" })] }, { tools: [bash("touch own")] }],
      subagents: {
        "general-purpose": [
          { tools: [bash("touch begun; until [ -e go ]; do sleep 0.02; done"), bash("touch made")] },
          { tools: [bash("touch made")] },
        ],
      },
    });
    const made = (name: string): boolean => existsSync(join(dev.cwd, name));
    await send(ref, "begin");
    await eventually("its command", () => made("begun"));
    const request = { type: "shutdown_request" as const, requestId: "shutdown-1@dev", from: LEAD_NAME };
    await send(ref, formatProtocol(request, new Date(0)));
    await eventually("the request's arrival", () => dev.shown.includes(`queued ${LEAD_NAME}`));
    writeFileSync(join(dev.cwd, "go"), "");
    expect(await dev.ended).toBe("shutdown");
    expect([made("made"), made("own")]).toEqual([false, false]);
  });
});
