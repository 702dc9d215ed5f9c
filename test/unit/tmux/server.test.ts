import { expect, test } from "vitest";
import { tmuxCaller } from "../../../src/tmux/caller.ts";
import { tmuxServer } from "../../../src/tmux/server.ts";

test("tmuxCaller reads $TMUX and $TMUX_PANE, even if the socket's path contains commas", () => {
  expect(tmuxCaller({ TMUX: "/tmp/a,1,2/sock,12,3", TMUX_PANE: "%4" })).toEqual({
    socket: { path: "/tmp/a,1,2/sock" },
    serverPid: 12,
    session: "$3",
    pane: "%4",
  });
});

test.each([{}, { TMUX: "" }, { TMUX: "/tmp/sock" }, { TMUX_PANE: "%4" }])(
  "tmuxCaller: %j is outside tmux",
  (env) => {
    expect(tmuxCaller(env)).toBeUndefined();
  },
);

test.each([
  [undefined, 15_000],
  [400, 400],
])("tmuxServer › limits each call to 15 s, or to the given time: %s", async (timeoutMs, expected) => {
  const limits: unknown[] = [];
  const server = tmuxServer({
    socket: { name: "none" },
    env: {},
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    run: async (_program, _words, options) => {
      limits.push(options?.timeoutMs);
      return { code: 0, signal: undefined, stdout: "", stderr: "" };
    },
  });
  await server.call(["list-sessions"]);
  expect(limits).toEqual([expected]);
});
