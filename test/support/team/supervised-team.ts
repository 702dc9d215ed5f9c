import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { inProcessBackend } from "../../../src/backend/in-process/in-process-backend.ts";
import type { OperationContext } from "../../../src/operations/context.ts";
import { createTeam } from "../../../src/operations/create-team.ts";
import { killAllTeammates } from "../../../src/operations/ending/kill.ts";
import type { SpawnInput } from "../../../src/operations/spawn/draft-member.ts";
import { type SpawnedTeammate, spawnTeammates } from "../../../src/operations/spawn/spawn.ts";
import { supervise } from "../../../src/operations/supervision/supervise.ts";
import { steadyNow, systemClock } from "../../../src/os/clock.ts";
import { openBackends } from "../../../src/runtime/backends.ts";
import { inProcessRunner } from "../../../src/runtime/teammate/run-in-process.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PermissionMode } from "../../../src/schema/permission-modes.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readPlace } from "../../../src/team/records/read-records.ts";
import { type TeamRef, teamsHome } from "../../../src/team/ref.ts";
import type { AnyCall } from "../../../src/terminal/call.ts";
import { eventually } from "../timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../tmux/private-tmux.ts";
import { contextOf } from "../worker/start-worker.ts";
import { isAtRest } from "./is-at-rest.ts";

/** The places where the teammates of a test run. */
export const PLACES = ["panes", "the lead's process"] as const;
export type PlaceKind = (typeof PLACES)[number];

/** A team led by this test, which supervises it as a lead's process does. */
export interface SupervisedTeam {
  readonly ref: TeamRef;
  readonly ctx: OperationContext;
  readonly t: PrivateTmux;
  spawn(...inputs: readonly (string | SpawnInput)[]): Promise<readonly SpawnedTeammate[]>;
  /** Sends a message from the lead. */
  send(to: string, text: string): Promise<void>;
  /** Types a line in a teammate's view, as a user does. */
  type(name: string, line: string): Promise<void>;
  /** Lists all messages of a member, oldest first. */
  inbox(name?: string): Promise<readonly string[]>;
  /** Waits until all these members are idle and have read their messages. */
  idle(...names: readonly string[]): Promise<void>;
}

export interface SupervisedOptions {
  readonly mode?: PermissionMode;
}

/** @param agents the playbook of the members */
export async function supervisedTeam(
  kind: PlaceKind,
  agents: Readonly<Record<string, readonly PlaybookTurn[]>>,
  { mode = "bypassPermissions" }: SupervisedOptions = {},
): Promise<SupervisedTeam> {
  const t = privateTmux();
  const { pane } = t.session();
  const playbook = join(t.home, "play.json");
  writeFileSync(playbook, JSON.stringify({ version: 1, agents }));
  const { ref } = await createTeam(teamsHome(t.env), systemClock, {
    name: "crew",
    cwd: t.home,
    model: `scripted:${playbook}`,
    mode,
  });
  const env = kind === "panes" ? t.inside(pane) : t.env;
  const at = contextOf(ref, LEAD_NAME, { env, cwd: t.home });
  const inside = inProcessBackend({
    runWorker: inProcessRunner(callOf(at.program), { width: () => 100, plain: true }),
  });
  const ctx: OperationContext = {
    ...at,
    backends: openBackends(env, { inProcess: inside }),
    ...(kind === "panes" ? { callerPane: pane } : {}),
  };
  const stop = new AbortController();
  const problems: string[] = [];
  const supervision = supervise(ctx, {
    signal: stop.signal,
    onEnd: () => undefined,
    onChange: () => inside.handleEndRequests(),
    onProblem: (text) => problems.push(text),
  });
  onTestFinished(async () => {
    await killAllTeammates(ctx, { force: true });
    stop.abort();
    await supervision;
    if (problems.length > 0) throw new Error(problems.join("\n"));
  });
  return {
    ref,
    ctx,
    t,
    async spawn(...inputs) {
      const pending: Promise<unknown>[] = [];
      const wanted = inputs.map((input) => (typeof input === "string" ? { name: input } : input));
      try {
        return await spawnTeammates(ctx, wanted, {
          mode: kind === "panes" ? "tmux" : "in-process",
          command: "run",
          background: (work) => pending.push(work),
        });
      } finally {
        await Promise.all(pending);
      }
    },
    async type(name, line) {
      if (kind === "panes") {
        const to = ["send-keys", "-t", readPlace(ref, name)?.paneId ?? ""];
        t.tmux(...to, "-l", line);
        t.tmux(...to, "Enter");
      } else
        await inside
          .agents()
          .find((agent) => agent.name === name)
          ?.input?.typed(line, steadyNow());
    },
    send: async (to, text) => void (await sendMessage(ref, { from: LEAD_NAME, to, text })),
    inbox: async (name = LEAD_NAME) => (await history(ref, name, { all: true })).map(({ text }) => text),
    idle: async (...names) => {
      await eventually(`${names.join(", ")} idle`, () => names.every((name) => isAtRest(ref, name)));
    },
  };
}

/** The part of the lead's call that its teammates need: how to start the program. */
function callOf(program: readonly string[]): AnyCall {
  return { io: { program } } as unknown as AnyCall;
}
