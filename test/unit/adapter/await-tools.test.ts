import { describe, expect, it } from "vitest";
import { adapterSchema } from "../../../src/adapter/adapter-schema.ts";
import { awaitTools } from "../../../src/adapter/await-tools.ts";
import { eventually } from "../../support/timing/eventually.ts";

const TIMEOUTS = { ask: 20, giveUp: 20, report: 20 };
const NEVER = new Promise<void>(() => undefined);

function start(
  firstMessageAfter: "session" | "tools",
  toolsListed: Promise<void>,
  signal = new AbortController().signal,
) {
  const input = { channel: "acp", command: "fake", firstMessageAfter, withoutTools: "trust it" } as const;
  const seen: unknown[] = [];
  const events = {
    blocked: (dialog: unknown) => void seen.push(dialog),
    withoutTools: (remedy: string) => void seen.push(remedy),
  };
  const setup = { adapter: { ...adapterSchema.parse(input), id: "fake" }, toolsListed };
  return { seen, done: awaitTools(setup, events, { timeouts: TIMEOUTS, signal }) };
}

describe("the wait for the team's tools", () => {
  it("ends at once when they are listed", async () => {
    const { seen, done } = start("tools", Promise.resolve());
    await done;
    expect(seen).toEqual([]);
  });

  it("asks the person, and ends when they are listed late", async () => {
    let list: () => void = () => undefined;
    const { seen, done } = start("tools", new Promise((resolve) => (list = resolve)));
    await eventually("the question", () => seen.length === 1);
    list();
    await done;
    expect(seen).toEqual([
      { name: "it has not connected to the team's tools", remedy: "trust it", isStart: true },
      undefined,
    ]);
  });

  it("gives up after a while, and reports it", async () => {
    const { seen, done } = start("tools", NEVER);
    await done;
    expect(seen.slice(1)).toEqual([undefined, "trust it"]);
  });

  it("reports nothing when the CLI ends before the tools are listed", async () => {
    const { seen, done } = start("tools", NEVER, AbortSignal.abort());
    await done;
    expect(seen).toEqual([]);
  });

  it("does not delay a CLI whose first message needs only its session, but reports missing tools", async () => {
    const { seen, done } = start("session", NEVER);
    await done;
    expect(seen).toEqual([]);
    await eventually("the report", () => seen.length === 1);
    expect(seen).toEqual(["trust it"]);
  });
});
