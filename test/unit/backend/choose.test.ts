import { expect, test } from "vitest";
import { type BackendQuestion, chooseBackend } from "../../../src/backend/choose.ts";

const ASK: BackendQuestion = { mode: "auto", insideTmux: true, tmuxFound: true, command: "run" };
const NOW = ["tmux", "process"] as const;

test.each<[Partial<BackendQuestion>, string, RegExp]>([
  [{}, "tmux", /inside tmux/],
  [{ insideTmux: false }, "tmux", /detached tmux session/],
  [{ insideTmux: false, tmuxFound: false }, "in-process", /no tmux/],
  [{ insideTmux: false, tmuxFound: false, available: NOW }, "process", /no tmux/],
  [{ insideTmux: false, tmuxFound: false, command: "single" }, "process", /no tmux/],
  [{ mode: "process" }, "process", /was given/],
  [{ mode: "tmux", insideTmux: false }, "tmux", /was given/],
  [{ mode: "in-process" }, "in-process", /was given/],
])("Asked %j it takes %s and says why", (question, backend, why) => {
  const choice = chooseBackend({ ...ASK, ...question });
  expect(choice.backend).toBe(backend);
  expect(choice.why).toMatch(why);
});

test.each<[Partial<BackendQuestion>, string]>([
  [{ mode: "tmux", insideTmux: false, tmuxFound: false }, "TMUX_NOT_FOUND"],
  [{ mode: "in-process", command: "single" }, "INVALID_INPUT"],
  [{ mode: "iterm2", available: NOW }, "INVALID_INPUT"],
])("Asked %j it refuses with %s", (question, code) => {
  expect(() => chooseBackend({ ...ASK, ...question })).toThrow(expect.objectContaining({ code }));
});
