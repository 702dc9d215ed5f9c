import { expect, test } from "vitest";
import { callersSocket } from "../../../../src/backend/tmux/server-for.ts";

test.each([
  [{ TMUX: "/tmp/a,b/sock,12,0", TEAMS_TMUX_SOCKET: "x" }, { path: "/tmp/a,b/sock" }],
  [{ TEAMS_TMUX_SOCKET: "x" }, { name: "x" }],
  [{ TMUX: "" }, undefined],
  [{}, undefined],
])("callersSocket: environment %j gives %j", (env, socket) => {
  expect(callersSocket(env)).toEqual(socket);
});
