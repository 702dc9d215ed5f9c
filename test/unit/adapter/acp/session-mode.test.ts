import { agent, client } from "@agentclientprotocol/sdk";
import { expect, it, onTestFinished } from "vitest";
import { SessionMode } from "../../../../src/adapter/acp/session-mode.ts";
import { adapterSchema } from "../../../../src/adapter/adapter-schema.ts";
import type { PermissionMode } from "../../../../src/schema/permission-modes.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const MODES = { default: "ask", plan: "look" };
const ADAPTER = { ...adapterSchema.parse({ channel: "acp", command: "fake", modes: MODES }), id: "fake" };

interface Fake {
  readonly mode: SessionMode;
  /** The modes that the CLI was asked to set. */
  readonly asked: string[];
  readonly notes: string[];
  /** Changes the mode of the member. */
  setMode(mode: PermissionMode): void;
}

/** Opens a session of a CLI. @param opened the new session @param answer resolves when the CLI confirms a mode */
function sessionOf(opened: object, answer: Promise<void> = Promise.resolve(), changeMs?: number): Fake {
  const asked: string[] = [];
  const notes: string[] = [];
  let current: PermissionMode = "default";
  const cli = agent({ name: "fake" }).onRequest("session/set_mode", async ({ params }) => {
    asked.push(params.modeId);
    await answer;
    return {};
  });
  const connection = client({ name: "teams" }).connect(cli);
  onTestFinished(() => connection.close());
  const setup = { adapter: ADAPTER, mode: () => current };
  const session = { sessionId: "s", opened };
  const mode = new SessionMode(connection, setup, session, (text) => notes.push(text), changeMs);
  return {
    mode,
    asked,
    notes,
    setMode: (next) => {
      current = next;
    },
  };
}

/** No interrupt. */
const NEVER = new AbortController().signal;
const WITH_MODES = { modes: { currentModeId: "look", availableModes: [] } };

it("SessionMode › fails, and sets the mode again, when the CLI does not confirm it in time", async () => {
  const { mode, asked } = sessionOf(WITH_MODES, new Promise(() => undefined), 1);
  const late = "it did not confirm the mode ask within 0.001 s";
  await expect(mode.follow(NEVER)).rejects.toThrow(late);
  await eventually("the first change", () => asked.length === 1);
  await expect(mode.follow(NEVER)).rejects.toThrow(late);
  await eventually("the second change", () => asked.length === 2);
});

it("SessionMode › sets the mode again when the CLI reports another mode before it confirms this mode", async () => {
  let confirm: () => void = () => undefined;
  const answer = new Promise<void>((resolve) => {
    confirm = resolve;
  });
  const { mode, asked } = sessionOf(WITH_MODES, answer);
  const followed = mode.follow(NEVER);
  await eventually("the change", () => asked.length === 1);
  mode.readUpdate({ sessionUpdate: "current_mode_update", currentModeId: "look" });
  confirm();
  await followed;
  await mode.follow(NEVER);
  expect(asked).toEqual(["ask", "ask"]);
});

it("SessionMode › stops waiting when an interrupt comes before the answer, and sets the mode again", async () => {
  const { mode, asked } = sessionOf(WITH_MODES, new Promise(() => undefined));
  for (const count of [1, 2]) {
    const interrupt = new AbortController();
    const followed = mode.follow(interrupt.signal);
    await eventually(`change ${count}`, () => asked.length === count);
    interrupt.abort();
    await followed;
  }
});

it("SessionMode › notes once that a CLI has no modes when the mode of its member changes", async () => {
  const { mode, asked, notes, setMode } = sessionOf({});
  for (const next of ["default", "plan", "default"] as const) {
    setMode(next);
    await mode.follow(NEVER);
  }
  expect(notes).toEqual(["fake has no permission modes; its own settings decide what it asks for"]);
  expect(asked).toEqual([]);
});
