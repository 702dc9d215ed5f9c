import { expect, test } from "vitest";
import { tmuxCaller } from "../../../src/tmux/caller.ts";

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
