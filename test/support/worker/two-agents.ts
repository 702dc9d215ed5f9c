import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { anthropicModel } from "../../../src/agent/model/anthropic.ts";
import { decideByLeadRules } from "../../../src/operations/approvals/decide-by-lead-rules.ts";
import type { OperationContext } from "../../../src/operations/context.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { type FakeMessagesApi, type FakeReply, startFakeMessagesApi } from "../model/fake-messages-api.ts";
import { testTeam } from "../team/test-team.ts";
import { eventually } from "../timing/eventually.ts";
import { contextOf, type RunningWorker, type WorkerInput } from "./start-worker.ts";
import { workerOfTest } from "./test-worker.ts";

export type ToolCall = readonly [name: string, input: object];

/** An agent whose model, on the fake Messages API, obeys the test. */
export interface ScriptedAgent {
  readonly running: RunningWorker;
  /** Lets the model make these calls in a separate turn, and waits until it has read their results. */
  does(...calls: readonly ToolCall[]): Promise<void>;
  /** Like `does`, without the wait. */
  begins(...calls: readonly ToolCall[]): Promise<void>;
  /** Lets the model answer matching messages with a call. */
  answers(pattern: RegExp, call: (match: RegExpExecArray) => ToolCall): void;
  /** The messages that the model has read, without tool results, as the server received them. */
  readonly read: readonly string[];
  /** The results of its tools, in order. */
  readonly results: readonly string[];
}

export interface TwoAgents {
  readonly ref: TeamRef;
  /** The context of the lead's side, for operations of a user or a command. */
  readonly ctx: OperationContext;
  readonly lead: ScriptedAgent;
  readonly dev: ScriptedAgent;
}

/** A lead and its teammate `dev` running in this process, and a member `ada` that does not run. */
export async function twoAgents(dev: WorkerInput = {}): Promise<TwoAgents> {
  const ref = await testTeam(["dev", "ada"]);
  const ctx = contextOf(ref);
  const rights = { mode: "default", rules: { allow: [], ask: [], deny: [] }, directories: [] } as const;
  return {
    ref,
    ctx,
    lead: await scriptedAgent(ref, {
      name: LEAD_NAME,
      role: "lead",
      // As in the lead's own process.
      wrap: (options) => ({
        ...options,
        handleCodeOnlyMessage: async ({ message, protocol }) => {
          if (protocol?.type === "permission_request" || protocol?.type === "sandbox_permission_request")
            await decideByLeadRules(ctx, message.from, protocol, rights);
        },
      }),
    }),
    dev: await scriptedAgent(ref, { color: "blue", ...dev, name: "dev" }),
  };
}

interface WireMessage {
  readonly role: string;
  readonly content: readonly { readonly type: string; readonly text?: string; readonly content?: unknown }[];
}

async function scriptedAgent(ref: TeamRef, input: WorkerInput): Promise<ScriptedAgent> {
  const orders: (readonly ToolCall[])[] = [];
  const reactions: { readonly pattern: RegExp; readonly call: (match: RegExpExecArray) => ToolCall }[] = [];
  const reply = (text: string): FakeReply => {
    const order = /order (\d+) of the test/.exec(text);
    if (order !== null) return uses(orders[Number(order[1])] ?? []);
    for (const { pattern, call } of reactions) {
      const match = pattern.exec(text);
      if (match !== null) return uses([call(match)]);
    }
    return { kind: "message", blocks: [{ type: "text", text: "seen" }] };
  };
  const api: FakeMessagesApi = await startFakeMessagesApi(({ body }) => {
    const newest = (body.messages as readonly WireMessage[]).at(-1);
    return reply(textsOf(newest === undefined ? [] : [newest]).join("\n"));
  });
  onTestFinished(() => api.close());
  const model = anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url });
  const running = await workerOfTest(ref, { ...input, model });
  const heard = (): readonly WireMessage[] => api.requests.at(-1)?.body.messages ?? [];
  const begins = async (...calls: readonly ToolCall[]): Promise<void> => {
    orders.push(calls);
    await running.worker.handleTypedLine(`order ${orders.length - 1} of the test`);
  };
  return {
    running,
    begins,
    async does(...calls) {
      const before = resultsOf(heard()).length;
      await begins(...calls);
      await eventually("the calls' results", () => resultsOf(heard()).length >= before + calls.length);
    },
    answers: (pattern, call) => void reactions.push({ pattern, call }),
    get read() {
      return textsOf(heard());
    },
    get results() {
      return resultsOf(heard());
    },
  };
}

function uses(calls: readonly ToolCall[]): FakeReply {
  const blocks = calls.map(([name, input], i) => ({ type: "tool_use" as const, id: `t${i}`, name, input }));
  return { kind: "message", blocks };
}

function textsOf(messages: readonly WireMessage[]): string[] {
  return messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => content.flatMap(({ type, text = "" }) => (type === "text" ? [text] : [])));
}

function resultsOf(messages: readonly WireMessage[]): string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_result" ? [JSON.stringify(block.content)] : [])),
  );
}

/** Reads the entries of an inbox file. */
export function entriesOf(ref: TeamRef, agent: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return JSON.parse(readFileSync(ref.paths.inbox(agent), "utf8"));
  } catch (error) {
    // The file is created with the first message.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
