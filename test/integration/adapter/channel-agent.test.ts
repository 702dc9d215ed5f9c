import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChannelAgent } from "../../../src/adapter/channel-agent.ts";
import { inputMessage } from "../../../src/adapter/turns/missed-inputs.ts";
import type { TurnInput } from "../../../src/agent/agent.ts";
import { openTranscript } from "../../../src/agent/conversation/transcript.ts";
import { NO_RULES } from "../../../src/agent/permissions/rules.ts";
import type { TurnResult } from "../../../src/agent/turn/turn.ts";
import { NO_TOKENS } from "../../../src/schema/tokens.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { eventually } from "../../support/timing/eventually.ts";

const NEVER = new AbortController().signal;
const done = async (): Promise<void> => undefined;

function input(text: string): TurnInput {
  return { text, origin: { text, from: "team-lead" }, keys: [text] };
}

interface Fake {
  readonly agent: ChannelAgent;
  /** The texts that the CLI got. */
  readonly texts: readonly string[];
  /** The keys of the messages that count as read. */
  readonly recorded: readonly string[];
  /** The turns that a person began. */
  readonly ownTurns: readonly Promise<TurnResult>[];
  /** Returns how often the CLI was interrupted. */
  interrupts(): number;
}

interface Habits {
  /** Whether the CLI still has its conversation. */
  readonly continues?: boolean;
  /** Takes a text. */
  readonly deliver?: () => Promise<void>;
  /** Waits for the end of a limit. */
  readonly wait?: (signal: AbortSignal) => Promise<void>;
  /** Interrupts the turns that a person began. */
  readonly interruption?: AbortSignal;
}

/** Starts the agent of a CLI, which continues the conversation in a file. */
async function start(path: string, habits: Habits = {}): Promise<Fake> {
  const { continues = true, deliver = done, wait = done, interruption = NEVER } = habits;
  let interrupts = 0;
  const [texts, recorded, ownTurns]: [string[], string[], Promise<TurnResult>[]] = [[], [], []];
  const agent = new ChannelAgent({
    cli: "fake",
    transcript: openTranscript(path, { sessionId: "s" }),
    cwd: "/",
    env: {},
    sandbox: undefined,
    permissions: {
      mode: () => "default",
      rules: NO_RULES,
      workingDirs: [],
      ask: async () => ({ allowed: false }),
    },
    hooks: undefined,
    instructions: () => "You are ada.",
    onEvent: () => undefined,
    onInputRecorded: async (keys) => void recorded.push(...keys),
    onInputKept: () => undefined,
    beforeTurn: async () => "go",
    exceedsBudget: async () => false,
    limits: { wait, met: done, passed: done },
    onOwnTurn: (follow) => void ownTurns.push(follow(interruption)),
    askQuestion: async () => undefined,
    onDialog: () => undefined,
    onWithoutTools: () => undefined,
    onEnd: () => undefined,
    onAlert: () => undefined,
    hidesTurnEnds: false,
    note: () => undefined,
  });
  const channel = {
    start: async (conversation: string | undefined) => (continues ? conversation : "another"),
    async deliver(text: string) {
      texts.push(text);
      await deliver();
    },
    async interrupt() {
      interrupts += 1;
    },
    end: done,
  };
  await agent.start(() => channel, "one");
  return { agent, texts, recorded, ownTurns, interrupts: () => interrupts };
}

/** Returns the path of a conversation. @param isTaken whether the CLI has taken its one input; undefined without an input */
function conversation(isTaken?: boolean): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  if (isTaken === undefined) return path;
  const message = inputMessage(input("first"), isTaken);
  openTranscript(path, { sessionId: "s" }).append({ type: "user", message, keys: ["first"] });
  return path;
}

describe("ChannelAgent", () => {
  it("does not resume a turn whose text its CLI never got: the next turn begins with that text", async () => {
    const { agent, texts } = await start(conversation(false));
    expect(await agent.resumeTurn(NEVER)).toMatchObject({ outcome: "interrupted" });
    expect(texts).toEqual([]);
    const turn = agent.run(input("second"), NEVER);
    await eventually("the text", () => texts.length === 1);
    agent.turnEnded({ outcome: "completed" });
    await turn;
    expect(texts[0]).toMatch(/^You are ada\.\n\n\[[^\]]+\]\n\nfirst\n\nsecond$/);
  });

  it.each([
    {
      what: "without its text",
      when: "still has",
      continues: true,
      text: /^\[Your program had ended[^\]]+\]$/,
    },
    {
      what: "with its text",
      when: "has lost",
      continues: false,
      text: /^You are ada\.\n\n\[Your program had ended[^\]]+\]\n\nfirst$/,
    },
  ])("resumes a turn $what when its CLI $when its conversation", async ({ continues, text }) => {
    const { agent, texts } = await start(conversation(true), { continues });
    const turn = agent.resumeTurn(NEVER);
    await eventually("the text", () => texts.length === 1);
    agent.turnEnded({ outcome: "completed" });
    expect(await turn).toMatchObject({ outcome: "completed" });
    expect(texts[0]).toMatch(text);
  });

  it("begins the next turn with a text that its CLI did not take", async () => {
    let isBusy = true;
    const deliver = async (): Promise<void> => {
      if (isBusy) throw new Error("it is busy");
    };
    const { agent, texts, recorded } = await start(conversation(), { deliver });
    expect(await agent.run(input("first"), NEVER)).toMatchObject({
      outcome: "failed",
      failure: "fake did not take the message: it is busy",
    });
    expect(recorded).toEqual(["first"]);
    isBusy = false;
    const turn = agent.run(input("second"), NEVER);
    await eventually("the next text", () => texts.length === 2);
    agent.turnEnded({ outcome: "completed" });
    await turn;
    expect(texts[1]).toMatch(/\]\n\nfirst\n\nsecond$/);
  });

  it("leaves a message unread when its CLI ends before taking it", async () => {
    const deliver = (): Promise<void> => new Promise(() => undefined);
    const { agent, texts, recorded } = await start(conversation(), { deliver });
    const turn = agent.run(input("first"), NEVER);
    await eventually("the text", () => texts.length === 1);
    agent.ended("exit code 3");
    await expect(turn).rejects.toThrow("fake has ended: exit code 3");
    expect([agent.messages, recorded]).toEqual([[], []]);
  });

  it("begins the next turn with a message that its CLI had not taken when a person quit the CLI", async () => {
    const path = conversation();
    const deliver = (): Promise<void> => new Promise(() => undefined);
    const quit = await start(path, { deliver });
    const turn = quit.agent.run(input("first"), NEVER);
    await eventually("the text", () => quit.texts.length === 1);
    quit.agent.ended(undefined);
    expect(await turn).toMatchObject({ outcome: "interrupted" });
    const { agent, texts } = await start(path);
    const next = agent.run(input("second"), NEVER);
    await eventually("the next text", () => texts.length === 1);
    agent.turnEnded({ outcome: "completed" });
    await next;
    expect(texts[0]).toMatch(/\]\n\nfirst\n\nsecond$/);
  });

  it("stops waiting for the end of a limit when its CLI ends", async () => {
    let isWaiting = false;
    const wait = (signal: AbortSignal): Promise<void> => {
      isWaiting = true;
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    };
    const { agent, texts } = await start(conversation(), { wait });
    const turn = agent.run(input("first"), NEVER);
    await eventually("its wait", () => isWaiting);
    agent.ended("exit code 3");
    await expect(turn).rejects.toThrow("fake has ended: exit code 3");
    expect(texts).toEqual([]);
  });

  it("ends a turn of a person with the turn of a message that the CLI adds to it", async () => {
    const { agent, texts, ownTurns } = await start(conversation());
    agent.turnStarted();
    const turn = agent.run(input("first"), NEVER);
    await eventually("the text", () => texts.length === 1);
    agent.text("both are done");
    agent.turnEnded({ outcome: "completed" });
    const end = { outcome: "completed", text: "both are done" };
    expect(await Promise.all([turn, ...ownTurns])).toMatchObject([end, end]);
  });

  it("continues the turn of a person when the CLI refuses a message", async () => {
    const deliver = (): Promise<void> => Promise.reject(new Error("it is busy"));
    const { agent, ownTurns } = await start(conversation(), { deliver });
    agent.turnStarted();
    expect(await agent.run(input("first"), NEVER)).toMatchObject({ outcome: "failed" });
    agent.text("for the person");
    agent.turnEnded({ outcome: "completed" });
    expect(await ownTurns[0]).toMatchObject({ outcome: "completed", text: "for the person" });
  });

  it.each([
    { what: "does not interrupt an idle CLI", hasOwnTurn: false, interrupts: 0 },
    { what: "interrupts the turn of a person", hasOwnTurn: true, interrupts: 1 },
  ])("$what when a message waits for the end of a limit", async ({ hasOwnTurn, ...expected }) => {
    let isWaiting = false;
    const wait = (signal: AbortSignal): Promise<void> => {
      isWaiting = true;
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    };
    const { agent, texts, interrupts } = await start(conversation(), { wait });
    const interrupt = new AbortController();
    const turn = agent.run(input("first"), interrupt.signal);
    await eventually("its wait", () => isWaiting);
    if (hasOwnTurn) agent.turnStarted();
    interrupt.abort();
    expect(await turn).toMatchObject({ outcome: "interrupted" });
    expect([texts, interrupts()]).toEqual([[], expected.interrupts]);
  });

  it("interrupts the turn of a person", async () => {
    const interruption = new AbortController();
    const { agent, ownTurns, interrupts } = await start(conversation(), {
      interruption: interruption.signal,
    });
    agent.turnStarted();
    interruption.abort();
    expect(interrupts()).toBe(1);
    agent.turnEnded({ outcome: "interrupted" });
    expect(await ownTurns[0]).toMatchObject({ outcome: "interrupted" });
  });

  it("ends the turn of a person when it ends the CLI", async () => {
    const { agent, ownTurns } = await start(conversation());
    agent.turnStarted();
    await agent.end();
    expect(await ownTurns[0]).toMatchObject({ outcome: "interrupted" });
  });

  it("keeps a cost that comes without tokens", async () => {
    const path = conversation();
    const { agent } = await start(path);
    agent.spent({ usage: NO_TOKENS, costUsd: 0.5 });
    expect(openTranscript(path, { sessionId: "s" }).restored.costUsd).toBe(0.5);
  });

  it("keeps the turn of a person apart from a message that waits for the end of a limit", async () => {
    let endLimit: (() => void) | undefined;
    const wait = (): Promise<void> =>
      new Promise((resolve) => {
        endLimit = resolve;
      });
    const { agent, texts, ownTurns } = await start(conversation(), { wait });
    const turn = agent.run(input("first"), NEVER);
    await eventually("its wait", () => endLimit !== undefined);
    agent.turnStarted();
    agent.text("for the person");
    agent.turnEnded({ outcome: "completed" });
    expect(await ownTurns[0]).toMatchObject({ outcome: "completed", text: "for the person" });
    endLimit?.();
    await eventually("the text", () => texts.length === 1);
    agent.text("for the lead");
    agent.turnEnded({ outcome: "completed" });
    expect(await turn).toMatchObject({ outcome: "completed", text: "for the lead" });
  });
});
