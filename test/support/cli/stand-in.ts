import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import type { Env } from "../../../src/os/env.ts";
import { type Finished, teamsHere, teamsIn } from "../processes/built-program.ts";
import { eventually } from "../timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../tmux/private-tmux.ts";

export interface Approval {
  readonly id: string;
  readonly kind: string;
  readonly summary: string;
}

export interface StandInTeam {
  readonly place: PrivateTmux;
  readonly env: Env;
  readonly repo: string;
  /** Runs the built program. */
  teams(...words: readonly string[]): Promise<Finished>;
  /** Returns the team's open requests. */
  approvals(): Promise<readonly Approval[]>;
  /** Returns the lead's messages, as JSON. */
  inbox(): Promise<string>;
  /** The lines that the stand-in has logged. */
  log(): readonly Readonly<Record<string, unknown>>[];
  /** Waits for a logged line with these fields. */
  logged(fields: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Waits until a member has a state. For idle, also until it has read its messages: it is idle before the first one, too. */
  state(name: string, state: string): Promise<unknown>;
  /** Creates a file in the directory of the log, empty by default. */
  mark(name: string, text?: string): void;
  /** Removes such a file. */
  unmark(name: string): void;
}

/** Creates the program of a stand-in, and returns its adapter and the directory of its log. */
export function standIn(
  place: PrivateTmux,
  name: string,
  file: string,
  adapter: Omit<AdapterInput, "command">,
): AdapterInput & { readonly home: string } {
  const home = join(place.home, `stand-in-${name}`);
  mkdirSync(home, { recursive: true });
  const command = join(place.home, `${name}-cli`);
  // `--version` prints the file `version` next to its log.
  const version = `[ "$1" = --version ] && exec cat ${home}/version`;
  writeFileSync(command, `#!/bin/sh\n${version}\nexec ${process.execPath} ${file} "$@"\n`);
  if (adapter.channel === "inbox") {
    const claude = { name: "@anthropic-ai/claude-code", version: "2.1.200" };
    writeFileSync(join(place.home, "package.json"), JSON.stringify(claude));
  }
  chmodSync(command, 0o755);
  return {
    ...adapter,
    command,
    env: { STANDIN_HOME: home, CLAUDE_CONFIG_DIR: place.root, ...adapter.env },
    // A sandbox makes the login's paths available: its commands see another /tmp and /dev.
    login: { paths: [home, command, file], hint: "the login of the stand-in" },
    home,
  };
}

/** Creates a team whose settings have the adapter `fake`, a stand-in for a third-party CLI. */
export async function standInTeam(
  file: string,
  adapter: Omit<AdapterInput, "command">,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<StandInTeam> {
  const place = privateTmux();
  const repo = join(place.home, "repo");
  mkdirSync(repo, { recursive: true });
  const { home, ...fake } = standIn(place, "fake", file, adapter);
  const own = { ...settings, teams: { ...(settings.teams as object), adapters: { fake } } };
  writeFileSync(join(place.root, "settings.json"), JSON.stringify(own));
  const env = { ...place.env, TEAMS_TEAM: "crew" };
  const run = teamsIn(env, repo);
  const teams = (...words: readonly string[]): Promise<Finished> => run(words);
  const here = teamsHere(env, repo);
  expect((await here("create", "crew")).code).toBe(0);
  const log = (): Readonly<Record<string, unknown>>[] => {
    try {
      const lines = readFileSync(join(home, "log"), "utf8").trim().split("\n");
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    } catch {
      return [];
    }
  };
  return {
    place,
    env,
    repo,
    teams,
    approvals: async () => (await here("approvals", "--json")).json<{ approvals: Approval[] }>().approvals,
    inbox: async () => (await here("inbox", "team-lead", "--all", "--json")).out,
    log,
    logged: (fields) =>
      eventually(`the log with ${JSON.stringify(fields)}`, () =>
        log().some((line) =>
          Object.entries(fields).every(([key, value]) => JSON.stringify(line[key]) === JSON.stringify(value)),
        ),
      ),
    state: (name, state) =>
      eventually(`${name} is ${state}`, async () => {
        const { members } = (await teams("status", "--json")).json<{
          members: { name: string; state: string; unread: number }[];
        }>();
        const hasRead = (unread: number): boolean => state !== "idle" || unread === 0;
        return members.some((one) => one.name === name && one.state === state && hasRead(one.unread));
      }),
    mark: (name, text = "") => writeFileSync(join(home, name), text),
    unmark: (name) => rmSync(join(home, name)),
  };
}
