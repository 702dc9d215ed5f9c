import { expect, test } from "vitest";
import { paneKeys } from "../../../../src/runtime/pane/pane-keys.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

test("paneKeys › a line of only e explains an open request, and is a message without a request", async () => {
  const seen: string[] = [];
  let isOpen = true;
  const parts = {
    view: {
      answers: (char: string) => (isOpen && char === "e" ? "perm-1" : undefined),
      explain: () => seen.push("explained"),
    },
    worker: { handleTypedLine: async (line: string) => void seen.push(line) },
  };
  const keys = paneKeys(parts as unknown as Parameters<typeof paneKeys>[0]);
  await keys.line(" e", 0);
  await keys.line("eh", 0);
  isOpen = false;
  await keys.line("e", 0);
  expect(seen).toEqual(["explained", "eh", "e"]);
});

test("paneKeys › a line waits for a mode change that was typed before it, and for no other command", async () => {
  const ref = await testTeam(["dev"]);
  const seen: string[] = [];
  const release: (() => void)[] = [];
  const runProgram = async ({ argv }: { argv: readonly string[] }): Promise<number> => {
    await new Promise<void>((resolve) => release.push(resolve));
    seen.push(argv[0] ?? "");
    return 0;
  };
  const call = { io: { env: {}, cwd: "/" }, runProgram };
  const nothing = (): undefined => undefined;
  const error = (text: string): void => void seen.push(text);
  const view = { answers: nothing, typed: nothing, answer: nothing, error };
  const worker = { handleTypedLine: async (line: string) => void seen.push(line) };
  const followMode = (): void => void seen.push("followed");
  const parts = { ref, name: "dev", mode: "default", width: () => 80, plain: true, view, worker, call };
  const keys = paneKeys({ ...parts, followMode } as unknown as Parameters<typeof paneKeys>[0]);
  const land = keys.line("/land", 0);
  await keys.line("one", 0);
  const later = [keys.line("/mode plan", 0), keys.line("two", 0)];
  await eventually("both running commands", () => release.length === 2);
  expect(seen).toEqual(["one"]);
  release[1]?.();
  await Promise.all(later);
  release[0]?.();
  await land;
  expect(seen).toEqual(["one", "mode", "followed", "two", "land"]);
});

test("paneKeys › Shift+Tab advances one mode for each press, and combines presses during a change", async () => {
  const ref = await testTeam(["dev"]);
  const set: string[] = [];
  const release: (() => void)[] = [];
  const runProgram = async ({ argv }: { argv: readonly string[] }): Promise<number> => {
    set.push(argv[2] ?? "");
    await new Promise<void>((resolve) => release.push(resolve));
    await updateTeam(ref, (config) => ({
      ...config,
      members: config.members.map((one) => (one.name === "dev" ? { ...one, mode: argv[2] ?? "" } : one)),
    }));
    return 0;
  };
  const io = { env: {}, cwd: "/" };
  const nothing = (): undefined => undefined;
  const view = { answer: nothing, leaveOut: nothing, error: (text: string) => set.push(text) };
  const parts = { ref, name: "dev", mode: "default", width: () => 80, plain: true };
  const keys = paneKeys({ ...parts, view, worker: {}, call: { io, runProgram } } as unknown as Parameters<
    typeof paneKeys
  >[0]);
  keys.shiftTab();
  await eventually("the first change", () => release.length === 1);
  keys.shiftTab();
  keys.shiftTab();
  release.shift()?.();
  // The second mode after acceptEdits: the two presses skip plan.
  await eventually("the second change", () => release.length === 1);
  release.shift()?.();
  expect(set).toEqual(["acceptEdits", "default"]);
});
