import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Agent, type AgentOptions, createAgent, type TurnInput } from "../../../../src/agent/agent.ts";
import { openTranscript } from "../../../../src/agent/conversation/transcript.ts";
import type { AgentEvent } from "../../../../src/agent/events.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { scriptedModel } from "../../../../src/agent/playbook/scripted-model.ts";
import { parsePlaybook } from "../../../../src/schema/playbook.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { type Disk, MAY_MOUNT, memoryDisk } from "../../../support/storm/disk.ts";
import { eventually } from "../../../support/timing/eventually.ts";

/** More than fits in a file's last page. */
const LONG = "x".repeat(5_000);
const PLAYBOOK = { version: 1, agents: { "*": [{ say: "One." }, { say: "Two." }, { say: "Three." }] } };

interface Setup {
  readonly disk: Disk;
  readonly ada: Agent;
  readonly path: string;
  readonly events: readonly AgentEvent[];
  /** The keys of the inputs that count as received. */
  readonly recorded: readonly string[];
  kinds(type: AgentEvent["type"]): readonly AgentEvent[];
}

/** An agent whose conversation is on a small disk. */
function agentOnSmallDisk(more: Partial<AgentOptions> = {}): Setup {
  const disk = memoryDisk("1m");
  const path = join(disk.path, "s1.jsonl");
  const cwd = temporaryDirectory();
  const events: AgentEvent[] = [];
  const recorded: string[] = [];
  const playbook = parsePlaybook(JSON.stringify(PLAYBOOK), "test");
  const ada = createAgent({
    model: scriptedModel({ playbook, agent: "ada", cwd, env: {}, speed: 1000 }),
    tools: [],
    system: "You are ada.",
    transcript: openTranscript(path, { sessionId: "s1" }),
    cwd,
    env: {},
    permissions: {
      mode: () => "default",
      rules: NO_RULES,
      workingDirs: [cwd],
      ask: async () => ({ allowed: false }),
    },
    onEvent: (event) => events.push(event),
    onInputRecorded: async (keys) => void recorded.push(...keys),
    ...more,
  });
  onTestFinished(() => ada.end());
  const kinds = (type: AgentEvent["type"]) => events.filter((event) => event.type === type);
  return { disk, ada, path, events, recorded, kinds };
}

const input = (text: string, key: string): TurnInput => ({
  text,
  origin: { text, from: "lead" },
  keys: [key],
});
const never = new AbortController().signal;

/** The texts of the conversation on the disk; each line parses. */
function textsIn(path: string): string[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n").slice(1);
  return lines.map((line) => JSON.parse(line).message.content[0].text);
}

test.skipIf(!MAY_MOUNT)(
  "a turn on a full disk › waits before it calls the model, reports that once, and continues",
  async () => {
    const { disk, ada, path, recorded, kinds } = agentOnSmallDisk();
    await ada.run(input("first", "k1"), never);
    disk.fill(0);
    const turn = ada.run(input(LONG, "k2"), never);
    await eventually("the report", () => kinds("unsaved").length > 0);
    // At least one more attempt, which fails silently.
    await eventually("a line that was cut off", () => !readFileSync(path, "utf8").endsWith("\n"));
    expect([recorded, kinds("model_called").length, kinds("unsaved")]).toEqual([
      ["k1"],
      1,
      [
        {
          type: "unsaved",
          failure: expect.stringContaining("ENOSPC"),
          hint: expect.stringContaining("Free some disk space"),
        },
      ],
    ]);
    disk.empty();
    expect(await turn).toMatchObject({ outcome: "completed", text: "Two." });
    expect([recorded, kinds("saved").length]).toEqual([["k1", "k2"], 1]);
    expect(textsIn(path)).toEqual(["first", "One.", LONG, "Two."]);
  },
);

test.skipIf(!MAY_MOUNT)(
  "an interrupt on a full disk › ends the turn at once, and its message counts as received once it is written",
  async () => {
    const { disk, ada, path, recorded, kinds } = agentOnSmallDisk();
    await ada.run(input("first", "k1"), never);
    disk.fill(0);
    const interrupt = new AbortController();
    const turn = ada.run(input(LONG, "k2"), interrupt.signal);
    await eventually("the report", () => kinds("unsaved").length > 0);
    interrupt.abort();
    expect(await turn).toMatchObject({ outcome: "interrupted" });
    expect([...ada.handledKeys, ...recorded]).toEqual(["k1", "k2", "k1"]);
    disk.empty();
    await eventually("the message", () => recorded.includes("k2"));
    expect(await ada.run(input("third", "k3"), never)).toMatchObject({ text: "Two." });
    expect(textsIn(path)).toEqual(["first", "One.", LONG, "third", "Two."]);
  },
);

test.skipIf(!MAY_MOUNT)("an agent that ends on a full disk › reports the lost input", async () => {
  const { disk, ada, path, kinds } = agentOnSmallDisk();
  await ada.run(input("first", "k1"), never);
  disk.fill(0);
  const interrupt = new AbortController();
  const turn = ada.run(input(LONG, "k2"), interrupt.signal);
  await eventually("the report", () => kinds("unsaved").length > 0);
  interrupt.abort();
  await turn;
  await ada.end();
  expect(kinds("unsaved").at(-1)).toMatchObject({ isLost: true, failure: expect.stringContaining("ENOSPC") });
  // The next process drops the line that was cut off.
  const again = openTranscript(path, { sessionId: "s1" });
  expect(again.restored.messages).toHaveLength(2);
  disk.empty();
  again.append({ type: "user", message: { role: "user", content: [{ type: "text", text: "again" }] } });
  expect(textsIn(path)).toEqual(["first", "One.", "again"]);
});
