import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Env } from "../../../src/os/env.ts";
import type { PrivateTmux } from "./private-tmux.ts";

/** The directory of the fake `it2`, for the PATH. */
const BIN = fileURLToPath(new URL("../../fixtures/iterm2", import.meta.url));

export interface Iterm2 {
  /** The environment of a shell in one of its sessions. */
  readonly env: Env;
  /** The id of that session. */
  readonly mine: string;
  /** The calls of it2, one line each. */
  calls(): string[];
  /** The sessions besides the caller's. */
  sessions(): string[];
  focus(): string;
  /** The sessions that it asked the user's consent to close. */
  asked(): string[];
  fail(fault: "api-off" | "other-program" | "hangs" | "strange" | "keeps-focus" | "keeps" | ""): void;
}

/** A private iTerm2, played by test/fixtures/iterm2/it2; its windows end with the test. */
export function iterm2(t: PrivateTmux): Iterm2 {
  const state = join(t.home, "iterm2");
  mkdirSync(state);
  const mine = "0EDDBF06-1D3C-4C4B-9B6A-3D5F2C7A9E10";
  const file = (name: string) => join(state, name);
  writeFileSync(file("mine"), mine);
  writeFileSync(file("focus"), mine);
  for (const log of ["calls", "asked"]) appendFileSync(file(log), "");
  const linesOf = (log: string) => readFileSync(file(log), "utf8").split("\n").slice(0, -1);
  const socket = file("socket");
  return {
    env: {
      ...t.env,
      PATH: `${BIN}${delimiter}${t.env.PATH}`,
      TERM_PROGRAM: "iTerm.app",
      ITERM_SESSION_ID: `w0t0p0:${mine}`,
      ITERM_PROFILE: "Mine",
      IT2_STATE: state,
      IT2_SOCKET: socket,
    },
    mine,
    calls: () => linesOf("calls"),
    asked: () => linesOf("asked"),
    sessions: () => sessionsOf(t, socket),
    focus: () => readFileSync(file("focus"), "utf8").trim(),
    fail: (fault) => writeFileSync(file("fault"), fault),
  };
}

function sessionsOf(t: PrivateTmux, socket: string): string[] {
  const args = ["-S", socket, "list-sessions", "-F", "#{session_name}"];
  const { stdout } = spawnSync("tmux", args, { env: t.env, encoding: "utf8", timeout: 180_000 });
  return stdout.split("\n").filter((line) => line !== "");
}
