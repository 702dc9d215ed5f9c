import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { socketArguments, type TmuxSocket } from "../../../src/tmux/server.ts";
import { socketPath } from "../../../src/tmux/socket-path.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const NAME = "teams-test-no-server";

it.each<[string, TmuxSocket, string | undefined]>([
  ["a name in $TMUX_TMPDIR", { name: NAME }, "sockets"],
  ["the default name in $TMUX_TMPDIR", undefined, "sockets"],
  ["a linked $TMUX_TMPDIR", { name: NAME }, "link"],
  ["a missing $TMUX_TMPDIR", { name: NAME }, "missing"],
  ["an empty $TMUX_TMPDIR", { name: NAME }, ""],
  ["no $TMUX_TMPDIR", { name: NAME }, undefined],
])("socketPath › is the path that tmux uses with %s", (_, socket, name) => {
  const home = temporaryDirectory();
  mkdirSync(join(home, "sockets"));
  symlinkSync("sockets", join(home, "link"));
  const { TMUX_TMPDIR: _theirs, TMUX: _server, ...own } = process.env;
  const env = name === undefined ? own : { ...own, TMUX_TMPDIR: name && join(home, name) };
  // list-sessions starts no server.
  const asked = spawnSync("tmux", [...socketArguments(socket), "list-sessions"], { env, encoding: "utf8" });
  expect(asked.stderr).toContain(` ${socketPath(socket, env)} (No such file or directory)`);
});
