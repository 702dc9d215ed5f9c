import { expect, test } from "vitest";
import { callersSocket } from "../../../../src/backend/tmux/server-for.ts";

test.each([
  [{ TMUX: "/tmp/a,b/sock,12,0", TEAMS_TMUX_SOCKET: "x" }, { path: "/tmp/a,b/sock" }],
  [{ TEAMS_TMUX_SOCKET: "x" }, { name: "x" }],
  [{ TMUX: "" }, undefined],
  [{}, undefined],
])("The server that a caller with %j means is %j", (env, socket) => {
  expect(callersSocket(env)).toEqual(socket);
});
