import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createAgent } from "../../../src/agent/agent.ts";
import { openTranscript } from "../../../src/agent/conversation/transcript.ts";
import type { Model } from "../../../src/agent/model/model.ts";
import { NO_RULES } from "../../../src/agent/permissions/rules.ts";
import { NO_TOKENS } from "../../../src/schema/tokens.ts";
import { atMost, type Bench, type Figure, type Setup } from "../figure.ts";
import { sample } from "../support/samples.ts";
import { scratch } from "../support/scratch.ts";

const MEGABYTE = 1024 * 1024;
/** Characters of one tool result, as of a file or a command. */
const RESULT = 5_000;

/** Long conversations: the time to resume one, and the memory that a thousand turns need. */
export const conversations: Bench = {
  name: "conversations",
  title: "Conversations of an agent",
  short: false,
  async run(setup: Setup): Promise<readonly Figure[]> {
    const [place] = setup.places;
    if (place === undefined) return [];
    const directory = scratch(place);
    const whole = join(directory, "whole.jsonl");
    const compacted = join(directory, "compacted.jsonl");
    const text = conversation(50 * MEGABYTE);
    writeFileSync(whole, text);
    writeFileSync(compacted, `${text}${COMPACTION}${conversation(MEGABYTE)}`);
    const times = setup.amount(7, 3);
    const resume = (path: string) => sample(times, () => openTranscript(path, { sessionId: "s" }));
    const all = (await resume(whole)).median;
    const newest = (await resume(compacted)).median;
    const parse = (await sample(times, () => parseLines(whole))).median;
    const growth = await heapGrowth(join(directory, "turns.jsonl"));
    return [
      {
        what: "resume a conversation of 50 MB, p50",
        value: all,
        unit: "ms",
        references: [{ what: "only parsing its lines", value: parse }],
        goal: atMost(2_000, "ms", all),
      },
      {
        what: "resume one of 51 MB, compacted 1 MB before its end, p50",
        value: newest,
        unit: "ms",
        goal: atMost(2_000, "ms", newest),
      },
      {
        what: "heap growth from the 500th to the 1,000th turn",
        value: growth,
        unit: "MB",
        goal: atMost(1, "MB", growth),
      },
    ];
  },
};

/** Returns turns of one tool call each, as an agent records them. */
function conversation(bytes: number): string {
  const turns: string[] = [];
  for (let size = 0, i = 0; size < bytes; i += 1) {
    const lines = [
      {
        type: "user",
        message: {
          role: "user",
          content: [{ type: "text", text: `request ${i}` }],
          origin: { text: "", from: "lead" },
        },
        keys: [`k${i}`],
      },
      {
        type: "assistant",
        message: {
          role: "assistant",
          content: [{ type: "tool_use", id: `t${i}`, name: "Read", input: { file_path: "a.ts" } }],
        },
        usage: { ...NO_TOKENS, input: 10 },
      },
      {
        type: "user",
        message: {
          role: "user",
          content: [
            {
              type: "tool_result",
              toolUseId: `t${i}`,
              content: "const a = 1;\n".repeat(RESULT / 13),
              isError: false,
            },
          ],
        },
      },
      {
        type: "assistant",
        message: { role: "assistant", content: [{ type: "text", text: "Done." }] },
        usage: { ...NO_TOKENS, input: 10 },
      },
    ];
    const turn = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    turns.push(turn);
    size += turn.length;
  }
  return turns.join("");
}

const COMPACTION = `${JSON.stringify({
  type: "compacted",
  messages: [{ role: "user", content: [{ type: "text", text: "summary" }] }],
  keys: [],
  newestKeys: [],
  usage: NO_TOKENS,
  costUsd: 0,
})}\n`;

function parseLines(path: string): number {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as object).length;
}

/** Returns the growth of the heap in megabytes; each measurement follows a garbage collection. */
async function heapGrowth(path: string): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const agent = createAgent({
    model: talkative(20_000),
    tools: [],
    system: "You are an agent of a bench.",
    transcript: openTranscript(path, { sessionId: "s" }),
    cwd: "/",
    env: {},
    permissions: {
      mode: () => "default",
      rules: NO_RULES,
      workingDirs: ["/"],
      ask: async () => ({ allowed: false }),
    },
    onEvent: () => undefined,
  });
  const never = new AbortController().signal;
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed / MEGABYTE;
  };
  let half = 0;
  for (let i = 0; i < 1_000; i += 1) {
    if (i === 500) half = heap();
    await agent.run(
      { text: `${i} ${"y".repeat(3_000)}`, origin: { text: "", from: "lead" }, keys: [`k${i}`] },
      never,
    );
  }
  return heap() - half;
}

/** A model that answers at once, and counts four characters as a token. */
function talkative(window: number): Model {
  return {
    name: "bench",
    window,
    async *stream({ messages }) {
      const input = Math.ceil(JSON.stringify(messages).length / 4);
      yield {
        type: "message",
        message: { role: "assistant", content: [{ type: "text", text: "Done." }] },
        stopReason: "end_turn",
        usage: { ...NO_TOKENS, input },
      };
    },
  };
}
