import { expect, test } from "vitest";
import { type BackendConditions, chooseBackend } from "../../../src/backend/choose-backend.ts";

const ASK: BackendConditions = {
  mode: "auto",
  insideTmux: true,
  tmuxFound: true,
  insideIterm2: false,
  it2Found: false,
  command: "run",
};
const BARE = { insideTmux: false, tmuxFound: false } as const;
const ITERM2 = { insideIterm2: true, it2Found: true } as const;

test.each<[Partial<BackendConditions>, string, RegExp]>([
  [{}, "tmux", /inside tmux/],
  [{ insideTmux: false }, "tmux", /detached tmux session/],
  [{ insideTmux: false, tmuxFound: false }, "in-process", /no tmux/],
  [{ insideTmux: false, tmuxFound: false, command: "single" }, "process", /no tmux/],
  [{ mode: "process" }, "process", /teammate mode/],
  [{ mode: "tmux", insideTmux: false }, "tmux", /teammate mode/],
  [{ mode: "in-process" }, "in-process", /teammate mode/],
  [{ ...ITERM2 }, "tmux", /inside tmux/],
  [{ ...ITERM2, insideTmux: false }, "tmux", /detached tmux session/],
  [{ ...ITERM2, ...BARE, command: "single" }, "process", /--teammate-mode iterm2/],
  [{ ...BARE, insideIterm2: true, command: "single" }, "process", /without panes$/],
  [{ ...ITERM2, mode: "iterm2" }, "iterm2", /teammate mode/],
])("chooseBackend: asked %j, chooses %s and says why", (question, backend, why) => {
  const choice = chooseBackend({ ...ASK, ...question });
  expect(choice.backend).toBe(backend);
  expect(choice.why).toMatch(why);
});

test.each<[Partial<BackendConditions>, string]>([
  [{ mode: "tmux", insideTmux: false, tmuxFound: false }, "TMUX_NOT_FOUND"],
  [{ mode: "in-process", command: "single" }, "INVALID_INPUT"],
  [{ mode: "iterm2", it2Found: true }, "INVALID_INPUT"],
  [{ mode: "iterm2", insideIterm2: true }, "CLI_NOT_FOUND"],
])("chooseBackend: asked %j, fails with %s", (question, code) => {
  expect(() => chooseBackend({ ...ASK, ...question })).toThrow(expect.objectContaining({ code }));
});
